/* Threads that are stopped in the middle of a write. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "test.h"

enum { SMALL = LZLOG_FILE_MIN, PAGE = 4096 };

/* A thread that stops where it copies its record, which lies in a page that it may not read, until it is let go. */
struct stopped {
    struct lzlog_writer *writer;
    uint8_t *page;
    pthread_t thread;
    enum lzlog_status status;
};

static _Atomic unsigned waiting;
static _Atomic bool let_go;

static void wait_there(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    int before = errno;
    atomic_fetch_add(&waiting, 1);
    while (!atomic_load(&let_go))
        usleep(100);
    mprotect((void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
    errno = before;
}

static void *write_one(void *argument)
{
    struct stopped *s = argument;
    s->status = lzlog_write(s->writer, s->page, 100);
    return NULL;
}

/* stop starts such a thread and waits until it has stopped. */
static struct stopped *stop(struct lzlog *log)
{
    static struct stopped all[8];
    static unsigned count;
    struct stopped *s = &all[count++];
    struct sigaction action = {.sa_sigaction = wait_there, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGSEGV, &action, NULL) == 0);
    s->writer = writer_or_die(log);
    s->page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(s->page != MAP_FAILED);
    unsigned before = atomic_load(&waiting);
    CHECK(pthread_create(&s->thread, NULL, write_one, s) == 0);
    while (atomic_load(&waiting) == before)
        usleep(100);
    return s;
}

static void go_on(struct stopped *s)
{
    atomic_store(&let_go, true);
    pthread_join(s->thread, NULL);
    CHECK(s->status == LZLOG_OK);
    lzlog_writer_close(s->writer);
    munmap(s->page, PAGE);
}

static enum lzlog_status write_files(struct lzlog_writer *writer, int files)
{
    static const uint8_t data[1000];
    enum lzlog_status status = LZLOG_OK;
    for (int i = 0; i < files * (SMALL / 1000) && status == LZLOG_OK; i++)
        status = lzlog_write(writer, data, sizeof(data));
    return status;
}

static int count_files(void)
{
    char **paths;
    int files = list_log(scratch_dir, &paths);
    free_list(paths, files);
    return files;
}

static void others_go_on(const uint8_t *key)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL, .files = 4, .key = key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    struct stopped *s = stop(log);
    CHECK(write_files(writer, 20) == LZLOG_OK);
    CHECK(lzlog_flush(writer) == LZLOG_OK && count_files() <= 3); /* one of four places is taken */
    go_on(s);
    CHECK(write_files(writer, 20) == LZLOG_OK);
    while (count_files() < 4) /* it is free again */
        usleep(100);
    lzlog_writer_close(writer);
    lzlog_close(log);
    char **paths, why[LZLOG_WHY_SIZE];
    int files = list_log(scratch_dir, &paths);
    for (int i = 0; i < files; i++) {
        struct lzlog_reader *reader = lzlog_reader_open(paths[i], options.key, why);
        struct lzlog_record record;
        enum lzlog_item item;
        CHECK(reader != NULL);
        while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END)
            CHECK(item == LZLOG_RECORD && record.size == 1000);
        lzlog_reader_close(reader);
    }
    free_list(paths, files);
}

static void one_stopped(void)
{
    others_go_on(NULL);
}

static void one_stopped_encrypted(void)
{
    others_go_on(test_key);
}

static void too_many_stopped(void)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL, .files = 3};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    struct stopped *a = stop(log);
    CHECK(write_files(writer, 1) == LZLOG_OK);
    struct stopped *b = stop(log);
    CHECK(write_files(writer, 10) == LZLOG_NO_FILE);
    lzlog_reason(writer, why);
    CHECK(strstr(why, "stopped in the middle of writes to 2 of 3 files") != NULL);
    go_on(a);
    go_on(b);
    CHECK(write_files(writer, 10) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static unsigned count_defects(void)
{
    char **paths, why[LZLOG_WHY_SIZE];
    CHECK(list_log(scratch_dir, &paths) == 1);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    struct lzlog_record record;
    enum lzlog_item item;
    unsigned defects = 0;
    CHECK(reader != NULL);
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END)
        defects += item == LZLOG_DEFECT && strstr(record.text, "begun and not finished") != NULL;
    lzlog_reader_close(reader);
    free_list(paths, 1);
    return defects;
}

static void closing_does_not_wait(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL};
    struct lzlog *log = open_or_die(&options);
    struct stopped *s = stop(log);
    lzlog_close(log);
    CHECK(count_defects() == 1);
    go_on(s); /* it may still write there */
    CHECK(count_defects() == 0);
    log = open_or_die(&options);
    lzlog_close(log);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a writer that was stopped in the middle of a write takes a file's place, and the others go on", one_stopped},
        {"and so it is in an encrypted log", one_stopped_encrypted},
        {"when writers have taken nearly all places, a write says so", too_many_stopped},
        {"a log closes without one, which may still end its write", closing_does_not_wait},
    };
    return RUN_TESTS("stuck", tests, argc > 1 ? argv[1] : "/tmp");
}
