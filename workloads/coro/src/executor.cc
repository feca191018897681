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

Worker::Stop::Stop(Worker &w) : Job([](Job &job) { static_cast<Stop &>(job).worker.stopping_ = true; }), worker(w) {}

Worker::Worker() : stop_(*this), thread_([this] { loop(); }) {}

Worker::~Worker()
{
    mailbox_.push(stop_);
    thread_.join();
}

void Worker::runAll(Job *job)
{
    while (job != nullptr) {
        Job *next = job->next; /* the job may be gone when it has run */
        job->run(*job);
        job = next;
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
            if (stopping_)
                return;
            runAll(mailbox_.wait());
        }
    }
}

Executor::Executor(unsigned threads)
{
    if (threads == 0)
        throw std::invalid_argument("an executor needs a thread");
    for (unsigned i = 0; i < threads; i++)
        workers_.push_back(std::make_unique<Worker>());
}

} // namespace coro
