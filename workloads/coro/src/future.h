/* Promise and future: a value that one thread sets, once, and a coroutine of either kind waits for. */
#pragma once

#include "job.h"
#include "result.h"

#include <atomic>
#include <future>
#include <memory>
#include <optional>

namespace coro {

/* Gate lets one continuation through when it is opened, whichever of the two comes first. */
class Gate {
  public:
    bool start(Continuation &continuation)
    {
        Continuation *nobody = nullptr;
        return state_.compare_exchange_strong(nobody, &continuation, std::memory_order_acq_rel);
    }

    void open()
    {
        Continuation *waiting = state_.exchange(opened(), std::memory_order_acq_rel);
        if (waiting != nullptr)
            waiting->wake();
    }

    bool isOpen() const { return state_.load(std::memory_order_acquire) == opened(); }

  private:
    /* A mark: the address of nothing that waits. */
    Continuation *opened() const { return reinterpret_cast<Continuation *>(const_cast<Gate *>(this)); }

    std::atomic<Continuation *> state_{nullptr};
};

template <class T> struct SharedResult {
    Gate gate;
    Result<T> result;
};

/* Future is an operation: co_await it in a Lazy, await() it in a Uthread; once. */
template <class T> class Future {
  public:
    explicit Future(std::shared_ptr<SharedResult<T>> shared) : shared_(std::move(shared)) {}

    bool isReady() const { return shared_->gate.isOpen(); }
    bool start(Continuation &continuation) { return shared_->gate.start(continuation); }
    T result() { return shared_->result.take(); }

  private:
    std::shared_ptr<SharedResult<T>> shared_;
};

/* Promise is the other end. One that goes without having set anything leaves std::future_error to the one who waits. */
template <class T> class Promise {
  public:
    Promise() : shared_(std::make_shared<SharedResult<T>>()) {}
    Promise(Promise &&) noexcept = default;
    Promise &operator=(Promise &&) = delete;
    ~Promise()
    {
        if (shared_)
            fail(std::make_exception_ptr(std::future_error(std::future_errc::broken_promise)));
    }

    Future<T> future() const { return Future<T>(shared_); }

    template <class... Args> void set(Args &&...args)
    {
        shared_->result.emplace(std::forward<Args>(args)...);
        std::exchange(shared_, nullptr)->gate.open();
    }

    /* settle sets what came of something else, a value or an exception. */
    void settle(Result<T> result)
    {
        shared_->result = std::move(result);
        std::exchange(shared_, nullptr)->gate.open();
    }

    void fail(std::exception_ptr error)
    {
        shared_->result.fail(std::move(error));
        std::exchange(shared_, nullptr)->gate.open();
    }

  private:
    std::shared_ptr<SharedResult<T>> shared_;
};

} // namespace coro
