/* Coroutines that are begun without being waited for, and chains of futures. */
#include "test.h"

#include "launch.h"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

using coro::Executor;
using coro::Lazy;
using coro::Result;
using coro::Semaphore;
using coro::Worker;

static Lazy<long> answer(long value)
{
    co_await coro::Yield();
    if (value < 0)
        throw std::range_error("negative");
    co_return value;
}

static Lazy<Worker *> whereItRuns()
{
    co_return Worker::current();
}

TEST("a Lazy that is started tells of its value, or of its exception, on a worker")
{
    Executor executor(2);
    for (long value : {42L, -1L}) {
        Semaphore told;
        long got = 0;
        bool threw = false, onWorker = false;
        coro::start(executor, answer(value), [&](Result<long> result) {
            onWorker = Worker::current() != nullptr;
            threw = result.failed();
            if (!threw)
                got = result.take();
            told.post();
        });
        told.wait();
        CHECK(onWorker && threw == (value < 0) && got == (value < 0 ? 0 : value));
    }
}

TEST("what is started may own what can only be moved")
{
    Executor executor(1);
    Semaphore told;
    int got = 0;
    auto make = []() -> Lazy<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
    coro::start(executor, make(), [&](Result<std::unique_ptr<int>> result) {
        got = *result.take();
        told.post();
    });
    told.wait();
    CHECK(got == 7);
}

TEST("a Lazy via another executor runs there, and who waits for it, of either kind, goes on where it was")
{
    Executor here(1), there(1);
    Worker *other = &there.next();
    auto lazily = [&]() -> Lazy<bool> {
        Worker *own = Worker::current();
        Worker *ran = co_await coro::Via(there, whereItRuns());
        co_return ran == other && own != other && Worker::current() == own;
    };
    CHECK(coro::syncAwait(here, lazily()));
    CHECK(coro::syncAwait(here, [&] {
        Worker *own = Worker::current();
        Worker *ran = coro::await(coro::Via(there, whereItRuns()));
        return ran == other && own != other && Worker::current() == own;
    }));
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(here, [&] { return coro::await(coro::Via(there, answer(-1))); }); }));
}

TEST("a function that is launched waits as any Uthread can, and all have run when the executor has gone")
{
    std::atomic<int> done{0};
    {
        Executor executor(3);
        for (int i = 0; i < 100; i++)
            coro::launch(executor, [&done, i] {
                if (coro::await(answer(i)) == i)
                    done++;
            });
    }
    CHECK(done == 100);
}

TEST("one that is launched here has begun when it comes back, and ends later, beside either kind")
{
    Executor executor(1);
    std::string order;
    Semaphore told;
    auto body = [&] {
        order += 'b';
        coro::await(coro::Yield());
        order += 'd';
        told.post();
    };
    coro::syncAwait(executor, [&] {
        order += 'a';
        coro::launchHere(body);
        order += 'c';
    });
    told.wait();
    auto lazily = [&]() -> Lazy<> {
        order += 'a';
        coro::launchHere(body);
        order += 'c';
        co_return;
    };
    coro::syncAwait(executor, lazily());
    told.wait();
    CHECK(order == "abcdabcd");
    CHECK(throwsAs<std::logic_error>([&] { coro::launchHere(body); }));
}

TEST("a chain of futures hands on what each link makes, begun before or after the first is set")
{
    Executor executor(2);
    for (bool before : {false, true}) {
        coro::Promise<long> first;
        auto last = first.future();
        if (before)
            first.set(0);
        for (int i = 0; i < 5000; i++)
            last = coro::then(executor, std::move(last), [](long n) { return n + 1; });
        if (!before)
            first.set(0);
        CHECK(coro::syncAwait(executor, [&] { return coro::await(last); }) == 5000);
    }
}

TEST("a link may have another type, or none, and an exception passes the links behind it by")
{
    Executor executor(1);
    coro::Promise<long> number;
    auto text = coro::then(executor, number.future(), [](long n) { return std::to_string(n); });
    std::string seen;
    auto end = coro::then(executor, text, [&](std::string s) { seen = s; });
    number.set(12);
    coro::syncAwait(executor, [&] { coro::await(end); });
    CHECK(seen == "12");

    coro::Promise<long> bad;
    int called = 0;
    auto thrown = coro::then(executor, bad.future(), [](long) -> long { throw std::range_error("a link"); });
    auto behind = coro::then(executor, thrown, [&](long n) { return n + ++called; });
    bad.set(1);
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(executor, [&] { return coro::await(behind); }); }));
    CHECK(called == 0);
}
