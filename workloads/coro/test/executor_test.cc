/* Both kinds on an executor: futures, collecting, its end. */
#include "test.h"

#include "collect.h"
#include "future.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <mutex>
#include <sched.h>
#include <set>
#include <sys/resource.h>

using coro::Executor;
using coro::Lazy;
using coro::Worker;

static Lazy<long> addLazily(coro::Future<long> a, coro::Future<long> b)
{
    co_return co_await a + co_await b;
}

TEST("both kinds wait for a future, set before or after, from any thread")
{
    Executor executor(2);
    for (int kind = 0; kind < 2; kind++) {
        for (int round = 0; round < 200; round++) {
            coro::Promise<long> early, late;
            auto a = early.future(), b = late.future();
            early.set(40);
            CHECK(a.isReady() && !b.isReady());
            std::thread setter([&late] { late.set(2); });
            if (kind == 0)
                CHECK(coro::syncAwait(executor, addLazily(a, b)) == 42);
            else
                CHECK(coro::syncAwait(executor, [&] { return coro::await(a) + coro::await(b); }) == 42);
            setter.join();
        }
    }
}

TEST("an exception set into a promise is thrown where the future is awaited, in both kinds")
{
    Executor executor(1);
    auto failed = [] {
        coro::Promise<long> promise;
        auto future = promise.future();
        promise.fail(std::make_exception_ptr(std::range_error("set")));
        return future;
    };
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(executor, addLazily(failed(), failed())); }));
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(executor, [&] { return coro::await(failed()); }); }));
}

TEST("a promise that goes without a word breaks the wait")
{
    Executor executor(1);
    auto broken = [] { return coro::Promise<long>().future(); };
    CHECK(throwsAs<std::future_error>([&] { coro::syncAwait(executor, addLazily(broken(), broken())); }));
    CHECK(throwsAs<std::future_error>([&] { coro::syncAwait(executor, [&] { return coro::await(broken()); }); }));
}

TEST("an exception comes out of a Uthread, whole, and so it does through one that waits for others")
{
    Executor executor(2);
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(executor, []() -> int { throw std::range_error("out"); }); }));
    CHECK(throwsAs<std::range_error>([&] {
        coro::syncAwait(executor, [&] {
            auto thrower = [] {
                coro::await(coro::Yield{});
                throw std::range_error("out of the inner");
            };
            auto results = coro::collectAll(executor, std::vector{thrower, thrower});
            results.at(1).take();
        });
    }));
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* NoMoreMemory lets nothing more be mapped while it is there. Sanitizers could not go on. */
struct NoMoreMemory {
    NoMoreMemory()
    {
        getrlimit(RLIMIT_AS, &before);
        rlimit none = before;
        none.rlim_cur = 1;
        setrlimit(RLIMIT_AS, &none);
    }
    ~NoMoreMemory() { setrlimit(RLIMIT_AS, &before); }
    rlimit before;
};

TEST("a Uthread that gets no stack ends with an exception where it is awaited, and the executor goes on")
{
    Executor executor(1);
    auto task = [] { return 7; };
    auto nothing = [&] {
        NoMoreMemory limit;
        coro::syncAwait(executor, task);
    };
    CHECK(throwsAs<std::bad_alloc>(nothing));
    std::vector list(3, task);
    auto collect = [&] {
        NoMoreMemory limit;
        auto results = coro::collectAll(executor, list);
        return std::ranges::count_if(results, [](auto &result) { return result.failed(); });
    };
    CHECK(coro::syncAwait(executor, collect) == 3);
    CHECK(coro::syncAwait(executor, task) == 7);
}
#endif

/* Ends later the smaller the number is, so that the order of ends is not that of the list. */
static Lazy<int> numberLazily(int number, int of)
{
    for (int i = number; i < of; i++)
        co_await coro::Yield{};
    if (number % 10 == 3)
        throw number;
    co_return number;
}

