/*
 * A chain of calls, each level of which adds its number, run as one coroutine of an executor with one thread. One operation is the
 * whole life of such a coroutine: begun, queued, run down the chain and up again, its result handed over, gone.
 *
 * The kinds differ in one function, begin(). Who calls it is the same for all: a job that is woken by the end of one operation,
 * verifies its sum and begins the next.
 */
#include "boost_peer.h"
#include "scenario.h"

#include "collect.h"

#include <array>
#include <cstddef>
#include <new>

namespace bench {
namespace {

using coro::Continuation;
using coro::Uthread;
using coro::Worker;

constexpr std::size_t arenaSize = 512 * 1024;

/* Arena hands out a static array piece by piece, and begins anew when everything has been given back. One thread uses it. */
class Arena {
  public:
    void *allocate(std::size_t size)
    {
        size = (size + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
        if (size > bytes_.size() - used_)
            throw std::bad_alloc();
        pieces_++;
        return bytes_.data() + std::exchange(used_, used_ + size);
    }

    void release() noexcept
    {
        if (--pieces_ == 0)
            used_ = 0;
    }

  private:
    std::size_t used_ = 0;
    std::size_t pieces_ = 0;
    alignas(64) std::array<std::byte, arenaSize> bytes_{};
};

constinit Arena arena;

template <coro::Errors e> struct FromArena {
    static constexpr coro::Errors errors = e;
    static void *allocate(std::size_t size) { return arena.allocate(size); }
    static void release(void *, std::size_t) noexcept { arena.release(); }
};

template <class Policy> coro::Lazy<std::uint64_t, Policy> sumLazily(std::uint64_t depth) noexcept(Policy::errors == coro::Errors::Fatal)
{
    if (depth <= 1)
        co_return depth;
    co_return depth + co_await sumLazily<Policy>(depth - 1);
}

/* The compiler would make a loop, or a formula, of a recursion that it sees through. */
template <bool mayThrow> [[gnu::noinline]] std::uint64_t sum(std::uint64_t depth) noexcept(!mayThrow)
{
    if (depth <= 1)
        return depth;
    std::uint64_t below = sum<mayThrow>(depth - 1);
    asm volatile("" : "+r"(below));
    return depth + below;
}

template <class Policy> struct StacklessChain {
    void begin(std::uint64_t depth, Continuation &caller)
    {
        auto tell = [&caller] { caller.wake(); };
        Worker::current()->push(coro::runLazy(sumLazily<Policy>(depth), result, tell).job);
    }

    coro::Result<std::uint64_t, Policy::errors> result;
};

/* StackSource names where a stackful chain's stack is from. */
struct Pooled {
    coro::StackPool &stacks() { return Worker::current()->stacks(); }
};
struct Unpooled {
    coro::StackPool &stacks() { return stacks_; }
    coro::StackPool stacks_{coro::StackPool::Keep::None};
};
struct Prealloc {
    coro::StackPool &stacks() { return stacks_; }
    alignas(4096) static inline std::array<std::byte, arenaSize> memory;
    coro::StackPool stacks_{memory};
};

template <class StackSource, bool mayThrow = true> struct StackfulChain {
    void begin(std::uint64_t depth, Continuation &caller)
    {
        Worker::current()->push(Uthread::spawn(source.stacks(), [this, depth, &caller]() noexcept {
            auto call = [depth]() noexcept(!mayThrow) { return sum<mayThrow>(depth); };
            if constexpr (mayThrow)
                result = coro::resultOf(call);
            else
                result.emplace(call());
            caller.wake();
        }));
    }

    StackSource source;
    coro::Result<std::uint64_t> result;
};

#ifdef CORO_WITH_BOOST
namespace fcontext = boost::context::detail;

struct BoostChain : coro::Job {
    BoostChain() : Job([](Job &job) { static_cast<BoostChain &>(job).switchTo(); }) {}

    void begin(std::uint64_t d, Continuation &c)
    {
        depth = d;
        caller = &c;
        Worker::current()->push(*this);
    }

    void switchTo()
    {
        coro::StackPool &stacks = Worker::current()->stacks();
        const coro::Stack stack = stacks.take();
        fcontext::jump_fcontext(fcontext::make_fcontext(stack.top(), stack.size, enter), this);
        stacks.give(stack);
    }

    static void enter(fcontext::transfer_t from)
    {
        auto &chain = *static_cast<BoostChain *>(from.data);
        auto call = [&chain] { return sum<true>(chain.depth); };
        chain.result = coro::resultOf(call);
        chain.caller->wake();
        fcontext::jump_fcontext(from.fctx, nullptr);
    }

    std::uint64_t depth = 0;
    Continuation *caller = nullptr;
    coro::Result<std::uint64_t> result;
};
#endif

template <class Chain> class Depth : public Scenario, Continuation {
  public:
    explicit Depth(unsigned depth) : Continuation(step, nullptr), depth_(depth), executor_(1) { home = &executor_.next().home(); }

    std::uint64_t run(std::uint64_t rounds) override
    {
        if (rounds == 0)
            return 0;
        left_ = rounds;
        first_ = true;
        wake();
        done_.wait();
        return rounds;
    }

    void verify() override
    {
        if (wrong_ != 0)
            throw Wrong(std::to_string(wrong_) + " sums of the chain are not what they should be");
    }

  private:
    static void step(Job &job)
    {
        auto &self = static_cast<Depth &>(job);
        if (!std::exchange(self.first_, false) && self.chain_.result.take() != self.depth_ * (self.depth_ + 1) / 2)
            self.wrong_++;
        if (self.left_-- > 0)
            self.chain_.begin(self.depth_, self);
        else
            self.done_.post();
    }

    const std::uint64_t depth_;
    std::uint64_t left_ = 0;
    std::uint64_t wrong_ = 0;
    bool first_ = true;
    coro::Semaphore done_;
    Chain chain_;
    coro::Executor executor_; /* last: its thread uses the others */
};

} // namespace

std::unique_ptr<Scenario> makeDepth(Kind kind, unsigned depth)
{
    using coro::Errors;
    switch (kind) {
    case Kind::Stackful:
        return std::make_unique<Depth<StackfulChain<Pooled>>>(depth);
    case Kind::StackfulNoexcept:
        return std::make_unique<Depth<StackfulChain<Pooled, false>>>(depth);
    case Kind::StackfulPrealloc:
        return std::make_unique<Depth<StackfulChain<Prealloc>>>(depth);
    case Kind::StackfulUnpooled:
        return std::make_unique<Depth<StackfulChain<Unpooled>>>(depth);
#ifdef CORO_WITH_BOOST
    case Kind::Boost:
        return std::make_unique<Depth<BoostChain>>(depth);
#endif
    case Kind::Stackless:
        return std::make_unique<Depth<StacklessChain<coro::Standard>>>(depth);
    case Kind::StacklessNoexcept:
        return std::make_unique<Depth<StacklessChain<coro::Noexcept>>>(depth);
    case Kind::StacklessPrealloc:
        return std::make_unique<Depth<StacklessChain<FromArena<Errors::Carried>>>>(depth);
    case Kind::StacklessPreallocNoexcept:
        return std::make_unique<Depth<StacklessChain<FromArena<Errors::Fatal>>>>(depth);
    default:
        throw std::invalid_argument("this build has no such chain");
    }
}

} // namespace bench
