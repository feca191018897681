/* One cell: rounds of threads that write batches until there is enough time and enough data. */
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"

/* A single-thread cell writes at least 1 GiB, so that it meets everything that a file can cost. */
enum { LEAST_RECORDS = 8900 * BATCH };

unsigned divisor = 1;

static volatile sig_atomic_t interrupted;

struct round {
    const struct peer *peer;
    void *self;
    uint64_t quota;          /* of records, for each thread */
    double seconds;          /* stop after so long */
    uint64_t least;          /* but not before so many records (one thread) */
    pthread_barrier_t start; /* of the threads and of the clock */
};

struct worker {
    struct round *round;
    pthread_t thread;
    uint64_t records;
    double cpu; /* seconds of the thread's own */
    bool failed;
};

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *work(void *argument)
{
    struct worker *w = argument;
    const struct peer *peer = w->round->peer;
    void *self = peer->enter(w->round->self);
    pthread_barrier_wait(&w->round->start);
    double end = seconds_of(CLOCK_MONOTONIC) + w->round->seconds, cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    w->failed = self == NULL;
    while (!w->failed && !interrupted && w->records < w->round->quota) {
        w->failed = !peer->batch(self, BATCH);
        w->records += BATCH;
        if (w->records >= w->round->least && seconds_of(CLOCK_MONOTONIC) >= end)
            break;
    }
    w->cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
    if (self != NULL)
        peer->leave(self);
    return NULL;
}

/* run_round adds one round to the total. It returns false when something failed. */
static bool run_round(struct round *round, struct cost *total, uint64_t *records)
{
    const struct peer *peer = round->peer;
    struct worker workers[THREADS_MAX];
    if (!peer->begin(round->self))
        return false;
    pthread_barrier_init(&round->start, NULL, peer->threads + 1);
    for (unsigned i = 0; i < peer->threads; i++) {
        workers[i] = (struct worker){.round = round};
        int failed = pthread_create(&workers[i].thread, NULL, work, &workers[i]);
        if (failed != 0) { /* those that wait at the barrier cannot be told */
            fprintf(stderr, "lzlog-bench: there is no thread: %s\n", strerror(failed));
            exit(1);
        }
    }
    pthread_barrier_wait(&round->start);
    double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    bool done = true;
    *records = 0;
    for (unsigned i = 0; i < peer->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        *records += workers[i].records;
        total->writers_cpu += workers[i].cpu;
        done = done && !workers[i].failed;
    }
    done = peer->finish(round->self) && done;
    total->wall += seconds_of(CLOCK_MONOTONIC) - wall;
    total->cpu += seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    total->records += *records;
    pthread_barrier_destroy(&round->start);
    return done && !interrupted;
}

static bool check(const struct round *round, uint64_t records, bool last)
{
    const char *fault = round->peer->fault(round->self, records, last);
    if (fault != NULL)
        fprintf(stderr, "lzlog-bench: %s: %s\n", round->peer->name, fault);
    return fault == NULL;
}

static bool run(struct round *round, double seconds, struct cost *total)
{
    const struct peer *peer = round->peer;
    uint64_t records, all = peer->round != 0 ? peer->round / divisor / peer->threads : UINT64_MAX;
    uint64_t least = peer->threads == 1 ? LEAST_RECORDS / divisor : 0;
    struct cost warm = {0};
    *total = (struct cost){0};
    round->quota = peer->warm_up / divisor / peer->threads;
    round->seconds = 1e9;
    if (!run_round(round, &warm, &records) || !check(round, records, false))
        return false;
    while (total->records < least || total->wall < seconds) {
        round->quota = all;
        round->seconds = seconds - total->wall;
        round->least = least > total->records ? least - total->records : 0;
        if (!run_round(round, total, &records))
            return false;
        if (!check(round, records, total->records >= least && total->wall >= seconds))
            return false;
    }
    return true;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

static void on_signal(int number)
{
    (void)number;
    interrupted = 1; /* so that the files are removed */
}

bool cell_interrupted(void)
{
    return interrupted;
}

bool cell_measure(const struct peer *peer, const char *dir, double seconds, struct cost *cost)
{
    char path[4096];
    int length = snprintf(path, sizeof(path), "%s/lzlog-bench-XXXXXX", dir);
    if (length < 0 || (size_t)length >= sizeof(path) || mkdtemp(path) == NULL) {
        fprintf(stderr, "lzlog-bench: no folder can be made in %s: %s\n", dir, strerror(errno));
        return false;
    }
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
    struct round round = {.peer = peer, .self = peer->open(peer, path)};
    bool done = round.self != NULL && run(&round, seconds, cost);
    if (round.self != NULL)
        peer->close(round.self);
    if (nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
        fprintf(stderr, "lzlog-bench: %s cannot be removed: %s\n", path, strerror(errno));
    if (!done)
        fprintf(stderr, "lzlog-bench: %s did not succeed\n", peer->name);
    return done;
}

int cell_run(const struct peer *peer, const char *dir, double seconds)
{
    struct cost cost;
    if (!cell_measure(peer, dir, seconds, &cost))
        return 1;
    printf("{\"case\":\"%s\",\"operations\":%" PRIu64 ",\"wallSeconds\":%.6f,\"cpuSeconds\":%.6f,\"writersCPUSeconds\":%.6f}\n", peer->name,
           cost.records, cost.wall, cost.cpu, cost.writers_cpu);
    return fflush(stdout) == 0 ? 0 : 1;
}
