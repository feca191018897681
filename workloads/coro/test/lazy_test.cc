/* Stackless coroutines: chains, exceptions, symmetric transfer, memory. */
#include "test.h"

#include "collect.h"
#include "generator.h"

#include <algorithm>
#include <cstdint>
#include <string>

using coro::Executor;
using coro::Lazy;

static Lazy<long> sumTo(long n)
{
    if (n == 0)
        co_return 0;
    co_return n + co_await sumTo(n - 1);
}

TEST("a Lazy does nothing until it is awaited")
{
    bool began = false;
    auto mark = [](bool &b) -> Lazy<> {
        b = true;
        co_return;
    };
    Executor executor(1);
    {
        auto dropped = mark(began);
    }
    CHECK(!began);
    coro::syncAwait(executor, mark(began));
    CHECK(began);
}

TEST("a chain of Lazies hands its results up")
{
    Executor executor(1);
    CHECK(coro::syncAwait(executor, sumTo(1000)) == 500500);
}

TEST("a Lazy's result may be moved out only")
{
    Executor executor(1);
    auto make = []() -> Lazy<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
    auto pass = [&]() -> Lazy<std::unique_ptr<int>> { co_return co_await make(); };
    CHECK(*coro::syncAwait(executor, pass()) == 7);
}

struct Counted {
    explicit Counted(int &n) : alive(&n) { ++*alive; }
    Counted(const Counted &other) : alive(other.alive) { ++*alive; }
    ~Counted() { --*alive; }
    int *alive;
};

static Lazy<long> throwBelow(long depth, int &alive)
{
    Counted local(alive);
    if (depth == 0)
        throw std::runtime_error("from the bottom");
    long below = co_await throwBelow(depth - 1, alive);
    co_return below + 1;
}

TEST("an exception goes up the whole chain, and every frame on its way is cleaned up")
{
    Executor executor(1);
    int alive = 0;
    std::string said;
    try {
        coro::syncAwait(executor, throwBelow(500, alive));
    } catch (const std::runtime_error &error) {
        said = error.what();
    }
    CHECK(said == "from the bottom");
    CHECK(alive == 0);
}

TEST("a Lazy may catch what it awaits and go on")
{
    Executor executor(1);
    int alive = 0;
    auto retry = [&]() -> Lazy<long> {
        long caught = 0;
        for (int i = 0; i < 10; i++) {
            try {
                co_await throwBelow(i, alive);
            } catch (const std::runtime_error &) {
                caught++;
            }
            co_await coro::Yield{};
        }
        co_return caught;
    };
    CHECK(coro::syncAwait(executor, retry()) == 10);
    CHECK(alive == 0);
}

TEST("whole() gives an exception as a value")
{
    Executor executor(1);
    int alive = 0;
    auto look = [&]() -> Lazy<bool> {
        auto result = co_await throwBelow(3, alive).whole();
        co_return result.failed();
    };
    CHECK(coro::syncAwait(executor, look()));
}

#if defined(__OPTIMIZE__) && !CORO_TRAMPOLINE
constexpr long manyTimes = 10'000'000, deep = 1'000'000;
#else
constexpr long manyTimes = 300'000, deep = 100'000; /* slower builds; a frame each would overflow even so */
#endif

/* Reach is the range of addresses that a stack was seen at. */
struct Reach {
    std::uintptr_t low = UINTPTR_MAX, high = 0;

    [[gnu::noinline]] void see()
    {
        auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
        low = std::min(low, here);
        high = std::max(high, here);
    }
    std::uintptr_t size() const { return high - low; }
};

static Lazy<long> one(Reach &reach)
{
    reach.see();
    co_return 1;
}

static Lazy<long> loopOf(long times, Reach &reach)
{
    long sum = 0;
    for (long i = 0; i < times; i++) {
        sum += co_await one(reach);
        reach.see();
    }
    co_return sum;
}

TEST("a loop of millions of Lazies that never suspend does not grow the stack")
{
    Executor executor(1);
    Reach reach;
    CHECK(coro::syncAwait(executor, loopOf(manyTimes, reach)) == manyTimes);
    CHECK(reach.size() < 1024);
}

static Lazy<long> down(long depth, Reach &reach)
{
    reach.see();
    long below = 0;
    if (depth > 1)
        below = co_await down(depth - 1, reach);
    reach.see();
    co_return below + 1;
}

TEST("a chain a hundred thousand or more deep does not grow the stack either, down or up")
{
    Executor executor(1);
    Reach reach;
    CHECK(coro::syncAwait(executor, down(deep, reach)) == deep);
    CHECK(reach.size() < 1024);
}

struct CountingPolicy {
    static constexpr coro::Errors errors = coro::Errors::Fatal;
    static inline long frames = 0, made = 0;
    static void *allocate(std::size_t size)
    {
        frames++, made++;
        return ::operator new(size);
    }
    static void release(void *frame, std::size_t size) noexcept
    {
        frames--;
        ::operator delete(frame, size);
    }
};

TEST("a policy gives all frames of a chain, and gets them back")
{
    struct Chain {
        static Lazy<long, CountingPolicy> sum(long n) noexcept
        {
            if (n == 0) /* not ?: in the co_return: gcc 12 then awaits both ways */
                co_return 0;
            co_return n + co_await sum(n - 1);
        }
    };
    {
        Executor executor(1);
        CHECK(coro::syncAwait(executor, Chain::sum(99)) == 4950);
    }
    CHECK(CountingPolicy::made == 101); /* the hundred, and the one that waits for them */
    CHECK(CountingPolicy::frames == 0);
}

static coro::Generator<int> upTo(int n)
{
    for (int i = 1; i <= n; i++)
        co_yield i;
}

TEST("a generator yields its values and ends")
{
    int sum = 0;
    for (auto numbers = upTo(10); numbers.next();)
        sum += numbers.value();
    CHECK(sum == 55);
}
