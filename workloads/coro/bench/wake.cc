/*
 * What it takes to wake a coroutine on the worker that it belongs to: a job is queued, taken out and called. Once by the queue that workers
 * have for themselves, which nobody else touches; once by one that other workers could steal from, as schedulers have it that spread
 * the work. Nobody steals here: it is the price of being able to.
 */
#include "scenario.h"

#include "job.h"

#include <array>
#include <atomic>
#include <utility>

namespace bench {
namespace {

constexpr std::size_t batch = 64; /* jobs that are ready at a time */

struct CountedJob : coro::Job {
    CountedJob() : Job([](Job &job) { static_cast<CountedJob &>(job).runs++; }) {}
    std::uint64_t runs = 0;
};

/* OwnQueue is that of coro::Worker. */
class OwnQueue {
  public:
    void push(coro::Job &job)
    {
        job.next = nullptr;
        *end_ = &job;
        end_ = &job.next;
    }

    void runAll()
    {
        coro::Job *job = std::exchange(first_, nullptr);
        end_ = &first_;
        while (job != nullptr) {
            coro::Job *next = job->next;
            job->run(*job);
            job = next;
        }
    }

  private:
    coro::Job *first_ = nullptr;
    coro::Job **end_ = &first_;
};

/*
 * StealableQueue is a ring with room for 256, in the order of arrival. The owner adds at the tail; whoever takes from the head, the owner
 * too, does so by a compare-and-swap, or two could take the same.
 */
class StealableQueue {
  public:
    void push(coro::Job &job)
    {
        const std::size_t tail = tail_.load(std::memory_order_relaxed); /* batches fit */
        places_[tail % places_.size()].store(&job, std::memory_order_relaxed);
        tail_.store(tail + 1, std::memory_order_release);
    }

    coro::Job *take()
    {
        std::size_t head = head_.load(std::memory_order_acquire);
        while (head != tail_.load(std::memory_order_acquire)) {
            coro::Job *job = places_[head % places_.size()].load(std::memory_order_relaxed);
            if (head_.compare_exchange_weak(head, head + 1, std::memory_order_acq_rel, std::memory_order_acquire))
                return job;
        }
        return nullptr;
    }

    void runAll()
    {
        while (coro::Job *job = take())
            job->run(*job);
    }

  private:
    alignas(64) std::atomic<std::size_t> head_{0};
    alignas(64) std::atomic<std::size_t> tail_{0};
    std::array<std::atomic<coro::Job *>, 256> places_{};
};

template <class Queue> class Wake : public Scenario {
  public:
    std::uint64_t run(std::uint64_t rounds) override
    {
        for (std::uint64_t i = 0; i < rounds; i++) {
            for (CountedJob &job : jobs_) {
                queue_.push(job);
                asm volatile("" : : : "memory"); /* each by itself, as a wake is */
            }
            queue_.runAll();
        }
        rounds_ += rounds;
        return rounds * batch;
    }

    void verify() override
    {
        for (const CountedJob &job : jobs_) {
            if (job.runs != rounds_)
                throw Wrong("a job was not run once for each time that it was queued");
        }
    }

  private:
    Queue queue_;
    std::array<CountedJob, batch> jobs_;
    std::uint64_t rounds_ = 0;
};

} // namespace

std::unique_ptr<Scenario> makeWake(Kind kind)
{
    switch (kind) {
    case Kind::OwnQueue:
        return std::make_unique<Wake<OwnQueue>>();
    case Kind::StealableQueue:
        return std::make_unique<Wake<StealableQueue>>();
    default:
        throw std::invalid_argument("there is no such queue");
    }
}

} // namespace bench
