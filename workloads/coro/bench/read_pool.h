/*
 * ReadPool: threads that block in reads, which is what is done where a kernel or a file system reads nothing asynchronously. It is made as
 * libuv's is: one queue with a lock, and a wake-up for each job while a thread sleeps.
 */
#pragma once

#include "file_read.h"

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace bench {

class ReadPool {
  public:
    explicit ReadPool(unsigned threads)
    {
        for (unsigned i = 0; i < threads; i++)
            threads_.emplace_back([this] { loop(); });
    }
    ~ReadPool() /* runs what is queued */
    {
        {
            std::lock_guard lock(mutex_);
            stopping_ = true;
        }
        wakeUp_.notify_all();
        for (auto &thread : threads_)
            thread.join();
    }
    ReadPool(const ReadPool &) = delete;
    ReadPool &operator=(const ReadPool &) = delete;

    void push(coro::Job &job)
    {
        bool asleep;
        {
            std::lock_guard lock(mutex_);
            job.next = nullptr;
            *end_ = &job;
            end_ = &job.next;
            asleep = asleep_ > 0;
        }
        if (asleep)
            wakeUp_.notify_one();
    }

  private:
    void loop()
    {
        while (coro::Job *job = take())
            job->run(*job);
    }

    /* take waits for a job. It returns nullptr when there will be none any more. */
    coro::Job *take()
    {
        std::unique_lock lock(mutex_);
        while (first_ == nullptr && !stopping_) {
            asleep_++;
            wakeUp_.wait(lock);
            asleep_--;
        }
        coro::Job *job = first_;
        if (job != nullptr)
            first_ = job->next;
        if (first_ == nullptr)
            end_ = &first_;
        return job;
    }

    std::mutex mutex_;
    std::condition_variable wakeUp_;
    coro::Job *first_ = nullptr;
    coro::Job **end_ = &first_;
    unsigned asleep_ = 0;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

/* PooledRead is a read that a thread of a pool does. */
class PooledRead : public coro::FileRead {
  public:
    PooledRead(ReadPool &pool, int file, std::span<std::byte> into, off_t offset) : FileRead(file, into, offset), pool_(&pool) {}

    bool start(coro::Continuation &continuation)
    {
        waitsFor(continuation);
        pool_->push(*this);
        return true;
    }

  private:
    ReadPool *pool_;
};

} // namespace bench
