/*
 * lzlog bench: how fast it is, for people. Requests of three records with a pause behind each third, from one thread and from
 * several; every rate is over the time that was measured, not over the time that was planned.
 */
#define _GNU_SOURCE
#include "people.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lzlog.h"

enum { RECORDS_PER_REQUEST = 3, THREADS_MAX = 1000, LINE_MAX_BYTES = 256, CHECK_EVERY = 64 };

struct scenario {
    const char *name;
    long gap_ns;
    unsigned threads;
    bool encrypted;
    double seconds;
};

/* Rates are records a second: of all threads together, and of the slowest and the fastest one. */
struct rates {
    double all, least, most;
};

struct worker {
    const struct scenario *scenario;
    struct lzlog *log;
    pthread_barrier_t *start;
    pthread_t thread;
    unsigned number;
    uint64_t records;
    double seconds;
    enum lzlog_status status;
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void request(struct worker *w, struct lzlog_writer *writer)
{
    const struct timespec part = {.tv_nsec = w->scenario->gap_ns / RECORDS_PER_REQUEST};
    for (int i = 0; i < RECORDS_PER_REQUEST && w->status == LZLOG_OK; i++) {
        char line[LINE_MAX_BYTES];
        int size = snprintf(line, sizeof(line), "INFO thread %u request %llu step %d: the caller formats, lzlog copies; 120 bytes or so .....",
                            w->number, (unsigned long long)(w->records / RECORDS_PER_REQUEST), i);
        w->status = lzlog_write(writer, line, (size_t)size);
        w->records += w->status == LZLOG_OK;
        if (part.tv_nsec > 0)
            nanosleep(&part, NULL);
    }
}

static void *work(void *argument)
{
    struct worker *w = argument;
    struct lzlog_writer *writer = lzlog_writer_open(w->log);
    pthread_barrier_wait(w->start);
    double begin = now();
    w->status = writer == NULL ? LZLOG_FAILED : LZLOG_OK;
    for (uint64_t n = 0; w->status == LZLOG_OK; n++) {
        request(w, writer);
        w->seconds = now() - begin;
        if ((w->scenario->gap_ns > 0 || n % CHECK_EVERY == 0) && w->seconds >= w->scenario->seconds)
            break;
    }
    if (writer != NULL)
        lzlog_writer_close(writer);
    return NULL;
}

static void add_rate(struct rates *rates, double rate)
{
    rates->least = rates->all == 0 || rate < rates->least ? rate : rates->least;
    rates->most = rate > rates->most ? rate : rates->most;
    rates->all += rate;
}

/* run_workers returns the rates of all workers; 0 when one failed. */
static struct rates run_workers(const struct scenario *scenario, struct lzlog *log)
{
    struct worker *workers = calloc(scenario->threads, sizeof(*workers));
    pthread_barrier_t start;
    if (workers == NULL || pthread_barrier_init(&start, NULL, scenario->threads) != 0) {
        free(workers);
        return (struct rates){0};
    }
    for (unsigned i = 0; i < scenario->threads; i++) {
        workers[i] = (struct worker){.scenario = scenario, .log = log, .start = &start, .number = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            fprintf(stderr, "lzlog: there are not enough threads\n");
            exit(1); /* the others wait for it */
        }
    }
    struct rates rates = {0};
    bool done = true;
    for (unsigned i = 0; i < scenario->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        done = done && workers[i].status == LZLOG_OK && workers[i].seconds > 0;
        add_rate(&rates, workers[i].seconds > 0 ? (double)workers[i].records / workers[i].seconds : 0);
    }
    pthread_barrier_destroy(&start);
    free(workers);
    return done ? rates : (struct rates){0};
}

static void remove_log(const char *dir)
{
    DIR *d = opendir(dir);
    const struct dirent *entry;
    while (d != NULL && (entry = readdir(d)) != NULL)
        unlinkat(dirfd(d), entry->d_name, 0); /* refuses "." and ".." */
    if (d != NULL)
        closedir(d);
    if (rmdir(dir) != 0)
        fprintf(stderr, "lzlog: %s cannot be removed: %s\n", dir, strerror(errno));
}

/* measure returns a scenario's rates; 0 when it failed, which it says. */
static struct rates measure(const struct scenario *scenario, const char *dir)
{
    static const uint8_t key[LZLOG_KEY_SIZE] = "a key for benchmarks, no secret";
    char path[4096], why[LZLOG_WHY_SIZE];
    if (snprintf(path, sizeof(path), "%s/lzlog-people-XXXXXX", dir) >= (int)sizeof(path) || mkdtemp(path) == NULL) {
        fprintf(stderr, "lzlog: no folder can be made in %s: %s\n", dir, strerror(errno));
        return (struct rates){0};
    }
    struct lzlog_options options = {.dir = path, .key = scenario->encrypted ? key : NULL};
    struct lzlog *log = lzlog_open(&options, why);
    struct rates rates = {0};
    if (log == NULL)
        fprintf(stderr, "lzlog: %s\n", why);
    else {
        rates = run_workers(scenario, log);
        lzlog_close(log);
        if (rates.all == 0)
            fprintf(stderr, "lzlog: %s failed\n", scenario->name);
    }
    remove_log(path);
    return rates;
}

int people_bench(const char *dir, unsigned threads, double seconds)
{
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "lzlog: there can be 1 to %d threads\n", THREADS_MAX);
        return 2;
    }
    static const struct {
        const char *name;
        long gap_ns;
        bool encrypted;
    } rows[] = {
        {"no gap", 0, false}, {"no gap, encrypted", 0, true}, {"gap 100 us", 100000, false}, {"gap 1 ms", 1000000, false},
        {"gap 10 ms", 10000000, false},
    };
    printf("Records a second, formatting included; %g s each; scaling is the rate of %u threads over %u times that of one.\n", seconds, threads,
           threads);
    printf("%-20s %12s %12s %8s %12s %12s\n", "", "1 thread", "all threads", "scaling", "slowest", "fastest");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct scenario one = {rows[i].name, rows[i].gap_ns, 1, rows[i].encrypted, seconds}, all = one;
        all.threads = threads;
        struct rates single = measure(&one, dir), together = single.all > 0 ? measure(&all, dir) : single;
        if (together.all == 0)
            return 1;
        printf("%-20s %12.0f %12.0f %7.0f%% %12.0f %12.0f\n", rows[i].name, single.all, together.all,
               100 * together.all / (single.all * threads), together.least, together.most);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
