#include "ring.h"

#include "file_read.h"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <poll.h>
#include <system_error>

namespace coro {
namespace {

constexpr unsigned places = 256;
constexpr unsigned mostReads = places - 1;            /* in flight: one place is the wake-up's */
constexpr std::size_t mostBytes = std::size_t{1} << 30; /* of one request, whose end is an int */

[[noreturn]] void fail(int error)
{
    throw std::system_error(error, std::generic_category(), "io_uring");
}

/* make asks first for a ring of one thread, whose ends are dealt with when that thread asks for them: Linux 6.1 has it. */
int make(io_uring &ring)
{
    const int made =
        io_uring_queue_init(places, &ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG);
    return made == -EINVAL ? io_uring_queue_init(places, &ring, 0) : made;
}

} // namespace

Ring::Ring(int wakeUp) : wakeUp_(wakeUp)
{
    if (const int made = make(ring_); made < 0)
        fail(-made);
    prepareWakeUp();
    /* A kernel that polls by itself, Linux 5.7, has all that is asked of it here. */
    const int asked = (ring_.features & IORING_FEAT_FAST_POLL) != 0 ? io_uring_submit(&ring_) : -ENOSYS;
    if (asked < 0) {
        io_uring_queue_exit(&ring_);
        fail(-asked);
    }
}

void Ring::push(FileRead &read)
{
    read.next = nullptr;
    *end_ = &read;
    end_ = &read.next;
}

bool Ring::turn(unsigned ends)
{
    prepareReads();
    const int asked = io_uring_submit_and_wait(&ring_, ends);
    /* These leave what they did not take for the next turn. */
    if (asked < 0 && asked != -EINTR && asked != -EAGAIN && asked != -EBUSY)
        fail(-asked);
    return takeEnds();
}

void Ring::prepareWakeUp()
{
    io_uring_sqe *entry = io_uring_get_sqe(&ring_);
    io_uring_prep_poll_add(entry, wakeUp_, POLLIN);
    io_uring_sqe_set_data(entry, nullptr);
}

void Ring::prepareReads()
{
    for (; first_ != nullptr && inFlight_ < mostReads; inFlight_++) {
        auto &read = static_cast<FileRead &>(*first_);
        first_ = read.next;
        if (first_ == nullptr)
            end_ = &first_;
        io_uring_sqe *entry = io_uring_get_sqe(&ring_);
        const auto left = read.left();
        io_uring_prep_read(entry, read.file(), left.data(), static_cast<unsigned>(std::min(left.size(), mostBytes)),
                           static_cast<std::uint64_t>(read.offset()));
        io_uring_sqe_set_data(entry, &read);
    }
}

bool Ring::takeEnds()
{
    bool woken = false;
    io_uring_cqe *ended;
    while (io_uring_peek_cqe(&ring_, &ended) == 0) {
        auto *read = static_cast<FileRead *>(io_uring_cqe_get_data(ended));
        const int said = ended->res;
        io_uring_cqe_seen(&ring_, ended);
        if (read == nullptr) {
            woken |= said > 0;
            prepareWakeUp();
            continue;
        }
        inFlight_--;
        if (read->note(said))
            push(*read);
        else
            read->end();
    }
    return woken;
}

} // namespace coro
