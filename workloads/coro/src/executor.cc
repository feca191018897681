#include "executor.h"

#include <cerrno>
#include <stdexcept>
#include <system_error>
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

/* asleep is what a mailbox holds while its owner waits: whoever replaces it has to wake the owner. It is never run. */
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

Job *Mailbox::wait()
{
    Job *empty = nullptr;
    if (newest_.compare_exchange_strong(empty, &asleep, std::memory_order_relaxed))
        wakeUp_.wait();
    return takeAll();
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
        if (own_ == nullptr && posted == nullptr) {
            if (stopping_.open)
                return;
            if (settling_.open)
                answer();
            runAll(mailbox_.wait());
        }
    }
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
