#include "executor.h"

#include "ring.h"

#include <cerrno>
#include <cstdint>
#include <pthread.h>
#include <sched.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace coro {

Semaphore::Semaphore()
{
    if (sem_init(&semaphore_, 0, 0) != 0)
        throw std::system_error(errno, std::generic_category(), "sem_init");
}

void Semaphore::wait()
{
    while (sem_wait(&semaphore_) != 0) {
        if (errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "sem_wait");
    }
}

WakeUp::WakeUp() : file_(eventfd(0, EFD_CLOEXEC))
{
    if (file_ < 0)
        throw std::system_error(errno, std::generic_category(), "eventfd");
}

WakeUp::~WakeUp()
{
    close(file_);
}

void WakeUp::post()
{
    constexpr std::uint64_t one = 1;
    while (write(file_, &one, sizeof one) < 0) {
        if (errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "posting a wake-up");
    }
}

void WakeUp::wait()
{
    std::uint64_t posts;
    while (read(file_, &posts, sizeof posts) < 0) {
        if (errno != EINTR)
            throw std::system_error(errno, std::generic_category(), "waiting for a wake-up");
    }
}

/* asleep is what a mailbox holds while its owner sleeps: whoever replaces it has to wake the owner. It is never run. */
static Job asleep([](Job &) {});

/* closed is what the mailbox of a worker holds that has gone. It is never run. */
static Job closed([](Job &) {});

void Mailbox::push(Job &job)
{
    Job *newest = newest_.load(std::memory_order_relaxed);
    do {
        if (newest == &closed)
            return;
        job.next = newest == &asleep ? nullptr : newest;
    } while (!newest_.compare_exchange_weak(newest, &job, std::memory_order_release, std::memory_order_relaxed));
    if (newest == &asleep)
        wakeUp_->post();
}

void Mailbox::close()
{
    newest_.store(&closed);
    wakeUp_.reset();
}

Job *Mailbox::takeAll()
{
    Job *newest = newest_.exchange(nullptr, std::memory_order_acquire), *oldest = nullptr;
    while (newest != nullptr) {
        Job *older = std::exchange(newest->next, oldest);
        oldest = std::exchange(newest, older);
    }
    return oldest;
}

bool Mailbox::fallAsleep()
{
    Job *empty = nullptr;
    return newest_.compare_exchange_strong(empty, &asleep); /* before it looks for offers: see Executor::begin */
}

bool Mailbox::rouse()
{
    Job *mark = &asleep;
    if (!newest_.compare_exchange_strong(mark, nullptr))
        return false;
    wakeUp_->post();
    return true;
}

bool Mailbox::getUp()
{
    Job *mark = &asleep;
    return newest_.compare_exchange_strong(mark, nullptr, std::memory_order_relaxed);
}

void Offers::push(Job &job)
{
    std::lock_guard lock(mutex_);
    job.next = nullptr;
    *end_ = &job;
    end_ = &job.next;
    count_.fetch_add(1);
}

Job *Offers::takeFirst()
{
    std::lock_guard lock(mutex_);
    Job *job = first_;
    if (job == nullptr)
        return nullptr;
    first_ = std::exchange(job->next, nullptr);
    if (first_ == nullptr)
        end_ = &first_;
    count_.fetch_sub(1);
    return job;
}

thread_local constinit Worker *Worker::current_ = nullptr;
thread_local constinit Home *Home::current_ = nullptr;

/* Homes are in a list, so that a search for leaks finds them. */
static std::atomic<Home *> newestHome{nullptr};

Home::Home() : older_(newestHome.load())
{
    while (!newestHome.compare_exchange_weak(older_, this))
        continue;
}

Worker::Worker(Offers &offers) : home_(*new Home), offers_(offers), thread_([this] { loop(); }) {}

Worker::~Worker()
{
    home_.push(stopping_);
    thread_.join();
    home_.mailbox_.close();
}

bool Worker::settle()
{
    home_.push(settling_);
    settled_.wait();
    return wasBusy_;
}

void Worker::runAll(Job *job)
{
    while (job != nullptr) {
        Job *next = job->next; /* the job may be gone when it has run */
        job->run(*job);
        job = next;
        ran_++;
    }
}

