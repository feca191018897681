#include "executor.h"

#include "ring.h"

#include <cerrno>
#include <cstdint>
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

void Mailbox::push(Job &job)
{
    Job *newest = newest_.load(std::memory_order_relaxed);
    do {
        job.next = newest == &asleep ? nullptr : newest;
    } while (!newest_.compare_exchange_weak(newest, &job, std::memory_order_release, std::memory_order_relaxed));
    if (newest == &asleep)
        wakeUp_.post();
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
    return newest_.compare_exchange_strong(empty, &asleep, std::memory_order_relaxed);
}

bool Mailbox::getUp()
{
    Job *mark = &asleep;
    return newest_.compare_exchange_strong(mark, nullptr, std::memory_order_relaxed);
}

thread_local constinit Worker *Worker::current_ = nullptr;

Worker::Worker() : thread_([this] { loop(); }) {}

Worker::~Worker()
{
    mailbox_.push(stopping_);
    thread_.join();
}

bool Worker::settle()
{
    mailbox_.push(settling_);
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

void Worker::loop()
{
    current_ = this;
    for (;;) {
        Job *own = std::exchange(own_, nullptr);
        ownEnd_ = &own_;
        runAll(own);
        Job *posted = mailbox_.take();
        runAll(posted);
        if (own_ != nullptr || posted != nullptr) {
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
    if (!mailbox_.fallAsleep())
        return;
    while (ring_ && !ring_->turn(1)) {
        if (mailbox_.getUp())
            return;
    }
    mailbox_.wakeUp().wait();
}

Ring *Worker::ring()
{
    if (!ring_ && ringError() == 0) {
        try {
            ring_ = std::make_unique<Ring>(mailbox_.wakeUp().file());
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

Executor::Executor(unsigned threads)
{
    if (threads == 0)
        throw std::invalid_argument("an executor needs a thread");
    for (unsigned i = 0; i < threads; i++)
        workers_.push_back(std::make_unique<Worker>());
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