static int numberByStack(int number, int of)
{
    for (int i = number; i < of; i++)
        coro::await(coro::Yield{});
    if (number % 10 == 3)
        throw number;
    return number;
}

template <class Results> static bool inOrder(Results &results)
{
    int i = 0;
    for (auto &result : results) {
        try {
            if (result.failed() != (i % 10 == 3) || result.take() != i)
                return false;
        } catch (int thrown) {
            if (thrown != i)
                return false;
        }
        i++;
    }
    return i == 100;
}

TEST("collectAll keeps the order of the list, whoever ends first, exceptions in their places")
{
    Executor executor(2);
    auto lazily = [&]() -> Lazy<bool> {
        std::vector<Lazy<int>> list;
        for (int i = 0; i < 100; i++)
            list.push_back(numberLazily(i, 100));
        auto results = co_await coro::collectAll(executor, std::move(list));
        co_return inOrder(results);
    };
    auto byStack = [&] {
        std::vector<std::function<int()>> list;
        for (int i = 0; i < 100; i++)
            list.push_back([i] { return numberByStack(i, 100); });
        auto results = coro::collectAll(executor, std::move(list));
        return inOrder(results);
    };
    CHECK(coro::syncAwait(executor, lazily()));
    CHECK(coro::syncAwait(executor, byStack));
}

/* Calls itself on its stack, and at each level waits for a Lazy, which calls it again on another stack. */
static Lazy<int> climbLazily(int level);

static int climbByStack(int level)
{
    if (level == 0)
        return 0;
    return level % 2 == 0 ? 1 + climbByStack(level - 1) : 1 + coro::await(climbLazily(level - 1));
}

static Lazy<int> climbLazily(int level)
{
    Worker *begin = Worker::current();
    co_await coro::Yield{};
    const int below = co_await coro::OnStack([level] { return climbByStack(level); });
    if (Worker::current() != begin)
        throw std::logic_error("another worker");
    co_return below;
}

TEST("a Lazy waits for a function on a stack, and a Uthread for a Lazy, on one worker, as deep as they like")
{
    Executor executor(2);
    CHECK(coro::syncAwait(executor, climbLazily(1000)) == 1000);
    CHECK(coro::syncAwait(executor, [] { return climbByStack(1000); }) == 1000);
}

TEST("an exception goes from a stack to a Lazy and back")
{
    Executor executor(1);
    auto byStack = []() -> int { throw std::range_error("on the stack"); };
    auto lazily = [&]() -> Lazy<int> { co_return co_await coro::OnStack(byStack); };
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(executor, lazily()); }));
    CHECK(throwsAs<std::range_error>([&] { coro::syncAwait(executor, [&] { return coro::await(lazily()); }); }));
    CHECK(throwsAs<std::logic_error>([&] { coro::await(lazily()); })); /* in no Uthread */
}

/* processorOf is the one that this thread is bound to; -1 if there are several. */
static int processorOf()
{
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &set))
            return CPU_COUNT(&set) == 1 ? i : -1;
    }
    return -1;
}

TEST("threads that are bound have a processor each, and where there are too few that is said")
{
    cpu_set_t set;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    const auto all = static_cast<unsigned>(CPU_COUNT(&set));
    {
        Executor executor(all, coro::Binding::EachToOne);
        std::set<int> seen;
        auto results = coro::syncAwait(executor, [&] { return coro::collectAll(executor, std::vector<int (*)()>(all, processorOf)); });
        for (auto &result : results)
            seen.insert(result.take());
        CHECK(seen.size() == all && !seen.contains(-1));
    }
    CHECK(throwsAs<std::invalid_argument>([&] { Executor(all + 1, coro::Binding::EachToOne); }));
}

