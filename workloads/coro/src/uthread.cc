#include "uthread.h"

#include <cxxabi.h>

namespace coro {

thread_local constinit Uthread *Uthread::current_ = nullptr;
thread_local constinit ExceptionState *Uthread::threadsExceptions_ = nullptr;

/* The ABI of C++ exceptions for Itanium, section 2.2.2, says what is at this address. */
ExceptionState &ExceptionState::ofThread()
{
    return *reinterpret_cast<ExceptionState *>(abi::__cxa_get_globals());
}

Uthread::Uthread(StackPool &stacks, Stack stack, void *top, void (*entry)(Context *))
    : Continuation(runJob, Worker::current()), Context(makeContext(top, entry)), stacks_(&stacks), stack_(stack)
{
}

void Uthread::bringExceptions(ExceptionState &threads) noexcept
{
    callersExceptions_ = std::exchange(threads, std::exchange(exceptions_, {}));
}

void Uthread::takeExceptions(ExceptionState &threads) noexcept
{
    exceptions_ = std::exchange(threads, std::exchange(callersExceptions_, {}));
}

void Uthread::release() noexcept
{
    StackPool &stacks = *stacks_;
    const Stack stack = stack_;
    this->~Uthread();
    stacks.give(stack);
}

} // namespace coro
