/*
 * Many tasks on all threads, each of which reads a file into a buffer. One operation is one such read. Only how a task is written
 * differs between the kinds: both take the same way to the file, and a coroutine of the same kind collects them.
 *
 * Rounds have the same number of tasks whatever the size of the file; where their buffers would take too much memory, tasks of one
 * thread share some. Before a round the first and the last word of each buffer are spoilt, and afterwards they are looked at; a task
 * hands over how much it has read. All bytes of the last round are compared in the end.
 */
#include "scenario.h"

#include "collect.h"
#include "read_at.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

using Word = std::uint64_t;

constexpr std::size_t bufferBudget = 64 << 20;
constexpr std::size_t tasksOfARound = 1000;
constexpr std::size_t smallFile = 4096;

/* TempFile has no name from the beginning on: it goes with the process, however that ends. */
class TempFile {
  public:
    TempFile(const std::string &directory, std::size_t size) : content_(size / sizeof(Word))
    {
        std::string path = directory + "/coro-XXXXXX";
        file_ = mkstemp(path.data());
        if (file_ < 0)
            throw std::system_error(errno, std::generic_category(), "making a file in " + directory);
        unlink(path.c_str());
        Word word = 0x9e3779b97f4a7c15;
        for (Word &w : content_) {
            word ^= word << 13, word ^= word >> 7, word ^= word << 17;
            w = word;
        }
        write(std::as_bytes(std::span(content_)));
    }
    ~TempFile() { close(file_); }
    TempFile(const TempFile &) = delete;
    TempFile &operator=(const TempFile &) = delete;

    int file() const { return file_; }
    std::span<const Word> content() const { return content_; }

  private:
    void write(std::span<const std::byte> bytes)
    {
        while (!bytes.empty()) {
            ssize_t n = ::write(file_, bytes.data(), bytes.size());
            if (n < 0 && errno != EINTR) {
                close(file_);
                throw std::system_error(errno, std::generic_category(), "writing the file to be read");
            }
            bytes = bytes.subspan(n < 0 ? 0 : static_cast<std::size_t>(n));
        }
    }

    int file_;
    std::vector<Word> content_;
};

/* proof is what a read leaves in a buffer. */
Word proof(std::span<const Word> buffer)
{
    return buffer.front() + 3 * buffer.back();
}

/*
 * buffersFor is how many buffers tasks need, a multiple of the threads if they share them: tasks go to the threads in turn, and so those
 * that share one are on one thread.
 */
std::size_t buffersFor(std::size_t size, std::size_t tasks, std::size_t threads)
{
    const std::size_t fit = bufferBudget / size / threads * threads;
    return std::min(tasks, std::max(threads, fit));
}

coro::ReadAt readInto(int file, std::span<Word> buffer)
{
    return coro::ReadAt(file, std::as_writable_bytes(buffer), 0);
}

/* Reads says what a round has. */
struct Reads {
    std::size_t size; /* of the file */
    std::size_t tasks;
    unsigned depth; /* of the calls at the end of which a task reads */
};

class Read : public Scenario {
  public:
    Read(const Reads &reads, const std::string &directory)
        : file_(directory, reads.size), tasks_(reads.tasks), depth_(reads.depth),
          buffers_(buffersFor(reads.size, reads.tasks, threads()), std::vector<Word>(reads.size / sizeof(Word))), executor_(threads())
    {
    }

    static unsigned threads() { return std::max(1U, std::thread::hardware_concurrency()); }

    std::uint64_t run(std::uint64_t rounds) override
    {
        found_ += runRounds(rounds);
        rounds_ += rounds;
        return rounds * tasks_;
    }

    void verify() override
    {
        const Word round = tasks_ * file_.content().size_bytes() + buffers_.size() * proof(file_.content());
        if (found_ != rounds_ * round)
            throw Wrong("the reads did not add up to what is in the file");
        for (const auto &buffer : buffers_) {
            if (rounds_ > 0 && !std::ranges::equal(buffer, file_.content()))
                throw Wrong("a read left something else than what is in the file");
        }
    }

  protected:
    virtual Word runRounds(std::uint64_t rounds) = 0; /* the sum of all that was read, and of all proofs */

