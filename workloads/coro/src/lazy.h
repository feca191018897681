/*
 * Lazy: a stackless coroutine that begins when it is awaited, on the thread of the one who awaits it, and hands its result, or its
 * exception, to that one. Control goes over and comes back by symmetric transfer: the thread's stack does not grow, however deep
 * the chain or long the loop.
 *
 * Its executor is not carried from frame to frame: a coroutine never leaves its worker, so Worker::current() is it.
 */
#pragma once

#include "executor.h"
#include "result.h"

#include <coroutine>
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

/*
 * gcc 12 makes a jump of a symmetric transfer only when it optimises, and not where ThreadSanitizer has something to do after each
 * call. Those builds go back to whoever resumed the chain, who then goes on with the coroutine that was named.
 */
#if !defined(__OPTIMIZE__) || defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#define CORO_TRAMPOLINE 1
#else
#define CORO_TRAMPOLINE 0
#endif

namespace coro {

#if CORO_TRAMPOLINE
inline thread_local constinit void *nextInChain = nullptr;

inline void transferTo(std::coroutine_handle<> to) noexcept
{
    nextInChain = to.address();
}

inline void resumeChain(std::coroutine_handle<> begin)
{
    begin.resume();
    while (void *next = std::exchange(nextInChain, nullptr))
        std::coroutine_handle<>::from_address(next).resume();
}
#else
inline std::coroutine_handle<> transferTo(std::coroutine_handle<> to) noexcept
{
    return to;
}

inline void resumeChain(std::coroutine_handle<> begin)
{
    begin.resume();
}
#endif

/* A policy says where frames come from and what an exception means. These two take them from the heap. */
struct Standard {
    static constexpr Errors errors = Errors::Carried;
    static void *allocate(std::size_t size) { return ::operator new(size); }
    static void release(void *frame, std::size_t size) noexcept { ::operator delete(frame, size); }
};

struct Noexcept : Standard {
    static constexpr Errors errors = Errors::Fatal;
};

template <class T, class Policy> class Lazy;

template <class Awaiter> struct WholeResult {
    Awaiter awaiter;
};

/* Suspended is a coroutine that waits for an operation, as the executor sees it. */
template <Operation Op> class Suspended : Continuation {
  public:
    explicit Suspended(Op &operation) : Continuation(resumeJob, Home::current()), operation_(operation) {}

    bool await_ready() const noexcept { return false; }
    bool await_suspend(std::coroutine_handle<> coroutine)
    {
        coroutine_ = coroutine;
        return operation_.start(*this);
    }
    decltype(auto) await_resume() { return operation_.result(); }

  private:
    static void resumeJob(Job &job) { resumeChain(static_cast<Suspended &>(job).coroutine_); }

    Op &operation_;
    std::coroutine_handle<> coroutine_;
};

template <class Policy> struct PromiseBase {
    struct GoBack {
        bool await_ready() const noexcept { return false; }
        template <class Promise> auto await_suspend(std::coroutine_handle<Promise> ended) noexcept
        {
            return transferTo(ended.promise().waiting);
        }
        void await_resume() noexcept {}
    };

    static void *operator new(std::size_t size) { return Policy::allocate(size); }
    static void operator delete(void *frame, std::size_t size) noexcept { Policy::release(frame, size); }

    std::suspend_always initial_suspend() noexcept { return {}; }
    GoBack final_suspend() noexcept { return {}; }

    template <class U, class P> auto await_transform(Lazy<U, P> &&lazy) noexcept { return std::move(lazy).awaiter(); }
    template <class Awaiter> Awaiter await_transform(WholeResult<Awaiter> whole) noexcept { return whole.awaiter; }
    template <Operation Op> Suspended<std::remove_reference_t<Op>> await_transform(Op &&operation)
    {
        return Suspended<std::remove_reference_t<Op>>(operation);
    }

    std::coroutine_handle<> waiting; /* for this one's end */
};

template <class T, class Policy> struct LazyPromise : PromiseBase<Policy> {
    Lazy<T, Policy> get_return_object() noexcept;
    template <class U> void return_value(U &&value) { result.emplace(std::forward<U>(value)); }
    void unhandled_exception() noexcept { result.fail(); }

    Result<T, Policy::errors> result;
};

template <class Policy> struct LazyPromise<void, Policy> : PromiseBase<Policy> {
    Lazy<void, Policy> get_return_object() noexcept;
    void return_void() { result.emplace(); }
    void unhandled_exception() noexcept { result.fail(); }

    Result<void, Policy::errors> result;
};

template <class T = void, class Policy = Standard> class [[nodiscard]] Lazy {
  public:
    using promise_type = LazyPromise<T, Policy>;
    using Handle = std::coroutine_handle<promise_type>;

    explicit Lazy(Handle handle) noexcept : handle_(handle) {}
    Lazy(Lazy &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
    Lazy &operator=(Lazy &&) = delete;
    ~Lazy()
    {
        if (handle_)
            handle_.destroy();
    }

    /* awaiter is for co_await, which takes the value out or throws. The frame goes with the Lazy. */
    auto awaiter() && noexcept { return Awaiter<T>{handle_}; }

    /* whole is for co_await, too, and takes the result as it is. */
    auto whole() && noexcept { return WholeResult<Awaiter<Whole>>{{handle_}}; }

  private:
    using Whole = Result<T, Policy::errors>;

    template <class Out> struct Awaiter {
        bool await_ready() const noexcept { return false; }
        auto await_suspend(std::coroutine_handle<> waiting) noexcept
        {
            handle.promise().waiting = waiting;
            return transferTo(handle);
        }
        Out await_resume()
        {
            if constexpr (std::is_same_v<Out, Whole>)
                return std::move(handle.promise().result);
            else
                return handle.promise().result.take();
        }

        Handle handle;
    };

    Handle handle_;
};

template <class T, class Policy> Lazy<T, Policy> LazyPromise<T, Policy>::get_return_object() noexcept
{
    return Lazy<T, Policy>(Lazy<T, Policy>::Handle::from_promise(*this));
}

template <class Policy> Lazy<void, Policy> LazyPromise<void, Policy>::get_return_object() noexcept
{
    return Lazy<void, Policy>(Lazy<void, Policy>::Handle::from_promise(*this));
}

/* Detached is a coroutine that nobody waits for: its frame goes when it ends. It is begun by pushing its job to a worker. */
template <class Policy> struct Detached {
    struct promise_type : Job {
        promise_type() : Job(resumeJob) {}
        static void *operator new(std::size_t size) { return Policy::allocate(size); }
        static void operator delete(void *frame, std::size_t size) noexcept { Policy::release(frame, size); }
        static void resumeJob(Job &job)
        {
            resumeChain(std::coroutine_handle<promise_type>::from_promise(static_cast<promise_type &>(job)));
        }

        template <class Awaiter> Awaiter await_transform(WholeResult<Awaiter> whole) noexcept { return whole.awaiter; }

        Detached get_return_object() noexcept { return {*this}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() noexcept { std::terminate(); }
    };

    Job &job;
};

} // namespace coro
