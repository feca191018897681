/*
 * Executor: a fixed number of threads with a queue each. What comes from outside goes to the threads in turn, or to one
 * that is idle; what a thread wakes itself never leaves it.
 */
#pragma once

#include "job.h"
#include "stack.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore.h>
#include <thread>
#include <vector>

namespace coro {

class Ring;

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

/* WakeUp is what one thread sleeps at until another posts. It is a descriptor, which can be waited for beside others. */
class WakeUp {
  public:
    WakeUp();
    ~WakeUp();
    WakeUp(const WakeUp &) = delete;
    WakeUp &operator=(const WakeUp &) = delete;
    void post();
    void wait();
    int file() const { return file_; }

  private:
    int file_;
};

/* Mailbox takes jobs from any thread and hands all of them to one, in the order of their arrival. */
class Mailbox {
  public:
    void push(Job &job); /* of a mailbox that is closed: nothing */
    Job *take() { return newest_.load(std::memory_order_relaxed) == nullptr ? nullptr : takeAll(); } /* or nullptr */

    /* fallAsleep returns false if there is a job. Else the next push() posts the wake-up, once, and the owner waits for that. */
    bool fallAsleep();

    /* rouse wakes an owner that sleeps, though there is no job. It returns whether it did. */
    bool rouse();

    /* getUp is for an owner that has not waited. It returns false if it is too late for that: somebody posts. */
    bool getUp();

    WakeUp &wakeUp() { return *wakeUp_; }

    /* close is for an owner that goes, and does not sleep. */
    void close();

  private:
    Job *takeAll();

    std::atomic<Job *> newest_{nullptr}; /* the asleep mark while the owner sleeps, and another when it has gone */
    std::optional<WakeUp> wakeUp_{std::in_place};
};

/*
 * Home is where jobs for a worker are left. A coroutine may be woken when its executor has gone, by whoever has what it waited for: so a
 * home is never freed, and what is left at that of a worker that has gone is not run.
 */
class Home {
  public:
    Home();
    Home(const Home &) = delete;
    Home &operator=(const Home &) = delete;

    static Home *current() { return current_; } /* nullptr on threads that are no worker's */

    void push(Job &job)
    {
        if (current_ == this)
            pushOwn(job);
        else
            mailbox_.push(job);
    }

  private:
    friend class Worker;

    void pushOwn(Job &job)
    {
        job.next = nullptr;
        *ownEnd_ = &job;
        ownEnd_ = &job.next;
    }

    static thread_local constinit Home *current_;

    Job *own_ = nullptr; /* the first job that this thread pushed itself */
    Job **ownEnd_ = &own_;
    Mailbox mailbox_;
    Home *older_; /* of all homes */
};

/* Offers are jobs that any worker may begin. What they begin then stays on that one. */
class Offers {
  public:
    void push(Job &job);
    Job *take() { return count_.load(std::memory_order_relaxed) == 0 ? nullptr : takeFirst(); } /* or nullptr */
    bool any() const { return count_.load() != 0; }

  private:
    Job *takeFirst();

    std::mutex mutex_;
    std::atomic<std::size_t> count_{0};
    Job *first_ = nullptr;
    Job **end_ = &first_;
};

/* Worker is one thread of an executor. Coroutines stay on the worker they were begun on. */
class Worker {
  public:
    explicit Worker(Offers &offers);
    ~Worker(); /* runs what is queued, and what that queues on this worker */
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;

    static Worker *current() { return current_; } /* nullptr on other threads */

    void bindTo(unsigned processor); /* throws std::system_error */

    Home &home() { return home_; }
    void push(Job &job) { home_.push(job); }
    bool rouse() { return home_.mailbox_.rouse(); }

    StackPool &stacks() { return stacks_; } /* for code that runs on this worker */
    Ring *ring();                           /* the same; nullptr where the kernel makes none */

    /* ringError is why the kernel made no ring, an errno, or 0 as long as it has refused none. Any thread may ask. */
    int ringError() const { return ringError_.load(std::memory_order_relaxed); }

    /*
     * settle waits on another thread until nothing is queued here and no read is in flight. It returns whether anything was run since it
     * was called last.
     */
    bool settle();

  private:
    /* Request is a job for the worker itself, which it sees to when nothing else is queued. */
    struct Request : Job {
        Request() : Job([](Job &job) { static_cast<Request &>(job).open = true; }) {}
        bool open = false;
    };

    void loop();
    void runAll(Job *job);
    Job *offered(bool idle);
    void rest();
    void answer();

    static thread_local constinit Worker *current_;

    Home &home_;
    Offers &offers_;
    unsigned turns_ = 0;
    std::size_t ran_ = 0; /* jobs, requests among them, since it last settled */
    bool wasBusy_ = false; /* what settle() returns */
    Request settling_;
    Request stopping_;
    Semaphore settled_;
    StackPool stacks_;
    std::unique_ptr<Ring> ring_; /* made for the first read that asks for it */
    std::atomic<int> ringError_{0};
    std::thread thread_; /* last: it uses the others */
};

inline void Continuation::wake()
{
    home->push(*this);
}

/* Binding says where the threads of an executor run: wherever their maker may, or each on a processor of its own, of those. */
enum class Binding { None, EachToOne };

/*
 * Begin says where tasks begin: on the workers in turn, which needs no lock; or where a worker has nothing else to do, so that none waits
 * behind a long one while another worker is idle.
 */
enum class Begin { InTurn, WhereIdle };

/*
 * An executor that goes runs what is queued, and what that queues on whichever worker, and waits for the reads that are in flight. A
 * coroutine that still waits then, for what nobody will tell it, is not run again, and what it has stays: whoever begins one without
 * waiting for it sees to its end.
 */
class Executor {
  public:
    explicit Executor(unsigned threads, Binding binding = Binding::None, Begin begin = Begin::InTurn);
    ~Executor();
    Executor(const Executor &) = delete;
    Executor &operator=(const Executor &) = delete;

    /* begin runs a job on a worker that it chooses. */
    void begin(Job &job);

    Worker &next() { return *workers_[turn_.fetch_add(1, std::memory_order_relaxed) % workers_.size()]; }
    std::size_t size() const { return workers_.size(); }
    int ringError() const; /* that of a worker that has one, or 0 */

  private:
    Begin begin_;
    Offers offers_;
    std::vector<std::unique_ptr<Worker>> workers_; /* behind what they use */
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
