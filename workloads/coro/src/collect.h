/*
 * Many coroutines at once, on all threads of an executor, and the way in from a thread that is none of its own. Both kinds are
 * counted, kept and waited for in the same way.
 */
#pragma once

#include "executor.h"
#include "lazy.h"
#include "result.h"
#include "uthread.h"

#include <atomic>
#include <cstddef>
#include <deque>
#include <stdexcept>
#include <vector>

namespace coro {

/* Countdown is an operation that is over when countDown() has been called as often as was said. */
class Countdown {
  public:
    explicit Countdown(std::size_t count) : left_(count + 1) {} /* the one who waits counts, too */

    void countDown()
    {
        if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1)
            waiting_->wake();
    }

    bool start(Continuation &continuation)
    {
        waiting_ = &continuation;
        return left_.fetch_sub(1, std::memory_order_acq_rel) != 1;
    }
    void result() {}

  private:
    std::atomic<std::size_t> left_;
    Continuation *waiting_ = nullptr;
};

/* runLazy keeps what comes of a Lazy, and then tells: nothing of the caller's may be left after that. */
template <class T, class Policy, class Tell>
Detached<Policy> runLazy(Lazy<T, Policy> lazy, Result<T, Policy::errors> &result, Tell tell)
{
    result = co_await std::move(lazy).whole();
    tell();
}

/*
 * UthreadTask does the same with a function, in a Uthread that begins on whichever worker the task is pushed to. If there is no stack for
 * one, that is the result.
 */
template <class F, class Tell> struct UthreadTask : Job {
    UthreadTask(F f, Tell t) : Job(begin), function(std::move(f)), tell(t) {}

    static void begin(Job &job)
    {
        auto &task = static_cast<UthreadTask &>(job);
        if (Uthread *uthread = task.spawn())
            uthread->resume();
        else
            task.tell();
    }

    Uthread *spawn() noexcept
    {
        auto body = [this]() noexcept {
            result = resultOf(function);
            tell();
        };
        try {
            return &Uthread::spawn(Worker::current()->stacks(), body);
        } catch (...) {
            result.fail();
            return nullptr;
        }
    }

    F function;
    Tell tell;
    Result<std::invoke_result_t<F &>> result;
};

/* collectAll runs Lazies on all threads. The results are in the order of the Lazies, however those end. */
template <class T, class Policy>
Lazy<std::vector<Result<T, Policy::errors>>> collectAll(Executor &executor, std::vector<Lazy<T, Policy>> lazies)
{
    std::vector<Result<T, Policy::errors>> results(lazies.size());
    Countdown countdown(lazies.size());
    auto tell = [&countdown] { countdown.countDown(); };
    for (std::size_t i = 0; i < lazies.size(); i++)
        executor.begin(runLazy(std::move(lazies[i]), results[i], tell).job);
    co_await countdown;
    co_return results;
}

/* collectAll of functions calls each in a Uthread. It is itself to be called in one. */
template <class F> auto collectAll(Executor &executor, std::vector<F> functions)
{
    Countdown countdown(functions.size());
    auto tell = [&countdown] { countdown.countDown(); };
    std::deque<UthreadTask<F, decltype(tell)>> tasks;
    for (F &function : functions)
        tasks.emplace_back(std::move(function), tell);
    for (auto &task : tasks)
        executor.begin(task);
    await(countdown);
    std::vector<Result<std::invoke_result_t<F &>>> results;
    results.reserve(tasks.size());
    for (auto &task : tasks)
        results.push_back(std::move(task.result));
    return results;
}

/*
 * OnStack is a function as an operation: it is called in a Uthread of the same worker. So a Lazy has what calls deep done on a stack, and
 * needs frames only where it waits itself.
 */
template <class F> class OnStack {
  public:
    explicit OnStack(F function) : task_(std::move(function), Tell{this}) {}

    bool start(Continuation &continuation)
    {
        waiting_ = &continuation;
        continuation.home->push(task_);
        return true;
    }
    auto result() { return task_.result.take(); }

  private:
    struct Tell {
        OnStack *self;
        void operator()() const { self->waiting_->wake(); }
    };

    UthreadTask<F, Tell> task_;
    Continuation *waiting_ = nullptr;
};

/* await of a Lazy, in a Uthread, runs it on the same worker to its end. */
template <class T, class Policy> T await(Lazy<T, Policy> lazy)
{
    Result<T, Policy::errors> result;
    Countdown end(1);
    awaiting().home->push(runLazy(std::move(lazy), result, [&end] { end.countDown(); }).job);
    await(end);
    return result.take();
}

inline void refuseWorkers()
{
    if (Worker::current() != nullptr)
        throw std::logic_error("syncAwait: a worker that blocks may wait for itself");
}

/* syncAwait blocks the thread until a worker has run the Lazy to its end. */
template <class T, class Policy> T syncAwait(Executor &executor, Lazy<T, Policy> lazy)
{
    refuseWorkers();
    Result<T, Policy::errors> result;
    Semaphore done;
    executor.begin(runLazy(std::move(lazy), result, [&done] { done.post(); }).job);
    done.wait();
    return result.take();
}

/* syncAwait of a function calls it in a Uthread. */
template <class F>
    requires std::invocable<F &>
auto syncAwait(Executor &executor, F function)
{
    refuseWorkers();
    Semaphore done;
    auto tell = [&done] { done.post(); };
    UthreadTask<F, decltype(tell)> task(std::move(function), tell);
    executor.begin(task);
    done.wait();
    return task.result.take();
}

} // namespace coro
