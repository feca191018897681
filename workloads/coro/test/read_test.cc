/* Reads of files in all ways: on the worker, by its ring, by a pool of threads, by AIO. */
#include "test.h"

#include "aio.h"
#include "collect.h"
#include "file_read.h"
#include "future.h"
#include "read_pool.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdexcept>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

using coro::AsyncRead;
using coro::Executor;
using coro::Lazy;
using coro::ReadAt;

/* canMakeRings is false where tests of rings have nothing to test: where the kernel, or a container's filter, has none. */
static bool canMakeRings()
{
    try {
        coro::WakeUp wakeUp;
        coro::Ring ring(wakeUp.file());
        return true;
    } catch (const std::system_error &error) {
        std::printf("no rings here: %s\n", error.what());
        return false;
    }
}

/* Numbered is a file of bytes in which no two places look the same for long. */
class Numbered {
  public:
    explicit Numbered(std::size_t size)
    {
        std::string path = "/tmp/coro-test-XXXXXX";
        file_ = mkstemp(path.data());
        unlink(path.c_str());
        std::string content(size, '\0');
        for (std::size_t i = 0; i < size; i++)
            content[i] = static_cast<char>(at(i));
        CHECK(write(file_, content.data(), size) == static_cast<ssize_t>(size));
    }
    ~Numbered() { close(file_); }
    int file() const { return file_; }

    static std::byte at(std::size_t place) { return static_cast<std::byte>((place * 2654435761U) >> 13); }
    static bool isAt(std::size_t place, std::span<const std::byte> bytes)
    {
        for (std::size_t i = 0; i < bytes.size(); i++) {
            if (bytes[i] != at(place + i))
                return false;
        }
        return true;
    }

  private:
    int file_;
};

/* Pipe is a file whose reads wait until they are given something. */
struct Pipe {
    Pipe() { CHECK(pipe(ends) == 0); }
    ~Pipe()
    {
        close(ends[0]);
        endOfFile();
    }
    int file() const { return ends[0]; }
    void give(const char *text) { CHECK(write(ends[1], text, std::strlen(text)) > 0); }
    void endOfFile()
    {
        if (ends[1] >= 0)
            close(std::exchange(ends[1], -1));
    }

    int ends[2];
};

template <class Read> static Lazy<std::size_t> readLazily(Read read)
{
    auto operation = read();
    co_return co_await operation;
}

/* check one way to read, which read(FILE, INTO, OFFSET) makes operations of, in both kinds. */
template <class Make> static void checkWay(Executor &executor, Make make, int ofDirectory = EISDIR)
{
    constexpr std::size_t size = 10'000;
    const Numbered numbered(size);
    std::array<std::byte, 64> into;
    auto both = [&](int file, std::size_t offset, std::size_t wanted) {
        for (int kind = 0; kind < 2; kind++) {
            into.fill({});
            auto operation = [&] { return make(file, std::span(into), static_cast<off_t>(offset)); };
            const std::size_t got = kind == 0 ? coro::syncAwait(executor, readLazily(operation))
                                              : coro::syncAwait(executor, [&] { return coro::await(operation()); });
            CHECK(got == wanted);
            CHECK(Numbered::isAt(offset, std::span(into).first(got)));
        }
    };
    both(numbered.file(), 0, into.size());
    both(numbered.file(), 1234, into.size());
    both(numbered.file(), size - 10, 10);
    both(numbered.file(), size, 0);
    both(numbered.file(), size + 5000, 0);
    auto nothing = [&] { return make(numbered.file(), std::span<std::byte>(), 0); };
    CHECK(coro::syncAwait(executor, readLazily(nothing)) == 0);
    const int directory = open("/", O_RDONLY | O_DIRECTORY);
    for (auto [file, error] : {std::pair{-1, EBADF}, std::pair{directory, ofDirectory}}) {
        auto operation = [&, f = file] { return make(f, std::span(into), 0); };
        int said = 0;
        try {
            coro::syncAwait(executor, readLazily(operation));
        } catch (const std::system_error &thrown) {
            said = thrown.code().value();
        }
        CHECK(said == error);
        CHECK(throwsAs<std::system_error>([&] { coro::syncAwait(executor, [&] { return coro::await(operation()); }); }));
    }
    close(directory);
}

