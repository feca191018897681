/* A disk that does not take what it is given. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"

/* The system call that fails: its number, or -1. */
static _Atomic long failing = -1;

static int call(long number, long a, long b, long c)
{
    if (atomic_load(&failing) != number)
        return (int)syscall(number, a, b, c);
    errno = EIO;
    return -1;
}

/* These two are called in place of the C library's. */
int msync(void *address, size_t size, int flags)
{
    return call(SYS_msync, (long)address, (long)size, flags);
}

int fsync(int fd)
{
    return call(SYS_fsync, fd, 0, 0);
}

static void write_records(struct lzlog_writer *writer, int count)
{
    static const uint8_t data[1000];
    for (int i = 0; i < count; i++)
        CHECK(lzlog_write(writer, data, sizeof(data)) == LZLOG_OK);
}

static void fail_once(struct lzlog_writer *writer, long number)
{
    char why[LZLOG_WHY_SIZE];
    CHECK(lzlog_flush(writer) == LZLOG_OK);
    write_records(writer, 10);
    atomic_store(&failing, number);
    CHECK(lzlog_flush(writer) == LZLOG_FAILED);
    atomic_store(&failing, -1); /* as the kernel does: it tells once */
    for (int i = 0; i < 3; i++)
        CHECK(lzlog_flush(writer) == LZLOG_FAILED);
    lzlog_reason(writer, why);
    CHECK(strstr(why, strerror(EIO)) != NULL);
}

static void failures_stay(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = 3};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    fail_once(writer, SYS_msync);
    write_records(writer, 5 * LZLOG_FILE_MIN / 1000); /* the file is recycled */
    CHECK(lzlog_flush(writer) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static void failures_of_the_folder_stay(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = 3};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    fail_once(writer, SYS_fsync);
    lzlog_writer_close(writer);
    lzlog_close(log);
    log = open_or_die(&options);
    writer = writer_or_die(log);
    CHECK(lzlog_flush(writer) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a flush that failed is not forgotten while its file is there", failures_stay},
        {"nor is one of the folder, while the log is open", failures_of_the_folder_stay},
    };
    return RUN_TESTS("flush", tests, argc > 1 ? argv[1] : "/tmp");
}
