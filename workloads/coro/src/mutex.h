/*
 * Mutex: at most one coroutine, of either kind and on whichever worker, is between lock() and the end of what that returned. Who has to
 * wait is suspended, its worker runs others meanwhile, and they get it in the order in which they asked.
 */
#pragma once

#include "executor.h"

#include <atomic>
#include <utility>

namespace coro {

class Mutex {
  public:
    /* Held is the mutex as long as it lives. */
    class [[nodiscard]] Held {
      public:
        explicit Held(Mutex &mutex) : mutex_(&mutex) {}
        Held(Held &&other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
        Held &operator=(Held &&) = delete;
        ~Held()
        {
            if (mutex_ != nullptr)
                mutex_->unlock();
        }

      private:
        Mutex *mutex_;
    };

    /* Lock is an operation: co_await it in a Lazy, await() it in a Uthread. */
    class Lock {
      public:
        explicit Lock(Mutex &mutex) : mutex_(mutex) {}
        bool start(Continuation &continuation) { return mutex_.waitOrTake(continuation); }
        Held result() { return Held(mutex_); }

      private:
        Mutex &mutex_;
    };

    Mutex() = default;
    Mutex(const Mutex &) = delete;
    Mutex &operator=(const Mutex &) = delete;

    Lock lock() { return Lock(*this); }

  private:
    /* waitOrTake returns false if nobody has the mutex: then the caller has it. */
    bool waitOrTake(Continuation &continuation)
    {
        Job *newest = newest_.load(std::memory_order_relaxed);
        for (;;) {
            const bool isFree = newest == free();
            continuation.next = newest;
            Job *now = isFree ? nullptr : &continuation;
            if (newest_.compare_exchange_weak(newest, now, std::memory_order_acq_rel, std::memory_order_relaxed))
                return !isFree;
        }
    }

    /* unlock hands the mutex over to who has waited longest, or to nobody. */
    void unlock()
    {
        if (oldest_ == nullptr) {
            Job *nobody = nullptr;
            if (newest_.compare_exchange_strong(nobody, free(), std::memory_order_release, std::memory_order_relaxed))
                return;
            Job *newest = newest_.exchange(nullptr, std::memory_order_acquire);
            while (newest != nullptr) {
                Job *older = std::exchange(newest->next, oldest_);
                oldest_ = std::exchange(newest, older);
            }
        }
        auto &first = static_cast<Continuation &>(*oldest_);
        oldest_ = first.next;
        first.wake(); /* from here on the mutex is its */
    }

    /* A mark: the address of nothing that waits. */
    Job *free() const { return reinterpret_cast<Job *>(const_cast<Mutex *>(this)); }

    std::atomic<Job *> newest_{free()}; /* who began to wait since the holder looked last; nullptr: nobody */
    Job *oldest_ = nullptr;             /* the holder's: who waits, in order */
};

} // namespace coro