/* offered is a job for a worker that is idle; and now and then for one that is not, or what is offered might never begin. */
Job *Worker::offered(bool idle)
{
    constexpr unsigned turnsAnOffer = 64;
    return idle || ++turns_ % turnsAnOffer == 0 ? offers_.take() : nullptr;
}

void Worker::loop()
{
    current_ = this;
    Home::current_ = &home_;
    for (;;) {
        Job *own = std::exchange(home_.own_, nullptr);
        home_.ownEnd_ = &home_.own_;
        runAll(own);
        Job *posted = home_.mailbox_.take();
        runAll(posted);
        const bool idle = home_.own_ == nullptr && posted == nullptr;
        Job *offer = offered(idle);
        runAll(offer);
        if (!idle || offer != nullptr) {
            if (ring_)
                ring_->turn(0);
            continue;
        }
        if (!ring_ || ring_->isIdle()) {
            if (stopping_.open)
                return;
            if (settling_.open)
                answer();
        }
        rest();
    }
}

/*
 * rest sleeps until there is something to run. A worker with a ring may be woken by the end of a read. If somebody has then replaced the
 * mark in the mailbox, their post is waited for: they must not find the worker gone.
 */
void Worker::rest()
{
    if (!home_.mailbox_.fallAsleep() || (offers_.any() && home_.mailbox_.getUp()))
        return;
    while (ring_ && !ring_->turn(1)) {
        if (home_.mailbox_.getUp())
            return;
    }
    home_.mailbox_.wakeUp().wait();
}

Ring *Worker::ring()
{
    if (!ring_ && ringError() == 0) {
        try {
            ring_ = std::make_unique<Ring>(home_.mailbox_.wakeUp().file());
        } catch (const std::system_error &error) {
            ringError_.store(error.code().value(), std::memory_order_relaxed);
        }
    }
    return ring_.get();
}

/* answer lets settle() return. */
void Worker::answer()
{
    settling_.open = false;
    wasBusy_ = std::exchange(ran_, 0) > 1; /* the request is one */
    settled_.post();
}

void Worker::bindTo(unsigned processor)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(processor, &set);
    if (const int error = pthread_setaffinity_np(thread_.native_handle(), sizeof set, &set))
        throw std::system_error(error, std::generic_category(), "binding a thread to a processor");
}

/* processors are those that this thread may run on. */
static std::vector<unsigned> processors()
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        throw std::system_error(errno, std::generic_category(), "asking for the processors");
    std::vector<unsigned> all;
    for (unsigned i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set))
            all.push_back(i);
    }
    return all;
}

Executor::Executor(unsigned threads, Binding binding, Begin begin) : begin_(begin)
{
    if (threads == 0)
        throw std::invalid_argument("an executor needs a thread");
    const auto own = binding == Binding::None ? std::vector<unsigned>() : processors();
    if (binding == Binding::EachToOne && own.size() < threads)
        throw std::invalid_argument("an executor has more threads than it may have processors: each cannot have one of its own");
    for (unsigned i = 0; i < threads; i++) {
        workers_.push_back(std::make_unique<Worker>(offers_));
        if (binding == Binding::EachToOne)
            workers_.back()->bindTo(own[i]);
    }
}

/*
 * An offer is counted before anybody is looked for who sleeps; a worker falls asleep before it looks for offers. Both are sequentially
 * consistent: either this sees the worker asleep, or the worker sees the offer.
 */
void Executor::begin(Job &job)
{
    if (begin_ == Begin::InTurn) {
        next().push(job);
        return;
    }
    offers_.push(job);
    for (auto &worker : workers_) {
        if (worker->rouse())
            return;
    }
}

int Executor::ringError() const
{
    for (auto &worker : workers_) {
        if (const int error = worker->ringError())
            return error;
    }
    return 0;
}

/*
 * A worker may go only when no other can wake it any more. When all have settled twice without having run anything between, then all
 * were at rest at the same time, which was when the second round began; and who is at rest wakes nobody.
 */
Executor::~Executor()
{
    for (bool busy = true; busy;) {
        busy = false;
        for (auto &worker : workers_)
            busy |= worker->settle();
    }
}

} // namespace coro
