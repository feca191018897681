/*
 * Many tasks on all threads, each of which reads a file into a buffer of its own. One operation is one such read. Only how a task
 * is written differs between the kinds: both take the same way to the file, and a coroutine of the same kind collects them.
 *
 * Before it reads, a task spoils the first and the last word of its buffer; afterwards it hands them over, so that no read can be
 * left out unnoticed. All bytes of the last round are compared in the end.
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

constexpr std::size_t bufferBudget = 64 << 20; /* a round of large reads has fewer tasks, so that it fits */
constexpr std::size_t mostTasks = 1000;
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

void spoil(std::span<Word> buffer)
{
    buffer.front() = buffer.back() = 0;
}

/* proof is what a read leaves: it differs when it was short, or not done. */
Word proof(std::span<const Word> buffer, std::size_t bytes)
{
    return bytes + buffer.front() + 3 * buffer.back();
}

class Read : public Scenario {
  public:
    Read(std::size_t size, std::size_t tasks, const std::string &directory)
        : file_(directory, size), buffers_(tasks, std::vector<Word>(size / sizeof(Word))), executor_(threads())
    {
    }

    static unsigned threads() { return std::max(1U, std::thread::hardware_concurrency()); }

    std::uint64_t run(std::uint64_t rounds) override
    {
        proofs_ += runRounds(rounds);
        reads_ += rounds * buffers_.size();
        return rounds * buffers_.size();
    }

    void verify() override
    {
        if (proofs_ != reads_ * proof(file_.content(), file_.content().size_bytes()))
            throw Wrong("the reads did not add up to what is in the file");
        for (const auto &buffer : buffers_) {
            if (reads_ > 0 && !std::ranges::equal(buffer, file_.content()))
                throw Wrong("a read left something else than what is in the file");
        }
    }

  protected:
    virtual Word runRounds(std::uint64_t rounds) = 0; /* the sum of all proofs */

    static coro::ReadAt readInto(int file, std::span<Word> buffer)
    {
        return coro::ReadAt(file, std::as_writable_bytes(buffer), 0);
    }

    template <class Results> static Word total(Results results)
    {
        Word sum = 0;
        for (auto &result : results)
            sum += result.take();
        return sum;
    }

    TempFile file_;
    std::vector<std::vector<Word>> buffers_;
    coro::Executor executor_;

  private:
    Word proofs_ = 0;
    std::uint64_t reads_ = 0;
};

class StacklessRead : public Read {
    using Read::Read;

    static coro::Lazy<Word> task(int file, std::span<Word> buffer)
    {
        spoil(buffer);
        std::size_t bytes = co_await readInto(file, buffer);
        co_return proof(buffer, bytes);
    }

    coro::Lazy<Word> root(std::uint64_t rounds)
    {
        Word sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            std::vector<coro::Lazy<Word>> tasks;
            tasks.reserve(buffers_.size());
            for (auto &buffer : buffers_)
                tasks.push_back(task(file_.file(), buffer));
            sum += total(co_await collectAll(executor_, std::move(tasks)));
        }
        co_return sum;
    }

    Word runRounds(std::uint64_t rounds) override { return syncAwait(executor_, root(rounds)); }
};

class StackfulRead : public Read {
    using Read::Read;

    static Word task(int file, std::span<Word> buffer)
    {
        spoil(buffer);
        std::size_t bytes = coro::await(readInto(file, buffer));
        return proof(buffer, bytes);
    }

    Word root(std::uint64_t rounds)
    {
        Word sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            auto taskOf = [this](std::span<Word> buffer) {
                return [file = file_.file(), buffer] { return task(file, buffer); };
            };
            std::vector<decltype(taskOf({}))> tasks;
            tasks.reserve(buffers_.size());
            for (auto &buffer : buffers_)
                tasks.push_back(taskOf(buffer));
            sum += total(collectAll(executor_, std::move(tasks)));
        }
        return sum;
    }

    Word runRounds(std::uint64_t rounds) override
    {
        return coro::syncAwait(executor_, [=, this] { return root(rounds); });
    }
};

std::unique_ptr<Scenario> make(Kind kind, std::size_t size, std::size_t tasks, const std::string &directory)
{
    if (kind == Kind::Stackless)
        return std::make_unique<StacklessRead>(size, tasks, directory);
    return std::make_unique<StackfulRead>(size, tasks, directory);
}

} // namespace

std::unique_ptr<Scenario> makeRead(Kind kind, unsigned kib, const std::string &directory)
{
    const std::size_t size = std::size_t{kib} * 1024;
    return make(kind, size, std::min(mostTasks, bufferBudget / size), directory);
}

std::unique_ptr<Scenario> makeSameRead(Kind kind, unsigned tasks, const std::string &directory)
{
    return make(kind, smallFile, std::size_t{tasks} * Read::threads(), directory);
}

} // namespace bench
