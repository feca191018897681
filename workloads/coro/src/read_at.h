/* ReadAt: a read of a file, as an operation. Both kinds of coroutine read through it, and so do the same to the kernel. */
#pragma once

#include "executor.h"

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>
#include <unistd.h>

namespace coro {

/*
 * The read is queued on the worker and done when its turn comes. Files in the page cache leave nothing to wait for, and the kernel
 * would do asynchronous reads of them on the spot, too.
 */
class ReadAt : Job {
  public:
    ReadAt(int file, std::span<std::byte> into, off_t offset) : Job(runJob), file_(file), offset_(offset), into_(into) {}

    bool start(Continuation &continuation)
    {
        waiting_ = &continuation;
        continuation.home->push(*this);
        return true;
    }

    /* result says how much was read: less than was asked for only at the end of the file. */
    std::size_t result() const
    {
        if (error_ != 0)
            throw std::system_error(error_, std::generic_category(), "pread");
        return done_;
    }

  private:
    static void runJob(Job &job)
    {
        auto &read = static_cast<ReadAt &>(job);
        read.all();
        read.waiting_->wake();
    }

    void all()
    {
        while (done_ < into_.size()) {
            ssize_t n = pread(file_, into_.data() + done_, into_.size() - done_, offset_ + static_cast<off_t>(done_));
            if (n < 0 && errno == EINTR)
                continue;
            if (n < 0)
                error_ = errno;
            if (n <= 0)
                return;
            done_ += static_cast<std::size_t>(n);
        }
    }

    int file_;
    int error_ = 0;
    off_t offset_;
    std::span<std::byte> into_;
    std::size_t done_ = 0;
    Continuation *waiting_ = nullptr;
};

} // namespace coro
