/* The mutex, by both kinds of coroutine. */
#include "test.h"

#include "collect.h"
#include "mutex.h"
#include "uthread.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

using coro::Executor;
using coro::Lazy;
using coro::Mutex;

namespace {

struct Counter {
    Mutex mutex;
    long value = 0;
    bool inside = false;
};

constexpr long tasks = 40, rounds = 50;

/* Whoever has the mutex gives others a chance to come in, too. */
Lazy<void> countLazily(Counter &counter)
{
    for (long i = 0; i < rounds; i++) {
        auto held = co_await counter.mutex.lock();
        CHECK(!std::exchange(counter.inside, true));
        const long before = counter.value;
        if (i % 4 == 0)
            co_await coro::Yield();
        counter.value = before + 1;
        counter.inside = false;
    }
}

void countByStack(Counter &counter)
{
    for (long i = 0; i < rounds; i++) {
        auto held = coro::await(counter.mutex.lock());
        CHECK(!std::exchange(counter.inside, true));
        const long before = counter.value;
        if (i % 4 == 0)
            coro::await(coro::Yield());
        counter.value = before + 1;
        counter.inside = false;
    }
}

Lazy<void> countAll(Executor &executor, Counter &counter)
{
    std::vector<Lazy<void>> all;
    for (long i = 0; i < tasks; i++)
        all.push_back(countLazily(counter));
    for (auto &result : co_await collectAll(executor, std::move(all)))
        result.take();
}

Lazy<void> noteTurn(Mutex &mutex, std::vector<long> &order, long number)
{
    auto held = co_await mutex.lock();
    order.push_back(number);
}

/* letGo lets all who were begun before it ask for the mutex before it goes. */
Lazy<void> letGo(std::optional<Mutex::Held> &held)
{
    for (int i = 0; i < 3; i++)
        co_await coro::Yield();
    held.reset();
}

Lazy<void> noteAll(Executor &executor, Mutex &mutex, std::vector<long> &order)
{
    std::vector<Lazy<void>> all;
    for (long i = 0; i < tasks; i++)
        all.push_back(noteTurn(mutex, order, i));
    auto held = co_await mutex.lock();
    std::optional<Mutex::Held> until(std::move(held));
    all.push_back(letGo(until));
    for (auto &result : co_await collectAll(executor, std::move(all)))
        result.take();
}

} // namespace

TEST("one coroutine at a time has the mutex, whichever worker it is on")
{
    for (unsigned threads : {1U, 3U}) {
        Executor executor(threads);
        Counter counter;
        coro::syncAwait(executor, countAll(executor, counter));
        CHECK(counter.value == tasks * rounds);
    }
}

TEST("so has one stackful coroutine")
{
    Executor executor(3);
    Counter counter;
    coro::syncAwait(executor, [&] {
        std::vector<std::function<void()>> all(tasks, [&counter] { countByStack(counter); });
        for (auto &result : coro::collectAll(executor, std::move(all)))
            result.take();
    });
    CHECK(counter.value == tasks * rounds);
}

TEST("who has waited longest gets it next")
{
    Executor executor(1);
    Mutex mutex;
    std::vector<long> order;
    coro::syncAwait(executor, noteAll(executor, mutex, order));
    CHECK(order.size() == static_cast<std::size_t>(tasks));
    for (std::size_t i = 0; i < order.size(); i++)
        CHECK(order[i] == static_cast<long>(i));
}
