/*
 * Ring: io_uring, as one worker uses it. What the worker's coroutines want to read is handed to the kernel together, by one system
 * call when all that was ready has run. By the same call an idle worker sleeps, until a read has ended or another thread wakes it: the
 * ring watches the descriptor by which that is done, too.
 */
#pragma once

#include <liburing.h>

namespace coro {

class FileRead;
struct Job;

/* The thread that makes a ring is the one that uses it. */
class Ring {
  public:
    /* The descriptor is an eventfd. It throws std::system_error where the kernel makes no ring, as where a filter forbids it. */
    explicit Ring(int wakeUp);
    ~Ring() { io_uring_queue_exit(&ring_); }
    Ring(const Ring &) = delete;
    Ring &operator=(const Ring &) = delete;

    /* push has the kernel asked for a read in the next turn, or later while too many are in flight. Its end wakes who waits for it. */
    void push(FileRead &read);

    bool isIdle() const { return first_ == nullptr && inFlight_ == 0; }

    /*
     * turn asks for what was pushed, sleeps until so many reads or wake-ups have come to an end, and deals with those that have. It returns
     * whether a wake-up is among them, which is then to be taken from its descriptor. A signal cuts the sleep short.
     */
    bool turn(unsigned ends);

  private:
    void prepareWakeUp();
    void prepareReads();
    bool takeEnds();

    io_uring ring_{};
    int wakeUp_;
    unsigned inFlight_ = 0; /* reads that the kernel has, or gets with the next call */
    Job *first_ = nullptr;  /* of the reads that wait for their turn */
    Job **end_ = &first_;
};

} // namespace coro
