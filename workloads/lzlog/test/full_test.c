/* No room: full disks, and limits on files. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

enum { THREADS = 4 };

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
    static uint8_t data[LZLOG_RECORD_MAX + 8];
    for (int i = 0; i < 100; i++) /* a shorter one might fit, except after fetch_add */
        CHECK(lzlog_write(writer, data, LZLOG_RECORD_MAX) == LZLOG_NO_FILE);
    make_room();
    for (int i = 0; i < 300; i++, number++)
        CHECK(lzlog_write(writer, data, make_record(0, number, data)) == LZLOG_OK);
    CHECK(number > refused);
    lzlog_writer_close(writer);
    lzlog_close(log);
    struct seen seen;
    read_log(options->dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.first[0] == 0 && seen.next[0] == number);
}

static void make_filler(void)
{
    char path[5000];
    snprintf(path, sizeof(path), "%s/filler", scratch_dir);
    FILE *filler = fopen(path, "w");
    CHECK(filler != NULL && posix_fallocate(fileno(filler), 0, 2 * 1024 * 1024) == 0 && fclose(filler) == 0);
}

static void remove_filler(void)
{
    char path[5000];
    snprintf(path, sizeof(path), "%s/filler", scratch_dir);
    CHECK(unlink(path) == 0);
}

/* small_disk makes the scratch folder a small disk of its own, if this process may. */
static bool small_disk(void)
{
    if (unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
        mount("tmpfs", scratch_dir, "tmpfs", 0, "size=3m") == 0)
        return true;
    fprintf(stderr, "full: no small disk can be made here, so none is filled: %s\n", strerror(errno));
    CHECK(geteuid() != 0 || getenv("CI") == NULL); /* where it is to be tested, it is */
    return false;
}

static void full_disk(void)
{
    if (!small_disk())
        return;
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/log", scratch_dir);
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++) {
        struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN, .files = 100, .reservation = r};
        make_filler();
        fill_up(&options, remove_filler);
        remove_log(dir);
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

struct stubborn {
    struct lzlog *log;
    unsigned number;
    _Atomic uint64_t written, refused;
    _Atomic bool *stop;
};

static void *write_and_try_again(void *argument)
{
    struct stubborn *s = argument;
    static _Thread_local uint8_t data[LZLOG_RECORD_MAX + 8];
    struct lzlog_writer *writer = writer_or_die(s->log);
    while (!atomic_load(s->stop)) {
        uint64_t number = atomic_load(&s->written);
        enum lzlog_status status = lzlog_write(writer, data, make_record(s->number, number, data));
        CHECK(status == LZLOG_OK || status == LZLOG_NO_FILE);
        atomic_fetch_add(status == LZLOG_OK ? &s->written : &s->refused, 1);
    }
    lzlog_writer_close(writer);
    return NULL;
}

static void wait_until(struct stubborn *all, bool refused)
{
    uint64_t before[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        before[i] = atomic_load(refused ? &all[i].refused : &all[i].written);
    for (unsigned i = 0; i < THREADS; i++) {
        while (atomic_load(refused ? &all[i].refused : &all[i].written) < before[i] + 3)
            usleep(100);
    }
}

/* Room comes and goes; each thread's records are all there, and those refused are not. */
static void limited_threads(void)
{
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++) {
        struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = LZLOG_FILES_MAX, .reservation = r};
        struct stubborn all[THREADS] = {0};
        pthread_t threads[THREADS];
        _Atomic bool stop = false;
        struct lzlog *log = open_or_die(&options);
        for (unsigned i = 0; i < THREADS; i++) {
            all[i].log = log;
            all[i].number = i;
            all[i].stop = &stop;
            CHECK(pthread_create(&threads[i], NULL, write_and_try_again, &all[i]) == 0);
        }
        for (int i = 0; i < 5; i++) {
            set_limit(LZLOG_FILE_MIN / 2);
            wait_until(all, true);
            no_limit();
            wait_until(all, false);
        }
        atomic_store(&stop, true);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        lzlog_close(log);
        struct seen seen;
        read_log(scratch_dir, NULL, &seen);
        CHECK(seen.defects == 0);
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(seen.first[i] == 0 && seen.next[i] == atomic_load(&all[i].written));
        remove_log(scratch_dir);
    }
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a full disk is an error, and the log goes on when there is room", full_disk},
        {"a limit on files is an error and no signal", limited_files},
        {"threads that are refused until there is room lose nothing", limited_threads},
    };
    return RUN_TESTS("full", tests, argc > 1 ? argv[1] : "/tmp");
}
