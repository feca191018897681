/* Many coroutines of both kinds at once, on several threads, waiting for each other. */
#include "test.h"

#include "collect.h"
#include "future.h"

#include <array>
#include <functional>

using coro::Executor;
using coro::Lazy;

static Lazy<long> workLazily(Executor &executor, long depth, long seed)
{
    co_await coro::Yield{};
    if (depth == 0)
        co_return seed;
    std::vector<Lazy<long>> list;
    for (long i = 0; i < 4; i++)
        list.push_back(workLazily(executor, depth - 1, seed * 4 + i));
    long sum = 0;
    for (auto &result : co_await coro::collectAll(executor, std::move(list)))
        sum += result.take();
    co_return sum;
}

static long workByStack(Executor &executor, long depth, long seed)
{
    coro::await(coro::Yield{});
    if (depth == 0)
        return seed;
    std::vector<std::function<long()>> list;
    for (long i = 0; i < 4; i++)
        list.push_back([&executor, depth, seed, i] { return workByStack(executor, depth - 1, seed * 4 + i); });
    long sum = 0;
    for (auto &result : coro::collectAll(executor, std::move(list)))
        sum += result.take();
    return sum;
}

TEST("thousands of both kinds on several threads, waiting for each other, add up")
{
    constexpr long depth = 5, leaves = 1024, sum = leaves * (leaves - 1) / 2;
    Executor executor(4);
    std::array<long, 4> sums{};
    std::vector<std::thread> outside;
    for (std::size_t i = 0; i < sums.size(); i++) {
        outside.emplace_back([&, i] {
            for (int round = 0; round < 3; round++) {
                if (i % 2 == 0)
                    sums[i] += coro::syncAwait(executor, workLazily(executor, depth, 0));
                else
                    sums[i] += coro::syncAwait(executor, [&] { return workByStack(executor, depth, 0); });
            }
        });
    }
    for (auto &thread : outside)
        thread.join();
    for (long s : sums)
        CHECK(s == 3 * sum);
}

TEST("a Lazy and a Uthread on different threads play ball with futures")
{
    constexpr int rounds = 500;
    Executor executor(2);
    std::vector<coro::Promise<int>> ping(rounds), pong(rounds);
    auto lazily = [&]() -> Lazy<int> {
        int sum = 0;
        for (std::size_t i = 0; i < rounds; i++) {
            auto answer = pong[i].future();
            ping[i].set(static_cast<int>(i));
            sum += co_await answer;
        }
        co_return sum;
    };
    std::vector<coro::Future<int>> pings;
    for (auto &promise : ping)
        pings.push_back(promise.future());
    int byStack = 0;
    std::thread other([&] {
        byStack = coro::syncAwait(executor, [&] {
            int sum = 0;
            for (std::size_t i = 0; i < rounds; i++) {
                const int got = coro::await(pings[i]);
                sum += got;
                pong[i].set(2 * got);
            }
            return sum;
        });
    });
    const int doubled = coro::syncAwait(executor, lazily());
    other.join();
    CHECK(byStack == rounds * (rounds - 1) / 2);
    CHECK(doubled == 2 * byStack);
}
