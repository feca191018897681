/*
 * Uthread: a stackful coroutine. It lives at the upper end of its own stack, so that beginning one takes a stack from the pool and
 * nothing else, and it stays on the thread that it was begun on.
 */
#pragma once

#include "context.h"
#include "executor.h"
#include "sanitizer.h"
#include "stack.h"

#include <cstdint>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace coro {

/*
 * ExceptionState is what the C++ runtime keeps for each thread: the exceptions that are being handled, and how many are flying. It
 * belongs to a stack, and so is exchanged with it; else two coroutines that wait inside of catch blocks would mix theirs up.
 */
struct ExceptionState {
    void *caught = nullptr;
    unsigned int uncaught = 0;

    std::uintptr_t any() const { return reinterpret_cast<std::uintptr_t>(caught) | uncaught; }
};

class Uthread : public Continuation, Context {
  public:
    /*
     * spawn makes a coroutine that will call body(), which must not throw. It begins with the first resume(), by hand or, once it
     * is pushed to a worker, by that.
     */
    template <class Body> static Uthread &spawn(StackPool &stacks, Body body);

    static Uthread *current() { return current_; }

    /* resume goes on with the coroutine until it suspends itself. It returns false when the coroutine has ended and is gone. */
    bool resume();

    /* suspend goes back to the resume() of the running coroutine. */
    static void suspend();

  private:
    template <class Body> struct With;

    Uthread(StackPool &stacks, Stack stack, void *top, void (*entry)(Context *));

    template <class Body> [[noreturn]] static void enter(Context *context) noexcept;
    static void runJob(Job &job) { static_cast<Uthread &>(job).resume(); }
    bool resumeInside() noexcept;
    bool suspended();
    void bringExceptions() noexcept;
    bool takeExceptions() noexcept;
    void release() noexcept;

    static ExceptionState notAskedFor_; /* looks as if there were some */
    static thread_local constinit ExceptionState *threadsExceptions_;
    static thread_local constinit Uthread *current_;

    ExceptionState exceptions_;        /* while it is suspended */
    ExceptionState callersExceptions_; /* while it runs */
    std::uintptr_t brings_ = 0;        /* not 0: exceptions_ has some */
    std::uintptr_t leaves_ = 0;        /* not 0: callersExceptions_ has some, or it has ended */
    bool ended_ = false;
    [[no_unique_address]] SwitchNotes notes_;
    StackPool *stacks_;
    Stack stack_;
};

template <class Body> struct Uthread::With : Uthread {
    With(StackPool &stacks, Stack stack, Body &&b) : Uthread(stacks, stack, this, enter<Body>), body(std::move(b)) {}
    Body body;
};

template <class Body> Uthread &Uthread::spawn(StackPool &stacks, Body body)
{
    static_assert(std::is_nothrow_move_constructible_v<Body>);
    constexpr std::uintptr_t line = 64;
    Stack stack = stacks.take();
    auto place = (reinterpret_cast<std::uintptr_t>(stack.top()) - sizeof(With<Body>)) & ~(line - 1);
    return *new (reinterpret_cast<void *>(place)) With<Body>(stacks, stack, std::move(body));
}

template <class Body> void Uthread::enter(Context *context) noexcept
{
    auto &self = static_cast<With<Body> &>(static_cast<Uthread &>(*context));
    self.notes_.arrived();
    {
        Body body = std::move(self.body); /* ends here, not when the stack is given back */
        body();
    }
    self.ended_ = true;
    self.leaves_ = 1;
    self.notes_.leavingForEver();
    switchBack(self);
    __builtin_unreachable();
}

/*
 * Exceptions to be exchanged are rare, as are coroutines that resume others, and moving nothing to and fro would cost as much as the
 * switch itself. So one test before and one after it find out whether there is anything unusual.
 */
[[gnu::always_inline]] inline bool Uthread::resume()
{
    if ((threadsExceptions_->any() | brings_ | reinterpret_cast<std::uintptr_t>(current_)) != 0) [[unlikely]] {
        if (current_ != nullptr)
            return resumeInside();
        bringExceptions();
    }
    current_ = this;
    notes_.leavingCaller(stack_.base, stack_.size);
    return static_cast<Uthread &>(switchTo(*this)).suspended();
}

/* suspended is the rest of resume(), on the caller's stack. */
[[gnu::always_inline]] inline bool Uthread::suspended()
{
    notes_.arrivedAtCaller();
    current_ = nullptr;
    if ((threadsExceptions_->any() | leaves_) != 0) [[unlikely]]
        return takeExceptions();
    return true;
}

[[gnu::always_inline]] inline void Uthread::suspend()
{
    current_->notes_.leaving();
    static_cast<Uthread &>(switchBack(*current_)).notes_.arrived();
}

/* awaiting is the stackful coroutine that a worker runs. */
inline Uthread &awaiting()
{
    Uthread *self = Uthread::current();
    if (self == nullptr || self->home == nullptr)
        throw std::logic_error("await: not in a Uthread of a worker");
    return *self;
}

/* await waits, in a stackful coroutine that a worker runs, for an operation. */
template <Operation Op> decltype(auto) await(Op &&operation)
{
    Uthread *self = &awaiting();
    if (operation.start(*self))
        Uthread::suspend();
    return operation.result();
}

} // namespace coro
