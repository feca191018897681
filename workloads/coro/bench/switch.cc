/* A switch to a coroutine and back. What it hands over each time is the next number, and the sum of those is verified. */
#include "boost_peer.h"
#include "scenario.h"

#include "generator.h"
#include "uthread.h"

#include <xmmintrin.h>

namespace bench {
namespace {

/* Total is the caller's side. */
class Total : public Scenario {
  public:
    void verify() override
    {
        const std::uint64_t even = switches_ % 2 == 0 ? switches_ : switches_ + 1, odd = even == switches_ ? switches_ + 1 : switches_;
        if (sum_ != even / 2 * odd) /* modulo 2^64, both of them */
            throw Wrong("the numbers that the coroutine handed over are not those that it should");
    }

  protected:
    template <class Next> std::uint64_t take(std::uint64_t count, Next next)
    {
        std::uint64_t sum = sum_;
        for (std::uint64_t i = 0; i < count; i++) {
            sum += next();
            asm volatile("" : "+r"(sum)); /* each sum, not only the last */
        }
        sum_ = sum;
        switches_ += count;
        return count;
    }

  private:
    std::uint64_t sum_ = 0;
    std::uint64_t switches_ = 0;
};

/* While it lives, MXCSR does not have the flag of an inexact result: a context that is made begins without it. */
class WithoutFlag {
  public:
    WithoutFlag() : before_(_mm_getcsr()) { _mm_setcsr(before_ & ~_MM_EXCEPT_INEXACT); }
    ~WithoutFlag() { _mm_setcsr(before_); }
    WithoutFlag(const WithoutFlag &) = delete;
    WithoutFlag &operator=(const WithoutFlag &) = delete;

  private:
    unsigned before_;
};

class StackfulSwitch : public Total {
  public:
    StackfulSwitch() : coroutine_(coro::Uthread::spawn(stacks_, [this]() noexcept { count(); })) {}
    ~StackfulSwitch() override
    {
        asked_ = Asked::ToEnd;
        coroutine_.resume();
    }

    std::uint64_t run(std::uint64_t rounds) override
    {
        return take(rounds, [&coroutine = coroutine_, &number = number_] {
            coroutine.resume();
            return number;
        });
    }

  protected:
    explicit StackfulSwitch(const WithoutFlag &) : StackfulSwitch() {}
    /* isInexact is true when the coroutine has the flag of an inexact result. */
    bool isInexact()
    {
        asked_ = Asked::ForItsFlag;
        coroutine_.resume();
        asked_ = Asked::ToCount;
        return inexact_;
    }

  private:
    enum class Asked { ToCount, ForItsFlag, ToEnd };

    void count()
    {
        while (asked_ != Asked::ToEnd) {
            if (asked_ == Asked::ToCount)
                number_++;
            else
                inexact_ = (_mm_getcsr() & _MM_EXCEPT_INEXACT) != 0;
            coro::Uthread::suspend();
        }
    }

    std::uint64_t number_ = 0;
    Asked asked_ = Asked::ToCount;
    bool inexact_ = false;
    coro::StackPool stacks_;
    coro::Uthread &coroutine_;
};

/*
 * The same with a caller that has the flag of an inexact result, and a coroutine that was made without it. Where MXCSR is loaded each time, each
 * keeps its own; where it is compared, the coroutine goes on with its caller's, and from then on they are equal.
 */
class StackfulSwitchFlagsDiffer : public StackfulSwitch {
  public:
    StackfulSwitchFlagsDiffer() : StackfulSwitch(WithoutFlag()) {}

    std::uint64_t run(std::uint64_t rounds) override
    {
        _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INEXACT);
        return StackfulSwitch::run(rounds);
    }

    void verify() override
    {
        StackfulSwitch::verify();
        if (isInexact() == coro::loadsMxcsr)
            throw Wrong("the flags of MXCSR are not those that they should be");
    }
};

#ifdef CORO_WITH_BOOST
namespace fcontext = boost::context::detail;

enum class Flags { Equal, Different };

/*
 * Boost's switch saves and loads MXCSR whole, with the flags of what was computed, and to load another value than is there takes longer
 * than all the rest. So what the caller has computed decides about the time. Here it is said: it has the flag of an inexact result,
 * as after reading a clock in doubles, and the coroutine has it, too, or not.
 */
class BoostSwitch : public Total {
  public:
    explicit BoostSwitch(Flags flags) : flags_(flags), stack_(stacks_.take()), coroutine_(make()) {}
    ~BoostSwitch() override { stacks_.give(stack_); }

