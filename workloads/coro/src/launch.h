/* Ways to begin a coroutine of either kind without waiting for it on the spot. */
#pragma once

#include "collect.h"
#include "future.h"

#include <concepts>
#include <memory>
#include <type_traits>
#include <utility>

namespace coro {

template <class T, class Policy, class F> Detached<Policy> runAndTell(Lazy<T, Policy> lazy, F tell)
{
    tell(co_await std::move(lazy).whole());
}

/* start begins a Lazy on a worker. A function, which must not throw, gets its Result there when it ends; nobody waits for it. */
template <class T, class Policy, class F>
    requires std::invocable<F &, Result<T, Policy::errors>>
void start(Executor &executor, Lazy<T, Policy> lazy, F tell)
{
    executor.begin(runAndTell(std::move(lazy), std::move(tell)).job);
}

/*
 * Via is a Lazy as an operation: it runs on a worker that an executor chooses, its own or another one. Who waits for it goes on where it was.
 */
template <class T, class Policy> class Via {
  public:
    Via(Executor &executor, Lazy<T, Policy> lazy) : executor_(executor), lazy_(std::move(lazy)) {}

    bool start(Continuation &continuation)
    {
        executor_.begin(runLazy(std::move(lazy_), result_, [&continuation] { continuation.wake(); }).job);
        return true;
    }
    T result() { return result_.take(); }

  private:
    Executor &executor_;
    Lazy<T, Policy> lazy_;
    Result<T, Policy::errors> result_;
};

/* Launched is a function that is called in a Uthread of its own, which nobody waits for. */
template <class F> struct Launched : Job {
    explicit Launched(F f) : Job(begin), function(std::move(f)) {}

    static void begin(Job &job)
    {
        std::unique_ptr<Launched> self(&static_cast<Launched &>(job));
        auto body = [self = std::move(self)]() noexcept { self->function(); };
        Uthread::spawn(Worker::current()->stacks(), std::move(body)).resume();
    }

    F function;
};

/* launch calls a function, which must not throw, in a Uthread of a worker that an executor chooses. Without a stack for it the program ends. */
template <class F> void launch(Executor &executor, F function)
{
    executor.begin(*std::make_unique<Launched<F>>(std::move(function)).release());
}

/*
 * launchHere begins at once, in a Uthread of the own worker, and returns when that waits for the first time, or ends. Without a stack for it, it
 * throws what took the memory.
 */
template <class F> void launchHere(F function)
{
    if (Worker::current() == nullptr)
        throw std::logic_error("launchHere: not on a worker");
    Launched<F>::begin(*std::make_unique<Launched<F>>(std::move(function)).release());
}

template <class T, class F> Lazy<std::invoke_result_t<F &, T>> callWith(Future<T> future, F function)
{
    co_return function(co_await future);
}

/* then has a function called, on a worker, with what a future gets. It is the future of what that returns; exceptions pass it by. */
template <class T, class F> Future<std::invoke_result_t<F &, T>> then(Executor &executor, Future<T> future, F function)
{
    using U = std::invoke_result_t<F &, T>;
    Promise<U> promise;
    Future<U> next = promise.future();
    start(executor, callWith(std::move(future), std::move(function)),
          [promise = std::move(promise)](Result<U> result) mutable { promise.settle(std::move(result)); });
    return next;
}

} // namespace coro
