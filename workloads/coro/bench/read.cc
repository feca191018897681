/*
 * Many tasks on all threads, each of which reads a file, or its own part of one, into a buffer. One operation is one such read. The kinds
 * differ in how a task is written, and in its way to the file: on the worker, by a pool of threads, or asynchronously, by io_uring or AIO. A coroutine of the
 * same kind collects them.
 *
 * Rounds have the same number of tasks whatever the size of a read; where their buffers would take too much memory, tasks of one thread
 * share some, and read the same into them. Before a round the first and the last word of each buffer are spoilt, and afterwards they are
 * looked at; a task hands over how much it has read. All bytes of the last round are compared in the end.
 */
#include "aio.h"
#include "scenario.h"

#include "collect.h"
#include "file_read.h"
#include "read_pool.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <new>
#include <span>
#include <sys/vfs.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace bench {
namespace {

using Word = std::uint64_t;

constexpr std::size_t bufferBudget = 64 << 20;
constexpr std::size_t tasksOfARound = 1000;
constexpr std::size_t smallFile = 4096;
constexpr unsigned waitingThreads = 64; /* of a pool, where reads wait for a device */

/* PageAligned memory is what reads past the page cache can go to. */
template <class T> struct PageAligned {
    using value_type = T;
    static constexpr std::align_val_t page{4096};

    PageAligned() = default;
    template <class U> PageAligned(const PageAligned<U> &) {}
    T *allocate(std::size_t count) { return static_cast<T *>(::operator new(count * sizeof(T), page)); }
    void deallocate(T *memory, std::size_t count) { ::operator delete(memory, count * sizeof(T), page); }
    bool operator==(const PageAligned &) const = default;
};

using Buffer = std::vector<Word, PageAligned<Word>>;

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

    /*
     * bypassCache has reads wait for the device. tmpfs takes the flag and reads from memory all the same; and a device may have a cache of
     * its own, as that of a virtual machine may.
     */
    void bypassCache()
    {
        struct statfs system;
        if (fstatfs(file_, &system) != 0)
            throw std::system_error(errno, std::generic_category(), "asking for the file system");
        if (system.f_type == TMPFS_MAGIC || fcntl(file_, F_SETFL, O_DIRECT) != 0)
            throw std::runtime_error("the file system of --dir has no reads past the page cache");
    }

    /* sync leaves nothing that a read past the page cache would have to write first. */
    void sync()
    {
        if (fdatasync(file_) != 0)
            throw std::system_error(errno, std::generic_category(), "writing the file to the device");
    }

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

/* Reads says what a round has. */
struct Reads {
    std::size_t size; /* of one */
    std::size_t tasks;
    unsigned depth;      /* of the calls at the end of which a task reads */
    bool direct = false; /* past the page cache, from as many parts of the file as there are buffers; else all read the same */
};

class Read : public Scenario {
  public:
    Read(const Reads &reads, const std::string &directory)
        : reads_(reads), buffers_(buffersFor(reads.size, reads.tasks, threads()), Buffer(reads.size / sizeof(Word))),
          file_(directory, reads.size * (reads.direct ? buffers_.size() : 1)), executor_(threads())
    {
        if (reads.direct) {
            file_.sync();
            file_.bypassCache();
        }
    }

    static unsigned threads() { return processors(); }

    std::uint64_t run(std::uint64_t rounds) override
    {
        found_ += runRounds(rounds);
        rounds_ += rounds;
        return rounds * reads_.tasks;
    }

    void verify() override
    {
        Word round = reads_.tasks * reads_.size;
        for (std::size_t i = 0; i < buffers_.size(); i++)
            round += proof(contentOf(i));
        if (found_ != rounds_ * round)
            throw Wrong("the reads did not add up to what is in the file");
        for (std::size_t i = 0; i < buffers_.size(); i++) {
            if (rounds_ > 0 && !std::ranges::equal(buffers_[i], contentOf(i)))
                throw Wrong("a read left something else than what is in the file");
        }
        if (const int error = executor_.ringError())
            throw Wrong("a thread got no ring, and so its reads were not asynchronous: " + std::generic_category().message(error));
    }

  protected:
    virtual Word runRounds(std::uint64_t rounds) = 0; /* the sum of all that was read, and of all proofs */

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

    off_t offsetOf(std::size_t buffer) const { return reads_.direct ? static_cast<off_t>(buffer * reads_.size) : 0; }

    Reads reads_;
    std::vector<Buffer> buffers_;
    TempFile file_;
    coro::Executor executor_;

  private:
    /* contentOf is what is to be read into a buffer. */
    std::span<const Word> contentOf(std::size_t buffer) const
    {
        return file_.content().subspan(static_cast<std::size_t>(offsetOf(buffer)) / sizeof(Word), reads_.size / sizeof(Word));
    }

    Word found_ = 0;
    std::uint64_t rounds_ = 0;
};

/* A way to the file makes the operation that a task waits for. */
struct OnWorker {
    explicit OnWorker(const Reads &) {}
    coro::ReadAt read(int file, std::span<std::byte> into, off_t offset) { return {file, into, offset}; }
};

struct ByRing {
    explicit ByRing(const Reads &) {}
    coro::AsyncRead read(int file, std::span<std::byte> into, off_t offset) { return {file, into, offset}; }
};

/* Each task has at most one read in flight. */
class ByAio {
  public:
    explicit ByAio(const Reads &reads) : aio_(static_cast<unsigned>(reads.tasks)) {}
    AioRead read(int file, std::span<std::byte> into, off_t offset) { return {aio_, file, into, offset}; }

