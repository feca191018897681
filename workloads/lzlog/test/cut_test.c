/* Files that somebody cuts while they are in use, as logrotate's copytruncate does. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

static void write_range(struct lzlog_writer *writer, unsigned thread, uint64_t from, uint64_t to)
{
    static _Thread_local uint8_t data[LZLOG_RECORD_MAX + 8];
    for (uint64_t i = from; i < to; i++)
        CHECK(lzlog_write(writer, data, make_record(thread, i, data)) == LZLOG_OK);
}

/* oldest_left is the number of the oldest record that a log still has: those after it follow, up to `next`. */
static uint64_t oldest_left(uint64_t next)
{
    char **paths, why[LZLOG_WHY_SIZE];
    int files = list_log(scratch_dir, &paths);
    uint64_t first = next;
    for (int i = files - 1; i >= 0; i--) {
        struct lzlog_reader *reader = lzlog_reader_open(paths[i], NULL, why);
        struct lzlog_record record;
        unsigned thread;
        uint64_t number, begin = next, expected = 0;
        while (reader != NULL && lzlog_reader_next(reader, &record) == LZLOG_RECORD) {
            CHECK(parse_record(record.data, record.size, &thread, &number) && (begin == next || number == expected));
            begin = begin == next ? number : begin;
            expected = number + 1;
        }
        if (reader != NULL)
            lzlog_reader_close(reader);
        first = begin < first ? begin : first;
    }
    free_list(paths, files);
    return first;
}

static void cut_to(off_t size)
{
    enum { BEFORE = 50, AFTER = 3000 };
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = LZLOG_FILES_MAX};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    char **paths;
    write_range(writer, 0, 0, BEFORE);
    int files = list_log(scratch_dir, &paths);
    CHECK(truncate(paths[0], size) == 0);
    CHECK(lzlog_flush(writer) == LZLOG_FAILED); /* what was written is lost, and it says so */
    write_range(writer, 0, BEFORE, AFTER);
    lzlog_writer_close(writer);
    lzlog_close(log);
    CHECK(oldest_left(AFTER) <= BEFORE); /* all that came after the cut is there */
    free_list(paths, files);
    remove_log(scratch_dir);
}

static void writers_survive(void)
{
    cut_to(0);
    cut_to(4096);     /* the header is left */
    cut_to(2 * 4096); /* and some records */
}

struct worker {
    struct lzlog *log;
    unsigned number;
};

static void *write_some(void *argument)
{
    struct worker *w = argument;
    struct lzlog_writer *writer = writer_or_die(w->log);
    write_range(writer, w->number, 0, 3000);
    lzlog_writer_close(writer);
    return NULL;
}

/* Every file is cut, again and again, under threads, while files are recycled: nothing ends the process, and the log goes on. */
static void threads_survive(void)
{
    enum { THREADS = 4 };
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = 4};
    struct lzlog *log = open_or_die(&options);
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){log, i};
        CHECK(pthread_create(&threads[i], NULL, write_some, &workers[i]) == 0);
    }
    for (int round = 0; round < 100; round++) {
        char **paths;
        int files = list_log(scratch_dir, &paths);
        for (int i = 0; i < files; i++)
            (void)!truncate(paths[i], 0); /* it may have gone meanwhile */
        free_list(paths, files);
        usleep(200);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    lzlog_close(log);
    remove_log(scratch_dir);
}

static void readers_survive(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    char **paths, why[LZLOG_WHY_SIZE];
    write_range(writer, 0, 0, 200);
    int files = list_log(scratch_dir, &paths);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    struct lzlog_record record;
    CHECK(reader != NULL && lzlog_reader_next(reader, &record) == LZLOG_RECORD);
    CHECK(truncate(paths[0], 0) == 0);
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_DEFECT && strstr(record.text, "was cut") != NULL);
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_END);
    lzlog_reader_close(reader);
    free_list(paths, files);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

/* A fault in a program's own memory is the program's. */
static void other_faults_stay(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        struct lzlog *log = open_or_die(&(struct lzlog_options){.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN});
        FILE *file = tmpfile();
        volatile char *page = file == NULL ? MAP_FAILED : mmap(NULL, 4096, PROT_READ, MAP_SHARED, fileno(file), 0);
        if (page != MAP_FAILED)
            (void)page[0]; /* the file is empty */
        lzlog_close(log);
        _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status != 0);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"a writer whose file is cut goes on in the next one", writers_survive},
        {"so do threads, whichever file is cut and whenever", threads_survive},
        {"a reader whose file is cut says so", readers_survive},
        {"a fault in other memory still ends the process", other_faults_stay},
    };
    return RUN_TESTS("cut", tests, argc > 1 ? argv[1] : "/tmp");
}
