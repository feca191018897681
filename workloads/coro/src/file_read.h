/* Reads of files, as operations. Both kinds of coroutine read through them, and so do the same to the kernel. */
#pragma once

#include "executor.h"
#include "ring.h"

#include <cerrno>
#include <cstddef>
#include <span>
#include <system_error>
#include <unistd.h>

namespace coro {

/*
 * FileRead is what all ways to read have in common: what is still to be read, what came of it, and who waits for that. As a job, it reads
 * all of it on the thread that runs the job. What it reads into has to stay until it has ended.
 */
class FileRead : public Job {
  public:
    FileRead(int file, std::span<std::byte> into, off_t offset) : Job(runJob), file_(file), offset_(offset), into_(into) {}

    /* result says how much was read: less than was asked for only at the end of the file. It throws std::system_error. */
    std::size_t result() const
    {
        if (error_ != 0)
            throw std::system_error(error_, std::generic_category(), "reading a file");
        return done_;
    }

    int file() const { return file_; }
    std::span<std::byte> left() const { return into_.subspan(done_); }
    off_t offset() const { return offset_ + static_cast<off_t>(done_); } /* of what is left */

    /*
     * note keeps what the kernel said of what was left: how many bytes it has read, none of them at the end of the file, or a negative
     * errno. It returns whether the rest is to be asked for.
     */
    bool note(ssize_t said)
    {
        if (said == -EINTR)
            return true;
        if (said < 0)
            error_ = static_cast<int>(-said);
        if (said <= 0)
            return false;
        done_ += static_cast<std::size_t>(said);
        return done_ < into_.size();
    }

    void end() { waiting_->wake(); }

  protected:
    void waitsFor(Continuation &continuation) { waiting_ = &continuation; }

  private:
    static void runJob(Job &job)
    {
        auto &read = static_cast<FileRead &>(job);
        while (!read.left().empty() && read.note(read.once()))
            ;
        read.end();
    }

    ssize_t once() const
    {
        const ssize_t n = pread(file_, left().data(), left().size(), offset());
        return n < 0 ? -errno : n;
    }

    int file_;
    int error_ = 0;
    off_t offset_;
    std::span<std::byte> into_;
    std::size_t done_ = 0;
    Continuation *waiting_ = nullptr;
};

/*
 * ReadAt is queued on the worker and done when its turn comes. Files in the page cache leave nothing to wait for; for others, all that is
 * queued on the worker waits.
 */
class ReadAt : public FileRead {
  public:
    using FileRead::FileRead;

    bool start(Continuation &continuation)
    {
        waitsFor(continuation);
        continuation.home->push(*this);
        return true;
    }
};

/*
 * AsyncRead is done by the kernel while the worker runs others, or as ReadAt where the worker gets no ring: Executor::ringError() says
 * why. It is for files; a pipe or a socket that nobody writes to would keep the executor from going.
 */
class AsyncRead : public FileRead {
  public:
    using FileRead::FileRead;

    bool start(Continuation &continuation)
    {
        waitsFor(continuation);
        if (left().empty())
            return false;
        if (Ring *ring = Worker::current()->ring())
            ring->push(*this);
        else
            continuation.home->push(*this);
        return true;
    }
};

} // namespace coro