TEST("where tasks begin on an idle worker, none waits behind a long one")
{
    Executor executor(2, coro::Binding::None, coro::Begin::WhereIdle);
    constexpr int shortOnes = 20;
    std::atomic<int> ended{0};
    coro::Semaphore all;
    auto task = [&](int number) {
        if (number == 0)
            all.wait(); /* its worker can do nothing else */
        else if (++ended == shortOnes)
            all.post();
        return number;
    };
    for (int round = 0; round < 50; round++) {
        ended = 0;
        coro::syncAwait(executor, [&] {
            std::vector<std::function<int()>> list;
            for (int i = 0; i <= shortOnes; i++)
                list.push_back([&task, i] { return task(i); });
            auto results = coro::collectAll(executor, std::move(list));
            for (int i = 0; i <= shortOnes; i++)
                CHECK(results[static_cast<std::size_t>(i)].take() == i);
        });
    }
}

static Lazy<void> yieldUntil(std::atomic<bool> &flag)
{
    while (!flag)
        co_await coro::Yield();
}

static Lazy<void> raise(std::atomic<bool> &flag)
{
    flag = true;
    co_return;
}

TEST("and one begins in the end, though every worker is always busy")
{
    Executor executor(1, coro::Binding::None, coro::Begin::WhereIdle);
    std::atomic<bool> flag{false};
    auto both = [&]() -> Lazy<void> {
        std::vector<Lazy<void>> list;
        list.push_back(yieldUntil(flag));
        list.push_back(raise(flag));
        co_await coro::collectAll(executor, std::move(list));
    };
    coro::syncAwait(executor, both());
    CHECK(flag);
}

TEST("an executor whose tasks begin on idle workers runs all of them before it goes")
{
    struct Counting : coro::Job {
        explicit Counting(std::atomic<int> &count) : Job([](Job &job) { static_cast<Counting &>(job).count_++; }), count_(count) {}
        std::atomic<int> &count_;
    };
    for (int round = 0; round < 200; round++) {
        std::atomic<int> count{0};
        std::deque<Counting> jobs;
        for (int i = 0; i < 30; i++)
            jobs.emplace_back(count);
        {
            Executor executor(3, coro::Binding::None, coro::Begin::WhereIdle);
            for (Counting &job : jobs)
                executor.begin(job);
        }
        CHECK(count == 30);
    }
}

TEST("collectAll of nothing is over at once")
{
    Executor executor(1);
    auto lazily = [&]() -> Lazy<std::size_t> {
        auto results = co_await coro::collectAll(executor, std::vector<Lazy<int>>());
        co_return results.size();
    };
    CHECK(coro::syncAwait(executor, lazily()) == 0);
    CHECK(coro::syncAwait(executor, [&] { return coro::collectAll(executor, std::vector<int (*)()>()).size(); }) == 0);
}

TEST("collectAll uses all threads, and a coroutine never leaves the one that it began on")
{
    constexpr std::size_t threads = 3;
    Executor executor(threads);
    auto where = []() -> Lazy<Worker *> {
        Worker *begin = Worker::current();
        for (int i = 0; i < 20; i++) {
            co_await coro::Yield{};
            if (Worker::current() != begin)
                co_return nullptr;
        }
        co_return begin;
    };
    auto all = [&]() -> Lazy<std::size_t> {
        std::vector<Lazy<Worker *>> list;
        for (std::size_t i = 0; i < 2 * threads; i++)
            list.push_back(where());
        std::set<Worker *> seen;
        for (auto &result : co_await coro::collectAll(executor, std::move(list)))
            seen.insert(result.take());
        co_return seen.contains(nullptr) ? 0 : seen.size();
    };
    CHECK(coro::syncAwait(executor, all()) == threads);
}

TEST("a worker must not block on its own executor")
{
    Executor executor(1);
    auto nested = [&]() -> Lazy<int> { co_return coro::syncAwait(executor, numberLazily(0, 0)); };
    CHECK(throwsAs<std::logic_error>([&] { coro::syncAwait(executor, nested()); }));
}

TEST("an executor without threads is refused")
{
    CHECK(throwsAs<std::invalid_argument>([] { Executor none(0); }));
}

