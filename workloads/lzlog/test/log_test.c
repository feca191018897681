/* A log from its opening to its closing, by one thread and by many. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "test.h"

enum { SMALL = LZLOG_FILE_MIN, THREADS = 8 };

static struct lzlog_options small(unsigned files, enum lzlog_reservation reservation)
{
    return (struct lzlog_options){.dir = scratch_dir, .file_bytes = SMALL, .files = files, .reservation = reservation};
}

static void write_range(struct lzlog_writer *writer, unsigned thread, uint64_t from, uint64_t to)
{
    static _Thread_local uint8_t data[LZLOG_RECORD_MAX + 8];
    for (uint64_t i = from; i < to; i++)
        CHECK(lzlog_write(writer, data, make_record(thread, i, data)) == LZLOG_OK);
}

static void write_session(const struct lzlog_options *options, uint64_t from, uint64_t to)
{
    struct lzlog *log = open_or_die(options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_range(writer, 0, from, to);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static void all_come_back(void)
{
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++) {
        char dir[5000];
        snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, (int)r);
        struct lzlog_options options = small(LZLOG_FILES_MAX, r);
        options.dir = dir;
        write_session(&options, 0, 5000);
        struct seen seen;
        read_log(dir, NULL, &seen);
        CHECK(seen.defects == 0 && seen.first[0] == 0 && seen.next[0] == 5000 && seen.records == 5000);
    }
}

struct worker {
    struct lzlog *log;
    struct lzlog_writer *writer;
    pthread_t thread;
    unsigned number;
    uint64_t records; /* to write; then: written */
    _Atomic bool *stop;
};

static void *write_some(void *argument)
{
    struct worker *w = argument;
    struct lzlog_writer *writer = writer_or_die(w->log);
    write_range(writer, w->number, 0, w->records);
    lzlog_writer_close(writer);
    return NULL;
}

static void threads_together(enum lzlog_reservation r, const uint8_t *key)
{
    struct lzlog_options options = small(LZLOG_FILES_MAX, r);
    options.key = key;
    char dir[5000];
    snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, (int)r + (key != NULL ? 10 : 0));
    options.dir = dir;
    struct lzlog *log = open_or_die(&options);
    struct worker workers[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.log = log, .number = i, .records = 1500};
        CHECK(pthread_create(&workers[i].thread, NULL, write_some, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    lzlog_close(log);
    struct seen seen;
    read_log(dir, options.key, &seen);
    CHECK(seen.defects == 0 && seen.records == THREADS * 1500);
    for (unsigned i = 0; i < THREADS; i++)
        CHECK(seen.first[i] == 0 && seen.next[i] == 1500);
}

static void threads_lose_nothing(void)
{
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++)
        threads_together(r, NULL);
    threads_together(LZLOG_FETCH_ADD, test_key);
}

/* The same while files are recycled under the writers: what is kept is the end of what each thread wrote, whole. */
static void recycling_under_threads(void)
{
    for (enum lzlog_reservation r = LZLOG_FETCH_ADD; r <= LZLOG_MUTEX; r++) {
        struct lzlog_options options = small(4, r);
        struct lzlog *log = open_or_die(&options);
        struct worker workers[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            workers[i] = (struct worker){.log = log, .number = i, .records = 2000};
            CHECK(pthread_create(&workers[i].thread, NULL, write_some, &workers[i]) == 0);
        }
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(workers[i].thread, NULL);
        lzlog_close(log);
        struct seen seen;
        read_log(scratch_dir, NULL, &seen);
        CHECK(seen.defects == 0 && seen.records > 0);
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(seen.next[i] == 0 || seen.next[i] == 2000);
        remove_log(scratch_dir);
    }
}

static unsigned long number_of(const char *path)
{
    return strtoul(strrchr(path, '/') + 1, NULL, 10);
}

