/*
 * Executor: a fixed number of threads with a queue each. What comes from outside goes to the threads in turn; what a thread wakes
 * itself never leaves it.
 */
#pragma once

#include "job.h"
#include "stack.h"

#include <atomic>
#include <memory>
#include <semaphore.h>
#include <thread>
#include <vector>

namespace coro {

/* Semaphore is POSIX's: the one of libstdc++ 12 may sleep for ever. */
class Semaphore {
  public:
    Semaphore();
    ~Semaphore() { sem_destroy(&semaphore_); }
    Semaphore(const Semaphore &) = delete;
    Semaphore &operator=(const Semaphore &) = delete;
    void post() { sem_post(&semaphore_); }
    void wait();

  private:
    sem_t semaphore_;
};

/* Mailbox takes jobs from any thread and hands all of them to one, in the order of their arrival. */
class Mailbox {
  public:
    void push(Job &job);
    Job *take() { return newest_.load(std::memory_order_relaxed) == nullptr ? nullptr : takeAll(); } /* or nullptr */
    Job *wait();

  private:
    Job *takeAll();

    std::atomic<Job *> newest_{nullptr}; /* the asleep mark while the owner waits */
    Semaphore wakeUp_;
};

/* Worker is one thread of an executor. Coroutines stay on the worker they were begun on. */
class Worker {
  public:
    Worker();
    ~Worker(); /* runs what is queued, and what that queues */
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    static Worker *current() { return current_; } /* nullptr on other threads */

    void push(Job &job)
    {
        if (current_ == this)
            pushOwn(job);
        else
            mailbox_.push(job);
    }

    StackPool &stacks() { return stacks_; } /* for code that runs on this worker */

  private:
    struct Stop : Job {
        explicit Stop(Worker &worker);
        Worker &worker;
    };

    void pushOwn(Job &job)
    {
        job.next = nullptr;
        *ownEnd_ = &job;
        ownEnd_ = &job.next;
    }
    void loop();
    static void runAll(Job *job);

    static thread_local constinit Worker *current_;

    Job *own_ = nullptr; /* the first job that this thread pushed itself */
    Job **ownEnd_ = &own_;
    bool stopping_ = false;
    Stop stop_;
    StackPool stacks_;
    Mailbox mailbox_;
    std::thread thread_; /* last: it uses the others */
};

inline void Continuation::wake()
{
    home->push(*this);
}

class Executor {
  public:
    explicit Executor(unsigned threads);

    Worker &next() { return *workers_[turn_.fetch_add(1, std::memory_order_relaxed) % workers_.size()]; }
    std::size_t size() const { return workers_.size(); }

  private:
    std::vector<std::unique_ptr<Worker>> workers_;
    std::atomic<std::size_t> turn_{0};
};

/* Yield goes to the end of the own worker's queue. */
struct Yield {
    bool start(Continuation &continuation)
    {
        continuation.wake();
        return true;
    }
    void result() {}
};

} // namespace coro
