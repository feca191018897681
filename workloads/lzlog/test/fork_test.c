/* Children of fork(): the log stays their parent's. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

enum { SMALL = LZLOG_FILE_MIN };

/* A parent and its child, and a pipe by which the parent says when it is the child's turn. */
struct family {
    struct lzlog *log;
    struct lzlog_writer *writer;
    uint64_t number; /* of the parent's next record */
    pid_t child;
    int turn[2];
};

static void write_records(struct family *f, int count)
{
    static uint8_t data[LZLOG_RECORD_MAX + 8];
    for (int i = 0; i < count; i++, f->number++)
        CHECK(lzlog_write(f->writer, data, make_record(0, f->number, data)) == LZLOG_OK);
}

/* await_preparer waits until a new log has its second file. ASan's child would inherit the allocator's lock of a preparer at work. */
static void await_preparer(const char *dir)
{
    char **paths;
    for (int files = 0; files < 2; usleep(100)) {
        files = list_log(dir, &paths);
        free_list(paths, files);
    }
}

/* start opens a log and forks; the child does its part when it is its turn, and goes. */
static struct family start(const struct lzlog_options *options, void (*child)(struct family *, const struct lzlog_options *))
{
    struct family f = {.log = open_or_die(options)};
    f.writer = writer_or_die(f.log);
    write_records(&f, 20);
    await_preparer(options->dir);
    CHECK(pipe(f.turn) == 0);
    f.child = fork();
    CHECK(f.child >= 0);
    if (f.child > 0) {
        close(f.turn[0]);
        return f;
    }
    char go;
    CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0); /* should the test fail, nobody else would end it */
    close(f.turn[1]);
    CHECK(read(f.turn[0], &go, 1) == 1);
    child(&f, options);
    _exit(0);
}

static void end(struct family *f)
{
    int status;
    CHECK(write(f->turn[1], "", 1) == 1);
    CHECK(waitpid(f->child, &status, 0) == f->child && status == 0);
    close(f->turn[1]);
}

static void close_parents(struct family *f)
{
    lzlog_writer_close(f->writer);
    lzlog_close(f->log);
}

static void try_everything(struct family *f, const struct lzlog_options *options)
{
    char why[LZLOG_WHY_SIZE];
    (void)options;
    for (int i = 0; i < 10; i++)
        CHECK(lzlog_write(f->writer, "a child's", 9) == LZLOG_CLOSED);
    CHECK(lzlog_flush(f->writer) == LZLOG_CLOSED);
    CHECK(lzlog_writer_open(f->log) == NULL);
    lzlog_reason(f->writer, why);
    CHECK(strstr(why, "forked") != NULL);
    lzlog_close(f->log);
    CHECK(lzlog_write(f->writer, "a child's", 9) == LZLOG_CLOSED);
    lzlog_writer_close(f->writer);
}

/* The files have been recycled since the fork, so that a child's idea of them is old. */
static void child_is_refused(const uint8_t *key)
{
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/%s", scratch_dir, key != NULL ? "encrypted" : "plain");
    struct lzlog_options options = {.dir = dir, .file_bytes = SMALL, .files = 3, .key = key};
    struct family f = start(&options, try_everything);
    write_records(&f, 3000);
    end(&f);
    write_records(&f, 20);
    close_parents(&f);
    struct seen seen;
    read_log(dir, options.key, &seen);
    CHECK(seen.defects == 0 && seen.next[0] == f.number);
}

static void children_are_refused(void)
{
    child_is_refused(NULL);
    child_is_refused(test_key);
}

static void child_of_a_child(struct family *f, const struct lzlog_options *options)
{
    int status;
    (void)options;
    pid_t grandchild = fork();
    CHECK(grandchild >= 0);
    if (grandchild == 0)
        _exit(lzlog_write(f->writer, "a grandchild's", 14) != LZLOG_CLOSED);
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
}

static void grandchildren_are_refused(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL};
    struct family f = start(&options, child_of_a_child);
    end(&f);
    close_parents(&f);
}

/* A program that becomes a daemon: the parent goes, and the child wants the folder. */
static void go_on(struct family *f, const struct lzlog_options *options)
{
    lzlog_close(f->log);
    lzlog_writer_close(f->writer);
    struct family own = {.log = open_or_die(options), .number = f->number};
    own.writer = writer_or_die(own.log);
    write_records(&own, 20);
    close_parents(&own);
}

static void child_goes_on(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL};
    struct family f = start(&options, go_on);
    close_parents(&f);
    struct seen seen;
    read_log(scratch_dir, NULL, &seen); /* beside the child, which has the same files open */
    CHECK(seen.defects == 0 && seen.next[0] == 20);
    f.log = open_or_die(&options);
    f.writer = writer_or_die(f.log);
    close_parents(&f);
    end(&f);
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.next[0] == 40);
}

/* helped opens a log and forks a helper, which lives until the other end of a pipe is closed. */
static void helped(const struct lzlog_options *options, int ready, const int end[2])
{
    char none;
    close(end[1]);
    open_or_die(options);
    await_preparer(options->dir);
    if (fork() != 0) {
        for (;;)
            pause();
    }
    CHECK(write(ready, "", 1) == 1);
    CHECK(read(end[0], &none, 1) == 0);
    _exit(0);
}

/* The writer is killed, and a helper that it has forked lives on: the log can be opened again at once. */
static void killed_beside_a_helper(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL};
    char why[LZLOG_WHY_SIZE], none;
    int ready[2], end[2];
    CHECK(pipe(ready) == 0 && pipe(end) == 0);
    pid_t writer = fork();
    CHECK(writer >= 0);
    if (writer == 0)
        helped(&options, ready[1], end);
    CHECK(read(ready[0], &none, 1) == 1);
    CHECK(kill(writer, SIGKILL) == 0 && waitpid(writer, NULL, 0) == writer);
    struct lzlog *log = lzlog_open(&options, why);
    CHECK(log != NULL);
    lzlog_close(log);
    close(end[1]);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a child's writes are refused, and its parent's log has no mark of them", children_are_refused},
        {"and so are those of a child's child", grandchildren_are_refused},
        {"a log whose writer was killed can be opened, though a child of it lives on", killed_beside_a_helper},
        {"a log that its parent has closed can be read and opened, there and in the child", child_goes_on},
    };
    return RUN_TESTS("fork", tests, argc > 1 ? argv[1] : "/tmp");
}