    std::uint64_t run(std::uint64_t rounds) override
    {
        _mm_setcsr(_mm_getcsr() | _MM_EXCEPT_INEXACT);
        fcontext::fcontext_t coroutine = coroutine_;
        take(rounds, [&coroutine, this] {
            coroutine = fcontext::jump_fcontext(coroutine, this).fctx;
            return number_;
        });
        coroutine_ = coroutine;
        callersInexact_ = _mm_getcsr() & _MM_EXCEPT_INEXACT;
        return rounds;
    }

    void verify() override
    {
        Total::verify();
        if (callersInexact_ == 0 || inexact_ != (flags_ == Flags::Equal ? callersInexact_ : 0))
            throw Wrong("the flags of MXCSR are not those that they should be");
    }

  private:
    /* make gives the coroutine the flags that it will have: a context begins with those of its maker. */
    fcontext::fcontext_t make()
    {
        const unsigned before = _mm_getcsr();
        _mm_setcsr(flags_ == Flags::Equal ? before | _MM_EXCEPT_INEXACT : before & ~_MM_EXCEPT_INEXACT);
        fcontext::fcontext_t coroutine = fcontext::make_fcontext(stack_.top(), stack_.size, count);
        _mm_setcsr(before);
        return coroutine;
    }

    static void count(fcontext::transfer_t caller)
    {
        static_cast<BoostSwitch *>(caller.data)->inexact_ = _mm_getcsr() & _MM_EXCEPT_INEXACT;
        for (;;) {
            static_cast<BoostSwitch *>(caller.data)->number_++;
            caller = fcontext::jump_fcontext(caller.fctx, nullptr);
        }
    }

    std::uint64_t number_ = 0;
    Flags flags_;
    unsigned inexact_ = 0;
    unsigned callersInexact_ = 0;
    coro::StackPool stacks_;
    coro::Stack stack_;
    fcontext::fcontext_t coroutine_;
};
#endif

coro::Generator<std::uint64_t> countLazily()
{
    for (std::uint64_t number = 1;; number++)
        co_yield number;
}

/* The handle is hidden from the compiler, so that resuming it is the indirect call that it is where coroutines are passed around. */
class StacklessSwitch : public Total {
  public:
    std::uint64_t run(std::uint64_t rounds) override
    {
        using Handle = decltype(generator_)::Handle;
        void *address = generator_.handle().address();
        asm volatile("" : "+r"(address));
        auto handle = Handle::from_address(address);
        return take(rounds, [handle] {
            handle.resume();
            return handle.promise().value;
        });
    }

  private:
    coro::Generator<std::uint64_t> generator_ = countLazily();
};

/*
 * What a compiler that inlines a generator leaves of it: a variable in a register. gcc 12 never does that by itself, so it is done
 * by hand. It is here to show that nothing is switched in such a figure.
 */
class InlinedSwitch : public Total {
  public:
    std::uint64_t run(std::uint64_t rounds) override
    {
        std::uint64_t number = number_;
        take(rounds, [&number] { return ++number; });
        number_ = number;
        return rounds;
    }

  private:
    std::uint64_t number_ = 0;
};

} // namespace

std::unique_ptr<Scenario> makeSwitch(Kind kind)
{
    switch (kind) {
    case Kind::Stackful:
        return std::make_unique<StackfulSwitch>();
    case Kind::StackfulFlagsDiffer:
        return std::make_unique<StackfulSwitchFlagsDiffer>();
#ifdef CORO_WITH_BOOST
    case Kind::Boost:
        return std::make_unique<BoostSwitch>(Flags::Equal);
    case Kind::BoostFlagsDiffer:
        return std::make_unique<BoostSwitch>(Flags::Different);
#endif
    case Kind::Stackless:
        return std::make_unique<StacklessSwitch>();
    case Kind::StacklessInlined:
        return std::make_unique<InlinedSwitch>();
    default:
        throw std::invalid_argument("this build has no such switch");
    }
}

} // namespace bench
