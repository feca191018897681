#include "uthread.h"

#include <cxxabi.h>

namespace coro {

/* What begins before this is made compares, which is right everywhere. */
bool loadsMxcsr = __builtin_cpu_is("amd") != 0;
thread_local constinit Context callersContext;
constinit ExceptionState Uthread::notAskedFor_{&notAskedFor_, 1};
thread_local constinit ExceptionState *Uthread::threadsExceptions_ = &notAskedFor_;
thread_local constinit Uthread *Uthread::current_ = nullptr;

Uthread::Uthread(StackPool &stacks, Stack stack, void *top, void (*entry)(Context *))
    : Continuation(runJob, Home::current()), Context(makeContext(top, entry)), stacks_(&stacks), stack_(stack)
{
}

bool Uthread::resumeInside() noexcept
{
    Uthread *outer = std::exchange(current_, nullptr);
    const Context outersCaller = callersContext;
    const bool suspended = resume();
    callersContext = outersCaller;
    current_ = outer;
    return suspended;
}

void Uthread::bringExceptions() noexcept
{
    /* The ABI of C++ exceptions for Itanium, section 2.2.2, says what is at this address. */
    if (threadsExceptions_ == &notAskedFor_)
        threadsExceptions_ = reinterpret_cast<ExceptionState *>(abi::__cxa_get_globals());
    callersExceptions_ = std::exchange(*threadsExceptions_, std::exchange(exceptions_, {}));
    leaves_ = callersExceptions_.any();
    brings_ = 0;
}

bool Uthread::takeExceptions() noexcept
{
    exceptions_ = std::exchange(*threadsExceptions_, std::exchange(callersExceptions_, {}));
    brings_ = exceptions_.any();
    leaves_ = 0;
    if (!ended_)
        return true;
    release();
    return false;
}

void Uthread::release() noexcept
{
    StackPool &stacks = *stacks_;
    const Stack stack = stack_;
    this->~Uthread();
    stacks.give(stack);
}

} // namespace coro