static AsyncRead asynchronously(int file, std::span<std::byte> into, off_t offset)
{
    return {file, into, offset};
}

TEST("a read says how much it got, less at the end of the file, and throws what the kernel says")
{
    Executor executor(1);
    checkWay(executor, [](int file, std::span<std::byte> into, off_t offset) { return ReadAt(file, into, offset); });
    CHECK(executor.ringError() == 0);
}

TEST("an asynchronous read does, too")
{
    Executor executor(1);
    checkWay(executor, asynchronously);
    CHECK((executor.ringError() == 0) == canMakeRings());
}

TEST("and one that a pool of threads does")
{
    bench::ReadPool pool(3);
    Executor executor(1);
    checkWay(executor, [&](int file, std::span<std::byte> into, off_t offset) { return bench::PooledRead(pool, file, into, offset); });
}

TEST("and one by AIO, whose system call knows less of what cannot be read")
{
    bench::Aio aio(3);
    Executor executor(1);
    checkWay(executor, [&](int file, std::span<std::byte> into, off_t offset) { return bench::AioRead(aio, file, into, offset); }, EINVAL);
}

/* forbidRings is what container runtimes do by default: it is for this thread and those that it begins. */
static void forbidRings(int error)
{
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<unsigned>(error)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    sock_fprog program{.len = std::size(filter), .filter = filter};
    CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    CHECK(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

TEST("where rings are forbidden, asynchronous reads are made on the worker, and the executor says why")
{
    for (int error : {EPERM, ENOSYS}) {
        std::thread([error] {
            forbidRings(error);
            Executor executor(2);
            CHECK(executor.ringError() == 0);
            checkWay(executor, asynchronously);
            CHECK(executor.ringError() == error);
        }).join();
    }
}

/* Piece is a read of a place of a file, and whether it found what is there. */
static Lazy<bool> pieceLazily(int file, std::size_t place)
{
    std::array<std::byte, 512> into;
    const std::size_t got = co_await AsyncRead(file, into, static_cast<off_t>(place));
    co_return got == into.size() && Numbered::isAt(place, into);
}

static bool pieceByStack(int file, std::size_t place)
{
    std::array<std::byte, 512> into;
    const std::size_t got = coro::await(AsyncRead(file, into, static_cast<off_t>(place)));
    return got == into.size() && Numbered::isAt(place, into);
}

TEST("thousands of asynchronous reads at once, more than a ring has room for, on two workers, each get their own bytes")
{
    constexpr std::size_t count = 2000, step = 777;
    const Numbered numbered(count * step + 512);
    Executor executor(2);
    auto lazily = [&]() -> Lazy<std::size_t> {
        std::vector<Lazy<bool>> list;
        for (std::size_t i = 0; i < count; i++)
            list.push_back(pieceLazily(numbered.file(), i * step));
        std::size_t right = 0;
        for (auto &result : co_await coro::collectAll(executor, std::move(list)))
            right += result.take() ? 1 : 0;
        co_return right;
    };
    auto byStack = [&] {
        auto taskOf = [&](std::size_t place) { return [&, place] { return pieceByStack(numbered.file(), place); }; };
        std::vector<decltype(taskOf(0))> list;
        for (std::size_t i = 0; i < count; i++)
            list.push_back(taskOf(i * step));
        std::size_t right = 0;
        for (auto &result : coro::collectAll(executor, std::move(list)))
            right += result.take() ? 1 : 0;
        return right;
    };
    CHECK(coro::syncAwait(executor, lazily()) == count);
    CHECK(coro::syncAwait(executor, byStack) == count);
}

static Lazy<> yieldLazily()
{
    co_await coro::Yield{};
}

static Lazy<std::string> textLazily(int file, std::size_t size)
{
    std::string text(size, '\0');
    const std::size_t got = co_await AsyncRead(file, std::as_writable_bytes(std::span(text)), 0);
    text.resize(got);
    co_return text;
}

/* Begun is a coroutine that was begun, and what has come of it. */
struct Begun {
    Begun(Executor &executor, Lazy<std::string> lazy)
    {
        executor.next().push(coro::runLazy(std::move(lazy), result, [this] { ended.post(); }).job);
    }
    std::string wait()
    {
        ended.wait();
        return result.take();
    }

    coro::Result<std::string> result;
    coro::Semaphore ended;
};

TEST("a read that got less than it wanted goes on, to the end of the file")
{
    if (!canMakeRings())
        return;
    Executor executor(1);
    Pipe whole, cut;
    whole.give("hello");
    cut.give("good");
    Begun first(executor, textLazily(whole.file(), 10)), second(executor, textLazily(cut.file(), 10));
    coro::syncAwait(executor, yieldLazily());
    whole.give("world, and more");
    CHECK(first.wait() == "helloworld");
    cut.endOfFile();
    CHECK(second.wait() == "good");
}

TEST("a worker whose coroutines all wait for reads is woken by other threads, each time")
{
    if (!canMakeRings())
        return;
    Executor executor(1);
    Pipe pipe;
    Begun waits(executor, textLazily(pipe.file(), 4));
    std::array<std::thread, 2> others;
    for (auto &other : others) {
        other = std::thread([&] {
            for (int i = 0; i < 500; i++)
                coro::syncAwait(executor, yieldLazily());
        });
    }
    for (auto &other : others)
        other.join();
    pipe.give("done");
    CHECK(waits.wait() == "done");
}

TEST("an executor that goes waits for the reads that are in flight, and for what goes on after them")
{
    if (!canMakeRings())
        return;
    Pipe pipe;
    coro::Semaphore going;
    coro::Result<std::string> result;
    bool told = false;
    std::thread writer([&] {
        going.wait();
        /* give the executor time to be freed, if it does not wait */
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        pipe.give("before it goes");
    });
    auto twice = [&]() -> Lazy<std::string> {
        const std::string first = co_await textLazily(pipe.file(), 7), second = co_await textLazily(pipe.file(), 7);
        co_return first + second;
    };
    {
        Executor executor(2);
        executor.next().push(coro::runLazy(twice(), result, [&told] { told = true; }).job);
        coro::syncAwait(executor, yieldLazily());
        going.post();
    }
    CHECK(told && result.take() == "before it goes");
    writer.join();
}

/* readUntil reads all the time, until it is told to end. It returns how often it did. */
static Lazy<int> readUntil(int file, const bool &end)
{
    int count = 0;
    for (; !end; count++) {
        if (!co_await pieceLazily(file, static_cast<std::size_t>(count % 1000)))
            throw std::logic_error("read something else");
    }
    co_return count;
}

static Lazy<int> endWhenSet(coro::Future<int> future, bool &end)
{
    const int set = co_await future;
    end = true;
    co_return set;
}

TEST("a worker that is woken all the time by the ends of reads is woken by other threads, too, and then goes")
{
    const Numbered numbered(4096);
    for (int round = 0; round < 300; round++) {
        coro::Promise<int> promise;
        auto future = promise.future();
        bool end = false;
        std::thread setter;
        {
            Executor executor(1);
            auto both = [&]() -> Lazy<int> {
                std::vector<Lazy<int>> list;
                list.push_back(readUntil(numbered.file(), end));
                list.push_back(endWhenSet(future, end));
                auto results = co_await coro::collectAll(executor, std::move(list));
                results[0].take();
                co_return results[1].take();
            };
            setter = std::thread([&promise] { promise.set(7); });
            CHECK(coro::syncAwait(executor, both()) == 7);
        }
        setter.join();
    }
}

TEST("a worker that always has something to run gets on with its reads")
{
    const Numbered numbered(4096);
    Executor executor(1);
    bool read = false;
    auto reads = [&]() -> Lazy<bool> {
        const bool right = co_await pieceLazily(numbered.file(), 100);
        read = true;
        co_return right;
    };
    auto runs = [&]() -> Lazy<bool> {
        const auto patience = std::chrono::steady_clock::now() + std::chrono::minutes(2);
        while (!read && std::chrono::steady_clock::now() < patience)
            co_await coro::Yield{};
        co_return read;
    };
    auto both = [&]() -> Lazy<bool> {
        std::vector<Lazy<bool>> list;
        list.push_back(reads());
        list.push_back(runs());
        auto results = co_await coro::collectAll(executor, std::move(list));
        const bool first = results[0].take(), second = results[1].take();
        co_return first && second;
    };
    CHECK(coro::syncAwait(executor, both()));
}