  private:
    Aio aio_;
};

/* A pool is as large as suits it: from the page cache, more threads than CPUs only switch; a device wants many reads at once. */
class ByPool {
  public:
    explicit ByPool(const Reads &reads) : pool_(reads.direct ? waitingThreads : Read::threads()) {}
    PooledRead read(int file, std::span<std::byte> into, off_t offset) { return {pool_, file, into, offset}; }

  private:
    ReadPool pool_;
};

/* Place is what a task reads: from where, and into what. */
template <class Way> struct Place {
    auto read() const { return way->read(file, into, offset); }

    Way *way;
    int file;
    off_t offset;
    std::span<std::byte> into;
};

template <class Way> class ReadBy : public Read {
  public:
    ReadBy(const Reads &reads, const std::string &directory) : Read(reads, directory), way_(reads)
    {
        for (std::size_t i = 0; i < buffers_.size(); i++)
            places_.push_back({&way_, file_.file(), offsetOf(i), std::as_writable_bytes(std::span(buffers_[i]))});
    }

  protected:
    const Place<Way> &placeOf(std::size_t task) const { return places_[task % places_.size()]; }

  private:
    Way way_;
    std::vector<Place<Way>> places_;
};

/* A task of each kind: it calls itself until it is so deep, reads there, and returns how much. */
template <class Way> coro::Lazy<Word> readLazily(const Place<Way> &place, unsigned depth)
{
    if (depth > 1)
        co_return co_await readLazily(place, depth - 1);
    co_return co_await place.read();
}

template <class Way> [[gnu::noinline]] Word readByStack(const Place<Way> &place, unsigned depth)
{
    if (depth <= 1)
        return coro::await(place.read());
    Word below = readByStack(place, depth - 1);
    asm volatile("" : "+r"(below)); /* or the compiler would make a loop of it */
    return below;
}

template <class Way> coro::Lazy<Word> readOnStack(const Place<Way> &place, unsigned depth)
{
    co_return co_await coro::OnStack([&place, depth] { return readByStack(place, depth); });
}

template <class Way, auto task> class LazyRead : public ReadBy<Way> {
    using ReadBy<Way>::ReadBy;

    coro::Lazy<Word> root(std::uint64_t rounds)
    {
        Word sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            std::vector<coro::Lazy<Word>> tasks;
            tasks.reserve(this->reads_.tasks);
            this->spoil();
            for (std::size_t t = 0; t < this->reads_.tasks; t++)
                tasks.push_back(task(this->placeOf(t), this->reads_.depth));
            sum += this->total(co_await collectAll(this->executor_, std::move(tasks)));
        }
        co_return sum;
    }

    Word runRounds(std::uint64_t rounds) override { return syncAwait(this->executor_, root(rounds)); }
};

template <class Way> class StackfulRead : public ReadBy<Way> {
    using ReadBy<Way>::ReadBy;

    Word root(std::uint64_t rounds)
    {
        Word sum = 0;
        for (std::uint64_t i = 0; i < rounds; i++) {
            auto taskOf = [depth = this->reads_.depth](const Place<Way> &place) {
                return [&place, depth] { return readByStack(place, depth); };
            };
            std::vector<decltype(taskOf(this->placeOf(0)))> tasks;
            tasks.reserve(this->reads_.tasks);
            this->spoil();
            for (std::size_t t = 0; t < this->reads_.tasks; t++)
                tasks.push_back(taskOf(this->placeOf(t)));
            sum += this->total(collectAll(this->executor_, std::move(tasks)));
        }
        return sum;
    }

    Word runRounds(std::uint64_t rounds) override
    {
        return coro::syncAwait(this->executor_, [=, this] { return root(rounds); });
    }
};

std::unique_ptr<Scenario> make(Kind kind, const Reads &reads, const std::string &directory)
{
    switch (kind) {
    case Kind::Stackful:
        return std::make_unique<StackfulRead<OnWorker>>(reads, directory);
    case Kind::StackfulPool:
        return std::make_unique<StackfulRead<ByPool>>(reads, directory);
    case Kind::StackfulUring:
        return std::make_unique<StackfulRead<ByRing>>(reads, directory);
    case Kind::Stackless:
        return std::make_unique<LazyRead<OnWorker, readLazily<OnWorker>>>(reads, directory);
    case Kind::StacklessPool:
        return std::make_unique<LazyRead<ByPool, readLazily<ByPool>>>(reads, directory);
    case Kind::StacklessUring:
        return std::make_unique<LazyRead<ByRing, readLazily<ByRing>>>(reads, directory);
    case Kind::StacklessAio:
        return std::make_unique<LazyRead<ByAio, readLazily<ByAio>>>(reads, directory);
    case Kind::Hybrid:
        return std::make_unique<LazyRead<OnWorker, readOnStack<OnWorker>>>(reads, directory);
    default:
        throw std::invalid_argument("there is no such read");
    }
}

} // namespace

std::string missing(const Case &c, const std::string &directory)
{
    try {
        if (c.kind == Kind::StackfulUring || c.kind == Kind::StacklessUring) {
            coro::WakeUp wakeUp;
            coro::Ring ring(wakeUp.file());
        }
        if (c.kind == Kind::StacklessAio)
            Aio aio(1);
        if (c.family == Family::DirectRead)
            TempFile(directory, 0).bypassCache();
    } catch (const std::exception &error) {
        return error.what();
    }
    return "";
}

std::unique_ptr<Scenario> makeRead(Kind kind, unsigned kib, const std::string &directory)
{
    return make(kind, {.size = std::size_t{kib} * 1024, .tasks = tasksOfARound, .depth = 1}, directory);
}

std::unique_ptr<Scenario> makeDirectRead(Kind kind, unsigned kib, const std::string &directory)
{
    return make(kind, {.size = std::size_t{kib} * 1024, .tasks = tasksOfARound, .depth = 1, .direct = true}, directory);
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
