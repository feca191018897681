/* The mutex that many may share, by both kinds of coroutine. */
#include "test.h"

#include "collect.h"
#include "shared_mutex.h"

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using coro::Executor;
using coro::Lazy;
using coro::SharedMutex;

namespace {

struct Shelf {
    SharedMutex mutex;
    std::atomic<int> readers{0}, writers{0}, faults{0};
    long value = 0;
};

constexpr long tasks = 30, rounds = 60;

/* Each third round writes. Whoever has the mutex gives others a chance to come in, too. */
Lazy<void> useLazily(Shelf &shelf)
{
    for (long i = 0; i < rounds; i++) {
        const bool writes = i % 3 == 0;
        auto held = co_await (writes ? shelf.mutex.lock() : shelf.mutex.lockShared());
        (writes ? shelf.writers : shelf.readers)++;
        const long before = shelf.value;
        if (i % 2 == 0)
            co_await coro::Yield();
        if (shelf.writers > (writes ? 1 : 0) || (writes && shelf.readers > 0) || shelf.value != before)
            shelf.faults++;
        if (writes)
            shelf.value = before + 1;
        (writes ? shelf.writers : shelf.readers)--;
    }
}

void useByStack(Shelf &shelf)
{
    coro::await(useLazily(shelf));
    for (long i = 0; i < rounds; i++) {
        auto held = coro::await(shelf.mutex.lock());
        const long before = shelf.value;
        coro::await(coro::Yield());
        if (shelf.readers > 0 || shelf.writers > 0)
            shelf.faults++;
        shelf.value = before + 1;
    }
}

Lazy<void> note(SharedMutex &mutex, bool alone, std::string &order, char name, int yields)
{
    auto held = co_await (alone ? mutex.lock() : mutex.lockShared());
    order += name;
    for (int i = 0; i < yields; i++)
        co_await coro::Yield();
    order += static_cast<char>(name - 'a' + 'A');
}

Lazy<void> noteAll(Executor &executor, SharedMutex &mutex, std::string &order)
{
    std::vector<Lazy<void>> all;
    all.push_back(note(mutex, false, order, 'a', 3));
    all.push_back(note(mutex, false, order, 'b', 5));
    all.push_back(note(mutex, true, order, 'c', 3));
    all.push_back(note(mutex, false, order, 'd', 3));
    all.push_back(note(mutex, false, order, 'e', 5));
    all.push_back(note(mutex, true, order, 'f', 0));
    for (auto &result : co_await collectAll(executor, std::move(all)))
        result.take();
}

} // namespace

TEST("nobody has a shared mutex beside one who has it alone, whichever workers they are on")
{
    for (unsigned threads : {1U, 3U}) {
        Executor executor(threads);
        Shelf shelf;
        coro::syncAwait(executor, [&] {
            std::vector<std::function<void()>> all(tasks, [&shelf] { useByStack(shelf); });
            for (auto &result : coro::collectAll(executor, std::move(all)))
                result.take();
        });
        CHECK(shelf.faults == 0 && shelf.readers == 0 && shelf.writers == 0);
        CHECK(shelf.value == tasks * (rounds / 3 + rounds));
    }
}

TEST("those who share it have it together, and who asked before others has it before them")
{
    Executor executor(1);
    SharedMutex mutex;
    std::string order;
    coro::syncAwait(executor, noteAll(executor, mutex, order));
    CHECK(order == "abABcCdeDEfF");
}
