/*
 * Aio: the kernel's older way to read asynchronously, which libaio calls, as the described system uses it: one system call for each read,
 * and a thread that collects their ends. The kernel reads from the page cache within that call.
 */
#pragma once

#include "file_read.h"

#include <array>
#include <cerrno>
#include <linux/aio_abi.h>
#include <sys/syscall.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace bench {

class AioRead;

class Aio {
  public:
    explicit Aio(unsigned places) /* reads in flight at most */
    {
        if (syscall(SYS_io_setup, places, &context_) != 0)
            throw std::system_error(errno, std::generic_category(), "io_setup");
        thread_ = std::thread([this] { collect(); });
    }
    ~Aio() /* no read is in flight */
    {
        stopping_.store(true, std::memory_order_relaxed);
        thread_.join();
        syscall(SYS_io_destroy, context_);
    }
    Aio(const Aio &) = delete;
    Aio &operator=(const Aio &) = delete;

    void push(AioRead &read);

  private:
    void collect();
    void take(const io_event &event);

    aio_context_t context_ = 0;
    std::atomic<bool> stopping_{false};
    std::atomic<unsigned> handedOver_{0}; /* orders what both threads know of a read; that the kernel does, no tool sees */
    std::thread thread_;
};

/* AioRead is a read by it. */
class AioRead : public coro::FileRead {
  public:
    AioRead(Aio &aio, int file, std::span<std::byte> into, off_t offset) : FileRead(file, into, offset), aio_(&aio) {}

    bool start(coro::Continuation &continuation)
    {
        waitsFor(continuation);
        if (left().empty())
            return false;
        aio_->push(*this);
        return true;
    }

    /* request describes what is left to be read. */
    iocb &request()
    {
        request_ = {};
        request_.aio_data = reinterpret_cast<std::uintptr_t>(this);
        request_.aio_lio_opcode = IOCB_CMD_PREAD;
        request_.aio_fildes = static_cast<std::uint32_t>(file());
        request_.aio_buf = reinterpret_cast<std::uintptr_t>(left().data());
        request_.aio_nbytes = left().size();
        request_.aio_offset = offset();
        return request_;
    }

  private:
    Aio *aio_;
    iocb request_{};
};

inline void Aio::push(AioRead &read)
{
    iocb *request = &read.request();
    handedOver_.fetch_add(1, std::memory_order_acq_rel);
    if (syscall(SYS_io_submit, context_, 1, &request) == 1)
        return; /* from here on it may be gone */
    read.note(-errno);
    read.end();
}

inline void Aio::take(const io_event &event)
{
    auto &read = *reinterpret_cast<AioRead *>(event.data);
    if (read.note(static_cast<ssize_t>(event.res)))
        push(read);
    else
        read.end();
}

/* The thread looks now and then whether it is to end. */
inline void Aio::collect()
{
    std::array<io_event, 64> events;
    while (!stopping_.load(std::memory_order_relaxed)) {
        timespec limit{.tv_sec = 0, .tv_nsec = 10'000'000};
        const long ended = syscall(SYS_io_getevents, context_, 1, events.size(), events.data(), &limit);
        handedOver_.fetch_add(1, std::memory_order_acq_rel);
        for (long i = 0; i < ended; i++)
            take(events[static_cast<std::size_t>(i)]);
    }
}

} // namespace bench