static void oldest_goes_first(void)
{
    struct lzlog_options options = small(5, LZLOG_FETCH_ADD);
    uint64_t written = 0;
    unsigned long newest = 0;
    for (int session = 0; session < 20; session++) {
        write_session(&options, written, written + 700);
        written += 700;
        char **paths;
        int count = list_log(scratch_dir, &paths);
        CHECK(count >= 1 && count <= 5);
        for (int i = 1; i < count; i++)
            CHECK(number_of(paths[i]) == number_of(paths[i - 1]) + 1);
        CHECK(number_of(paths[count - 1]) >= newest);
        newest = number_of(paths[count - 1]);
        free_list(paths, count);
        struct seen seen;
        read_log(scratch_dir, NULL, &seen);
        CHECK(seen.defects == 0 && seen.next[0] == written); /* read_log has checked that none is missing before */
    }
    CHECK(newest > 5);
}

static void short_sessions_share_a_file(void)
{
    struct lzlog_options options = small(4, LZLOG_FETCH_ADD);
    for (uint64_t i = 0; i < 50; i++)
        write_session(&options, 0, 1);
    char **paths;
    struct stat st;
    CHECK(list_log(scratch_dir, &paths) == 1);
    CHECK(stat(paths[0], &st) == 0 && st.st_size < SMALL / 2); /* cut to what is used */
    free_list(paths, 1);
}

static void fewer_files_than_before(void)
{
    struct lzlog_options options = small(20, LZLOG_CAS);
    write_session(&options, 0, 4000);
    options.files = 3;
    write_session(&options, 4000, 4010);
    char **paths;
    int count = list_log(scratch_dir, &paths);
    CHECK(count <= 3);
    free_list(paths, count);
    struct seen seen;
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.next[0] == 4010 && seen.defects == 0);
}

static void touch(const char *name)
{
    char path[5000];
    snprintf(path, sizeof(path), "%s/%s", scratch_dir, name);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fclose(file) == 0);
}

/* A file that is not the log's, with a number that is: no session takes its name, nor that of another session. */
static void stray_numbers(void)
{
    char path[5000], why[LZLOG_WHY_SIZE];
    struct lzlog_options options = small(LZLOG_FILES_MAX, LZLOG_FETCH_ADD);
    struct seen seen;
    write_session(&options, 0, 10);
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.next[0] == 10);
    touch("999999999999.lzlog");
    for (int i = 0; i < 3; i++)
        CHECK(lzlog_open(&options, why) == NULL && strstr(why, "move that file away") != NULL);
    snprintf(path, sizeof(path), "%s/999999999999.lzlog", scratch_dir);
    CHECK(unlink(path) == 0);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    touch("000000000004.lzlog"); /* while the log is open */
    write_range(writer, 0, 10, 3000);
    lzlog_writer_close(writer);
    lzlog_close(log);
    snprintf(path, sizeof(path), "%s/000000000004.lzlog", scratch_dir);
    struct stat st;
    CHECK(stat(path, &st) == 0 && st.st_size == 0 && unlink(path) == 0);
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.first[0] == 0 && seen.next[0] == 3000);
}

static void two_writers(void)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_options options = small(3, LZLOG_FETCH_ADD);
    struct lzlog *log = open_or_die(&options);
    CHECK(lzlog_open(&options, why) == NULL);
    CHECK(strstr(why, "already open") != NULL);
    lzlog_close(log);
    log = open_or_die(&options);
    lzlog_close(log);
}

static void sizes_have_limits(void)
{
    static const uint8_t data[LZLOG_RECORD_MAX + 1];
    struct lzlog_options options = small(3, LZLOG_FETCH_ADD);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    CHECK(lzlog_write(writer, data, 0) == LZLOG_BAD_SIZE);
    CHECK(lzlog_write(writer, data, LZLOG_RECORD_MAX + 1) == LZLOG_BAD_SIZE);
    for (size_t size = 1; size < 20; size++)
        CHECK(lzlog_write(writer, data, size) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
    char **paths, why[LZLOG_WHY_SIZE];
    CHECK(list_log(scratch_dir, &paths) == 1);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    struct lzlog_record record;
    for (size_t size = 1; size < 20; size++)
        CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD && record.size == size);
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_END);
    lzlog_reader_close(reader);
    free_list(paths, 1);
}