struct Numbered : coro::Job {
    Numbered(int n, std::vector<int> &l) : Job(note), number(n), list(&l) {}
    static void note(Job &job)
    {
        auto &self = static_cast<Numbered &>(job);
        self.list->push_back(self.number);
    }
    int number;
    std::vector<int> *list;
};

TEST("an executor that goes runs what is queued first, in the order of its arrival")
{
    std::vector<int> order;
    std::deque<Numbered> jobs;
    {
        Executor executor(1);
        for (int i = 0; i < 1000; i++)
            executor.next().push(jobs.emplace_back(i, order));
    }
    CHECK(order.size() == 1000);
    CHECK(std::ranges::is_sorted(order));
}

/* An operation that somebody else ends, by hand. */
struct Held {
    bool start(coro::Continuation &continuation)
    {
        waiting.store(&continuation);
        return true;
    }
    void result() {}
    std::atomic<coro::Continuation *> waiting{nullptr};
};

/* Waker is a job that lasts until its worker's executor is about to go, and then wakes a coroutine of another worker. */
struct Waker : coro::Job {
    Waker(Held &h, coro::Semaphore &g) : Job(wake), held(&h), going(&g) {}
    static void wake(Job &job)
    {
        auto &self = static_cast<Waker &>(job);
        self.going->wait();
        for (int i = 0; i < 100; i++) /* give the executor time to be freed, if it does not wait */
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        self.held->waiting.load()->wake();
    }
    Held *held;
    coro::Semaphore *going;
};

static Lazy<int> waitsFor(Held &held)
{
    co_await held;
    co_return 7;
}

TEST("an executor that goes lets one worker wake the coroutines of another to the last")
{
    Held held;
    coro::Semaphore going;
    coro::Result<int> result;
    bool told = false;
    Waker waker(held, going);
    {
        Executor executor(2);
        Worker &first = executor.next(), &second = executor.next();
        first.push(coro::runLazy(waitsFor(held), result, [&told] { told = true; }).job);
        while (held.waiting.load() == nullptr)
            std::this_thread::yield();
        second.push(waker);
        going.post();
    }
    CHECK(told && result.take() == 7);
}

/* Noted is a future whose waiter is kept in a list: nothing else knows a coroutine that is never run again. */
struct Noted {
    coro::Future<long> future;
    static inline auto &waiting = *new std::vector<coro::Continuation *>; /* never freed, so that a search for leaks finds the waiters */
    static inline std::mutex mutex;

    bool start(coro::Continuation &continuation)
    {
        if (!future.start(continuation))
            return false;
        std::lock_guard lock(mutex);
        waiting.push_back(&continuation);
        return true;
    }
    long result() { return future.result(); }
};

static std::atomic<int> resumed{0};

static Lazy<void> waitFor(Noted noted)
{
    co_await noted;
    resumed++;
}

static auto nothing = [] {};

TEST("a coroutine is not run when what it waited for comes after its executor has gone")
{
    static coro::Result<void> result;
    auto wait = [](coro::Future<long> future) {
        return [future]() mutable {
            coro::await(Noted{future});
            resumed++;
        };
    };
    static auto &tasks = *new std::deque<coro::UthreadTask<decltype(wait(coro::Promise<long>().future())), decltype(nothing)>>;
    std::vector<coro::Promise<long>> promises(8);
    {
        Executor executor(2);
        for (std::size_t i = 0; i < promises.size(); i++) {
            if (i % 2 == 0)
                executor.begin(coro::runLazy(waitFor(Noted{promises[i].future()}), result, nothing).job);
            else
                executor.begin(tasks.emplace_back(wait(promises[i].future()), nothing));
        }
    }
    CHECK(Noted::waiting.size() == promises.size());
    {
        Executor another(2); /* in the memory of the one before, perhaps */
        std::thread setter([&] {
            for (auto &promise : promises)
                promise.set(7);
        });
        setter.join();
    }
    CHECK(resumed == 0);
}