    std::vector<Word> &bufferOf(std::size_t task) { return buffers_[task % buffers_.size()]; }

    void spoil()
    {
        for (auto &buffer : buffers_)
            buffer.front() = buffer.back() = 0;
    }

    template <class Results> Word total(Results results) const
    {
        Word sum = 0;
        for (auto &result : results)
            sum += result.take();
        for (const auto &buffer : buffers_)
            sum += proof(buffer);
        return sum;
    }

    TempFile file_;
    std::size_t tasks_;
    unsigned depth_;
    std::vector<std::vector<Word>> buffers_;
    coro::Executor executor_;

  private:
    Word found_ = 0;
    std::uint64_t rounds_ = 0;
};

/* A task of each kind: it calls itself until it is so deep, reads there, and returns how much. */
coro::Lazy<Word> readLazily(int file, std::span<Word> buffer, unsigned depth)
{
    if (depth > 1)
        co_return co_await readLazily(file, buffer, depth - 1);
    co_return co_await readInto(file, buffer);
}

[[gnu::noinline]] Word readByStack(int file, std::span<Word> buffer, unsigned depth)
{
    if (depth <= 1)
        return coro::await(readInto(file, buffer));
    Word below = readByStack(file, buffer, depth - 1);
    asm volatile("" : "+r"(below)); /* or the compiler would make a loop of it */
    return below;
}

coro::Lazy<Word> readOnStack(int file, std::span<Word> buffer, unsigned depth)
{
    co_return co_await coro::OnStack([=] { return readByStack(file, buffer, depth); });
}

template <auto task> class LazyRead : public Read {
    using Read::Read;

    coro::Lazy<Word> root(std::uint64_t rounds)
    {
        Word sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            std::vector<coro::Lazy<Word>> tasks;
            tasks.reserve(tasks_);
            spoil();
            for (std::size_t t = 0; t < tasks_; t++)
                tasks.push_back(task(file_.file(), bufferOf(t), depth_));
            sum += total(co_await collectAll(executor_, std::move(tasks)));
        }
        co_return sum;
    }

    Word runRounds(std::uint64_t rounds) override { return syncAwait(executor_, root(rounds)); }
};

class StackfulRead : public Read {
    using Read::Read;

    Word root(std::uint64_t rounds)
    {
        Word sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            auto taskOf = [this](std::span<Word> buffer) {
                return [file = file_.file(), buffer, depth = depth_] { return readByStack(file, buffer, depth); };
            };
            std::vector<decltype(taskOf({}))> tasks;
            tasks.reserve(tasks_);
            spoil();
            for (std::size_t t = 0; t < tasks_; t++)
                tasks.push_back(taskOf(bufferOf(t)));
            sum += total(collectAll(executor_, std::move(tasks)));
        }
        return sum;
    }

    Word runRounds(std::uint64_t rounds) override
    {
        return coro::syncAwait(executor_, [=, this] { return root(rounds); });
    }
};

std::unique_ptr<Scenario> make(Kind kind, const Reads &reads, const std::string &directory)
{
    switch (kind) {
    case Kind::Stackful:
        return std::make_unique<StackfulRead>(reads, directory);
    case Kind::Stackless:
        return std::make_unique<LazyRead<readLazily>>(reads, directory);
    case Kind::Hybrid:
        return std::make_unique<LazyRead<readOnStack>>(reads, directory);
    default:
        throw std::invalid_argument("there is no such read");
    }
}

} // namespace

std::unique_ptr<Scenario> makeRead(Kind kind, unsigned kib, const std::string &directory)
{
    return make(kind, {.size = std::size_t{kib} * 1024, .tasks = tasksOfARound, .depth = 1}, directory);
}

std::unique_ptr<Scenario> makeSameRead(Kind kind, unsigned tasks, const std::string &directory)
{
    return make(kind, {.size = smallFile, .tasks = std::size_t{tasks} * Read::threads(), .depth = 1}, directory);
}

std::unique_ptr<Scenario> makeDeepRead(Kind kind, unsigned depth, const std::string &directory)
{
    return make(kind, {.size = smallFile, .tasks = tasksOfARound, .depth = depth}, directory);
}

} // namespace bench
