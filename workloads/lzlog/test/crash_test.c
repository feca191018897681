/* Ends that nobody chose. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 4, KILLS = 12, RECORDS = 200 };

/* What the writers say that they have written, in memory that survives them. */
struct promises {
    _Atomic uint64_t written[THREADS]; /* records whose writes have returned */
};

struct worker {
    struct lzlog *log;
    struct promises *promises;
    unsigned number;
};

static void *write_for_ever(void *argument)
{
    struct worker *w = argument;
    static _Thread_local uint8_t data[LZLOG_RECORD_MAX + 8];
    struct lzlog_writer *writer = writer_or_die(w->log);
    for (uint64_t i = atomic_load(&w->promises->written[w->number]);; i++) {
        CHECK(lzlog_write(writer, data, make_record(w->number, i, data)) == LZLOG_OK);
        atomic_store(&w->promises->written[w->number], i + 1);
    }
    return NULL;
}

static pid_t start_child(const struct lzlog_options *options, struct promises *promises)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0)
        return child;
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0); /* should the test fail, nobody else would end it */
    struct lzlog *log = open_or_die(options);
    struct worker workers[THREADS];
    pthread_t thread;
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){log, promises, i};
        CHECK(pthread_create(&thread, NULL, write_for_ever, &workers[i]) == 0);
    }
    for (;;)
        pause();
}

/* A record that was written when its thread was killed may be there unacknowledged; then the next session writes it again. */
static void take_back(const char *dir, const uint8_t *key, struct promises *promises)
{
    struct seen seen;
    read_log(dir, key, &seen);
    CHECK(seen.defects <= (uint64_t)THREADS * KILLS);
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t promised = atomic_load(&promises->written[i]);
        CHECK(seen.next[i] == 0 || (seen.next[i] >= promised && seen.next[i] <= promised + 1));
        CHECK(seen.next[i] != 0 || promised == 0);
        CHECK(seen.first[i] == 0);
        atomic_store(&promises->written[i], seen.next[i]);
    }
}

static uint64_t acknowledged(struct promises *promises)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < THREADS; i++)
        all += atomic_load(&promises->written[i]);
    return all;
}

/* Waits until the writers have acknowledged more records, however slow the machine is. */
static void await_records(struct promises *promises, uint64_t more, pid_t child)
{
    uint64_t target = acknowledged(promises) + more;
    while (acknowledged(promises) < target) {
        CHECK(waitpid(child, NULL, WNOHANG) == 0);
        usleep(200);
    }
}

static void kill_writers(enum lzlog_reservation r, const uint8_t *key)
{
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, (int)r + (key != NULL ? 10 : 0));
    struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN * 4, .files = LZLOG_FILES_MAX, .reservation = r,
                                    .key = key};
    struct promises *promises = mmap(NULL, sizeof(*promises), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(promises != MAP_FAILED);
    uint64_t state = 11 + r;
    for (int i = 0; i < KILLS; i++) {
        pid_t child = start_child(&options, promises);
        if (i % 2 == 0)
            await_records(promises, RECORDS, child);
        usleep((unsigned)(next_random(&state) % 15000)); /* also while the log is being opened */
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        if (access(dir, F_OK) == 0)
            take_back(dir, options.key, promises);
    }
    CHECK(acknowledged(promises) >= RECORDS * KILLS / 2);
    munmap(promises, sizeof(*promises));
}

static void kills_lose_nothing(void)
{
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++)
        kill_writers(r, NULL);
}

static void kills_lose_nothing_encrypted(void)
{
    kill_writers(LZLOG_FETCH_ADD, test_key);
}

/* With files recycled all the time: whatever is kept is the end of what each thread wrote. */
static void kills_while_recycling(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = 4};
    struct promises *promises = mmap(NULL, sizeof(*promises), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(promises != MAP_FAILED);
    uint64_t state = 5;
    for (int i = 0; i < 2 * KILLS; i++) {
        pid_t child = start_child(&options, promises);
        if (i % 2 == 0)
            await_records(promises, RECORDS, child);
        usleep((unsigned)(next_random(&state) % 15000)); /* also while the log is being opened */
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        struct seen seen;
        read_log(scratch_dir, NULL, &seen); /* it checks that no number is missing between those kept */
        for (unsigned t = 0; t < THREADS; t++) {
            uint64_t promised = atomic_load(&promises->written[t]);
            CHECK(seen.next[t] == 0 || (seen.next[t] >= promised && seen.next[t] <= promised + 1));
            if (seen.next[t] != 0)
                atomic_store(&promises->written[t], seen.next[t]);
        }
    }
    munmap(promises, sizeof(*promises));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a kill at any moment loses no record whose write had returned", kills_lose_nothing},
        {"nor when it is encrypted", kills_lose_nothing_encrypted},
        {"nor while files are recycled", kills_while_recycling},
    };
    return RUN_TESTS("crash", tests, argc > 1 ? argv[1] : "/tmp");
}
