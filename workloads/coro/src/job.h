/* Job is what an executor runs: a link and a function, part of whatever is to be run, so that queueing takes no memory. */
#pragma once

#include <concepts>

namespace coro {

class Home;

struct Job {
    using Run = void (*)(Job &);

    explicit Job(Run r) : run(r) {}
    Job(const Job &) = delete;
    Job &operator=(const Job &) = delete;

    Run run;
    Job *next = nullptr; /* the queue's */
};

/* Continuation is a job that knows the worker it belongs to: a suspended coroutine. */
struct Continuation : Job {
    Continuation(Run r, Home *h) : Job(r), home(h) {}

    void wake(); /* from any thread: run on the worker it belongs to, if that is still there */

    Home *home; /* nullptr off the workers, where nothing can be waited for */
};

/*
 * Operation is what both kinds of coroutine can wait for: start() either keeps the continuation, to wake it once, or returns false
 * because there is nothing to wait for; result() is called once, when it is over.
 *
 * A continuation is only ever run by its own worker, on which start() is called too. So it cannot run before the coroutine that
 * called start() is suspended, and start() needs no lock against that.
 */
template <class Op>
concept Operation = requires(Op &op, Continuation &continuation) {
    { op.start(continuation) } -> std::same_as<bool>;
    op.result();
};

} // namespace coro
