/* Ends that nobody chose: kills, full disks, limits. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 4, KILLS = 12 };

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
static void take_back(const char *dir, const struct lzlog_secret *secret, struct promises *promises)
{
    struct seen seen;
    read_log(dir, secret, &seen);
    CHECK(seen.defects <= (uint64_t)THREADS * KILLS);
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t promised = atomic_load(&promises->written[i]);
        CHECK(seen.next[i] == 0 || (seen.next[i] >= promised && seen.next[i] <= promised + 1));
        CHECK(seen.next[i] != 0 || promised == 0);
        CHECK(seen.first[i] == 0);
        atomic_store(&promises->written[i], seen.next[i]);
    }
}

static void kill_writers(enum lzlog_reservation r, const uint8_t *key)
{
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, (int)r + (key != NULL ? 10 : 0));
    struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN * 4, .files = LZLOG_FILES_MAX, .reservation = r,
                                    .secret = {.key = key}};
    struct promises *promises = mmap(NULL, sizeof(*promises), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(promises != MAP_FAILED);
    uint64_t state = 11 + r;
    for (int i = 0; i < KILLS; i++) {
        pid_t child = start_child(&options, promises);
        usleep(3000 + (unsigned)(next_random(&state) % 12000));
        CHECK(kill(child, SIGKILL) == 0 && waitpid(child, NULL, 0) == child);
        if (access(dir, F_OK) == 0)
            take_back(dir, &options.secret, promises);
    }
    uint64_t all = 0;
    for (unsigned i = 0; i < THREADS; i++)
        all += atomic_load(&promises->written[i]);
    CHECK(all > 1000);
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
        usleep(3000 + (unsigned)(next_random(&state) % 12000));
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

static void write_more(struct lzlog_writer *writer, uint64_t *number, enum lzlog_status until)
{
    static uint8_t data[LZLOG_RECORD_MAX + 8];
    enum lzlog_status status = LZLOG_OK;
    for (int i = 0; i < 100000 && status == LZLOG_OK; i++) {
        status = lzlog_write(writer, data, make_record(0, *number, data));
        *number += status == LZLOG_OK;
    }
    CHECK(status == until);
}

/* fill_up writes until there is no next file, makes room with a function, and goes on. */
static void fill_up(const struct lzlog_options *options, void (*make_room)(void))
{
    char why[LZLOG_WHY_SIZE];
    uint64_t number = 0, refused;
    struct lzlog *log = open_or_die(options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_more(writer, &number, LZLOG_NO_FILE);
    refused = number;
    lzlog_reason(writer, why);
    CHECK(strstr(why, "no room") != NULL);
    for (int i = 0; i < 100; i++)
        CHECK(lzlog_write(writer, "this does not get lost, it is refused", 37) == LZLOG_NO_FILE);
    make_room();
    static uint8_t data[LZLOG_RECORD_MAX + 8];
    for (int i = 0; i < 300; i++, number++)
        CHECK(lzlog_write(writer, data, make_record(0, number, data)) == LZLOG_OK);
    CHECK(number > refused);
    lzlog_writer_close(writer);
    lzlog_close(log);
    struct seen seen;
    read_log(options->dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.first[0] == 0 && seen.next[0] == number);
}

static void remove_filler(void)
{
    char path[5000];
    snprintf(path, sizeof(path), "%s/filler", scratch_dir);
    CHECK(unlink(path) == 0);
}

static void full_disk(void)
{
    if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", scratch_dir, "tmpfs", 0, "size=3m") != 0) {
        fprintf(stderr, "crash: no small disk can be made here, so none is filled: %s\n", strerror(errno));
        return;
    }
    char path[5000], dir[5000];
    snprintf(path, sizeof(path), "%s/filler", scratch_dir);
    snprintf(dir, sizeof(dir), "%s/log", scratch_dir);
    FILE *filler = fopen(path, "w");
    CHECK(filler != NULL && posix_fallocate(fileno(filler), 0, 2 * 1024 * 1024) == 0 && fclose(filler) == 0);
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_FETCH_ADD; r++) {
        struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN, .files = 100, .reservation = r};
        fill_up(&options, remove_filler);
    }
    char why[LZLOG_WHY_SIZE]; /* and one that is full from the beginning */
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = 4 * 1024 * 1024};
    CHECK(lzlog_open(&options, why) == NULL && strstr(why, "no room") != NULL);
    CHECK(umount(scratch_dir) == 0);
}

static void set_limit(rlim_t limit)
{
    struct rlimit r;
    CHECK(getrlimit(RLIMIT_FSIZE, &r) == 0);
    r.rlim_cur = limit;
    CHECK(setrlimit(RLIMIT_FSIZE, &r) == 0);
}

static void no_limit(void)
{
    set_limit(RLIM_INFINITY);
}

static void limited_files(void)
{
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++) {
        char dir[5000], why[LZLOG_WHY_SIZE];
        snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, (int)r);
        struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN, .files = 100, .reservation = r};
        set_limit(LZLOG_FILE_MIN / 2);
        CHECK(lzlog_open(&options, why) == NULL && strstr(why, "no room") != NULL); /* and no SIGXFSZ, now or later */
        no_limit();
        struct lzlog *log = open_or_die(&options);
        struct lzlog_writer *writer = writer_or_die(log);
        uint64_t number = 0;
        set_limit(LZLOG_FILE_MIN / 2);
        write_more(writer, &number, LZLOG_NO_FILE);
        no_limit();
        lzlog_writer_close(writer);
        lzlog_close(log);
        struct seen seen;
        read_log(dir, NULL, &seen);
        CHECK(seen.defects == 0 && seen.next[0] == number);
    }
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a kill at any moment loses no record whose write had returned", kills_lose_nothing},
        {"nor when it is encrypted", kills_lose_nothing_encrypted},
        {"nor while files are recycled", kills_while_recycling},
        {"a full disk is an error, and the log goes on when there is room", full_disk},
        {"a limit on files is an error and no signal", limited_files},
    };
    return RUN_TESTS("crash", tests, argc > 1 ? argv[1] : "/tmp");
}
