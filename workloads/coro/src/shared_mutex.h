/*
 * SharedMutex: many coroutines, of either kind and on whichever workers, share it, or one has it alone. Who has to wait is suspended. All get it
 * in the order in which they asked, those who asked to share it one after the other together: so nobody waits for ever.
 */
#pragma once

#include "executor.h"

#include <mutex>
#include <utility>

namespace coro {

class SharedMutex {
  public:
    /* Held is the mutex, shared or alone, as long as it lives. */
    class [[nodiscard]] Held {
      public:
        explicit Held(SharedMutex &mutex) : mutex_(&mutex) {}
        Held(Held &&other) noexcept : mutex_(std::exchange(other.mutex_, nullptr)) {}
        Held &operator=(Held &&) = delete;
        ~Held()
        {
            if (mutex_ != nullptr)
                mutex_->unlock();
        }

      private:
        SharedMutex *mutex_;
    };

    /* Lock is an operation: co_await it in a Lazy, await() it in a Uthread. */
    class Lock {
      public:
        Lock(SharedMutex &mutex, bool alone) : mutex_(mutex), alone_(alone) {}
        bool start(Continuation &continuation) { return mutex_.waitOrTake(*this, continuation); }
        Held result() { return Held(mutex_); }

      private:
        friend class SharedMutex;
        SharedMutex &mutex_;
        const bool alone_;
        Continuation *waiting_ = nullptr;
        Lock *next_ = nullptr;
    };

    SharedMutex() = default;
    SharedMutex(const SharedMutex &) = delete;
    SharedMutex &operator=(const SharedMutex &) = delete;

    Lock lock() { return Lock(*this, true); }
    Lock lockShared() { return Lock(*this, false); }

  private:
    bool mayTake(const Lock &lock) const { return holders_ == 0 || (!alone_ && !lock.alone_); }

    void take(const Lock &lock)
    {
        holders_++;
        alone_ = lock.alone_;
    }

    /* waitOrTake returns false if the caller has the mutex. */
    bool waitOrTake(Lock &lock, Continuation &continuation)
    {
        std::lock_guard guard(guard_);
        if (first_ == nullptr && mayTake(lock)) {
            take(lock);
            return false;
        }
        lock.waiting_ = &continuation;
        *end_ = &lock;
        end_ = &lock.next_;
        return true;
    }

    /* unlock hands the mutex to who has waited longest, and, if that one shares it, to those who asked for the same after it. */
    void unlock()
    {
        std::lock_guard guard(guard_);
        holders_--;
        while (first_ != nullptr && mayTake(*first_)) {
            Lock &lock = *first_;
            take(lock);
            first_ = lock.next_;
            if (first_ == nullptr)
                end_ = &first_;
            lock.waiting_->wake(); /* from here on the lock may be gone */
        }
    }

    std::mutex guard_; /* of what follows: held for some instructions, and by nobody who waits */
    unsigned holders_ = 0;
    bool alone_ = false; /* the one holder does not share it */
    Lock *first_ = nullptr;
    Lock **end_ = &first_;
};

} // namespace coro