/* is_line tells whether a record is a line of a level that was printed since an instant. */
static bool is_line(const struct lzlog_record *record, time_t since, const char *level, const char *text)
{
    char line[LZLOG_PRINT_MAX + 1], rest[LZLOG_PRINT_MAX + 1];
    struct tm tm = {0};
    int microseconds, begin = 0;
    CHECK(record->size < sizeof(line));
    memcpy(line, record->data, record->size);
    line[record->size] = '\0';
    const char *fraction = strptime(line, "%Y-%m-%dT%H:%M:%S", &tm);
    CHECK(fraction != NULL && sscanf(fraction, ".%6dZ %n", &microseconds, &begin) == 1 && begin == 9);
    time_t printed = timegm(&tm);
    snprintf(rest, sizeof(rest), "%-5s %s", level, text);
    /* time() reads a coarser clock than the one by which a line is stamped: it may be a tick behind, and so a second younger. */
    return printed >= since && printed <= time(NULL) + 1 && strcmp(fraction + begin, rest) == 0;
}

static void lines_have_levels(void)
{
    static char endless[2 * LZLOG_PRINT_MAX];
    memset(endless, 'x', sizeof(endless) - 1);
    time_t begun = time(NULL);
    struct lzlog_options options = small(3, LZLOG_FETCH_ADD);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    CHECK(lzlog_print(writer, LZLOG_DEBUG, "left out") == LZLOG_OK);
    CHECK(lzlog_print(writer, LZLOG_INFO, "%d of %s", 7, "them") == LZLOG_OK);
    CHECK(lzlog_print(writer, LZLOG_FATAL, "%s", "") == LZLOG_OK);
    CHECK(lzlog_print(writer, LZLOG_INFO, "by %s", "root\n2026-01-01T00:00:00.000000Z FATAL \x1b[2J\xc2\x9b\x9b\u00e9") == LZLOG_OK);
    lzlog_set_level(writer, LZLOG_TRACE);
    CHECK(lzlog_print(writer, LZLOG_TRACE, "all") == LZLOG_OK);
    lzlog_set_level(writer, LZLOG_ERROR);
    CHECK(lzlog_print(writer, LZLOG_WARN, "left out, too") == LZLOG_OK);
    CHECK(lzlog_print(writer, LZLOG_ERROR, "%s", endless) == LZLOG_OK);
    lzlog_close(log);
    CHECK(lzlog_print(writer, LZLOG_ERROR, "late") == LZLOG_CLOSED);
    lzlog_writer_close(writer);
    char **paths, why[LZLOG_WHY_SIZE];
    CHECK(list_log(scratch_dir, &paths) == 1);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    struct lzlog_record record;
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD && is_line(&record, begun, "INFO", "7 of them"));
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD && is_line(&record, begun, "FATAL", ""));
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD &&
          is_line(&record, begun, "INFO", "by root\\n2026-01-01T00:00:00.000000Z FATAL \\x1b[2J\\xc2\\x9b\\x9b\u00e9"));
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD && is_line(&record, begun, "TRACE", "all"));
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD && record.size == LZLOG_PRINT_MAX - 1);
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_END);
    lzlog_reader_close(reader);
    free_list(paths, 1);
}

static void bad_options(void)
{
    const struct lzlog_options bad[] = {
        {.dir = NULL},
        {.dir = ""},
        {.dir = "/nowhere/at/all"},
        {.dir = "/dev/null"},
        {.dir = scratch_dir, .file_bytes = 1},
        {.dir = scratch_dir, .file_bytes = (size_t)2 * LZLOG_FILE_MAX},
        {.dir = scratch_dir, .files = 2},
        {.dir = scratch_dir, .files = LZLOG_FILES_MAX + 1},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char why[LZLOG_WHY_SIZE] = "";
        CHECK(lzlog_open(&bad[i], why) == NULL);
        CHECK(strlen(why) > 10);
    }
}

static void *write_until_closed(void *argument)
{
    struct worker *w = argument;
    static _Thread_local uint8_t data[LZLOG_RECORD_MAX + 8];
    enum lzlog_status status;
    while ((status = lzlog_write(w->writer, data, make_record(w->number, w->records, data))) == LZLOG_OK)
        w->records++;
    CHECK(status == LZLOG_CLOSED);
    for (int i = 0; i < 100; i++) /* the log is gone by now, or soon */
        CHECK(lzlog_write(w->writer, data, 100) == LZLOG_CLOSED);
    CHECK(lzlog_flush(w->writer) == LZLOG_CLOSED);
    lzlog_writer_close(w->writer);
    return NULL;
}

static void close_under_writers(void)
{
    for (int round = 0; round < 9; round++) {
        struct lzlog_options options = small(LZLOG_FILES_MAX, (enum lzlog_reservation)(round % 3));
        char dir[5000];
        snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, round);
        options.dir = dir;
        struct lzlog *log = open_or_die(&options);
        struct worker workers[THREADS];
        for (unsigned i = 0; i < THREADS; i++) {
            workers[i] = (struct worker){.writer = writer_or_die(log), .number = i};
            CHECK(pthread_create(&workers[i].thread, NULL, write_until_closed, &workers[i]) == 0);
        }
        usleep(5000 + 3000 * (unsigned)round);
        lzlog_close(log);
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(workers[i].thread, NULL);
        struct seen seen;
        read_log(dir, NULL, &seen);
        CHECK(seen.defects == 0);
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(seen.next[i] == workers[i].records); /* neither less nor more than was said */
    }
}

static void late_writer(void)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_options options = small(3, LZLOG_FETCH_ADD);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_range(writer, 0, 0, 10);
    lzlog_close(log);
    /* If another log could go on in the same file now, the late writer would find it open. */
    CHECK(lzlog_open(&options, why) == NULL && strstr(why, "already open") != NULL);
    CHECK(lzlog_write(writer, "late", 4) == LZLOG_CLOSED);
    CHECK(lzlog_flush(writer) == LZLOG_CLOSED);
    lzlog_writer_close(writer);
    write_session(&options, 10, 20);
    struct seen seen;
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.next[0] == 20);
}

static void flush_returns(void)
{
    struct lzlog_options options = small(4, LZLOG_FETCH_ADD);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    for (uint64_t i = 0; i < 20; i++) {
        write_range(writer, 0, i * 100, i * 100 + 100);
        CHECK(lzlog_flush(writer) == LZLOG_OK);
    }
    lzlog_writer_close(writer);
    lzlog_close(log);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"every record comes back, in order, however its place was reserved", all_come_back},
        {"the records of threads are all there, each thread's in its order", threads_lose_nothing},
        {"files are recycled under threads without a mark", recycling_under_threads},
        {"the oldest file goes first, always, and numbers rise", oldest_goes_first},
        {"short sessions go on in one file, cut to what is used", short_sessions_share_a_file},
        {"a log opened with fewer files gives up the oldest", fewer_files_than_before},
        {"a stray file with a number costs no session its records", stray_numbers},
        {"a second writer is refused with a sentence", two_writers},
        {"a record has 1 to 65,527 bytes", sizes_have_limits},
        {"a line has its time and its level, and those below the writer's are left out", lines_have_levels},
        {"options that cannot be are refused with a sentence", bad_options},
        {"a log closed under writers has exactly what they were told it has", close_under_writers},
        {"a writer that comes late is told so, and harms nobody", late_writer},
        {"a flush returns when all is on the disk", flush_returns},
    };
    return RUN_TESTS("log", tests, argc > 1 ? argv[1] : "/tmp");
}
