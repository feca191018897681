/* Files that are compressed when they are full. */
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
#include <zstd.h>

#include "../format.h"
#include "../unpack.h"
#include "test.h"

enum { SMALL = LZLOG_FILE_MIN, THREADS = 4, LONG_AGO = 1000000 };

static struct lzlog_options packing(unsigned files)
{
    return (struct lzlog_options){.dir = scratch_dir, .file_bytes = SMALL, .files = files, .compress = true};
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

static bool is_packed(const char *path)
{
    uint8_t begin[4];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false; /* it has gone */
    size_t size = fread(begin, 1, sizeof(begin), file);
    fclose(file);
    return lz_is_packed(begin, size);
}

/* count_packed counts the compressed files of a log, which are its oldest: behind the first one that is not, none is. */
static int count_packed(int *files)
{
    char **paths;
    int packed = 0;
    *files = list_log(scratch_dir, &paths);
    while (packed < *files && is_packed(paths[packed]))
        packed++;
    for (int i = packed; i < *files; i++)
        CHECK(!is_packed(paths[i]) || is_packed(paths[packed])); /* unless it has become so meanwhile */
    free_list(paths, *files);
    return packed;
}

/* has_next tells whether the log's next file is ready: it is the newest, and empty. */
static bool has_next(void)
{
    char **paths, why[LZLOG_WHY_SIZE];
    int files = list_log(scratch_dir, &paths);
    struct lzlog_reader *reader = files == 0 ? NULL : lzlog_reader_open(paths[files - 1], NULL, why);
    bool ready = reader != NULL && lzlog_reader_facts(reader).empty;
    if (reader != NULL)
        lzlog_reader_close(reader);
    free_list(paths, files);
    return ready;
}

/* await_packed waits until all files are compressed but the current and the next one. The test ends if it takes too long. */
static void await_packed(void)
{
    int files;
    while (!has_next() || count_packed(&files) < files - 2)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

/* await_first waits until the first of a log's files is compressed. */
static void await_first(void)
{
    int files;
    while (count_packed(&files) == 0)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
}

static void check_all(uint64_t records)
{
    struct seen seen;
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.first[0] == 0 && seen.next[0] == records && seen.records == records);
}

static void full_files(void)
{
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    int files;
    write_range(writer, 0, 0, 4000);
    await_packed();
    CHECK(count_packed(&files) >= 3);
    check_all(4000);
    write_range(writer, 0, 4000, 4100); /* the file that it was in is still the current one */
    CHECK(lzlog_flush(writer) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
    check_all(4100);
    write_session(&options, 4100, 6000); /* and goes on after it was closed */
    check_all(6000);
    options.compress = false; /* who does not compress reads what was */
    write_session(&options, 6000, 6100);
    check_all(6100);
}

static void lines_get_smaller(void)
{
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    struct lzlog_facts facts;
    char **paths, why[LZLOG_WHY_SIZE];
    struct stat st;
    for (int i = 0; i < 4000; i++)
        CHECK(lzlog_print(writer, LZLOG_INFO, "request %d of 10.0.%d.%d took %d us", i, i % 7, i * 31 % 251, i * 7919 % 10007) == LZLOG_OK);
    await_packed();
    int files = list_log(scratch_dir, &paths);
    CHECK(files > 2 && stat(paths[0], &st) == 0);
    CHECK(st.st_size < SMALL / 2);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    CHECK(reader != NULL);
    facts = lzlog_reader_facts(reader);
    CHECK(facts.compressed && facts.sealed && facts.number == 1 && !facts.encrypted && !facts.empty);
    lzlog_reader_close(reader);
    free_list(paths, files);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

/* By number: the oldest go, compressed or not, and none is missing between those that are kept. */
static void oldest_go(void)
{
    struct lzlog_options options = packing(5);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    int files;
    for (uint64_t i = 0; i < 40; i++) {
        write_range(writer, 0, i * 250, (i + 1) * 250);
        if (i % 4 == 0)
            await_packed();
    }
    await_packed();
    CHECK(count_packed(&files) == 3 && files == 5);
    lzlog_writer_close(writer);
    lzlog_close(log);
    struct seen seen;
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.first[0] > 0 && seen.next[0] == 10000);
    options.files = 3;
    write_session(&options, 10000, 10010);
    CHECK(count_packed(&files) == files - 1 && files >= 2 && files <= 3);
}

/* By age: a compressed file has the time of its last record. What an earlier process has left is compressed, too. */
static void age_is_kept(void)
{
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    char **paths;
    struct stat st;
    int files;
    options.compress = false;
    write_session(&options, 0, 2000);
    int before = list_log(scratch_dir, &paths);
    CHECK(before >= 3);
    CHECK(utimensat(AT_FDCWD, paths[0], (struct timespec[]){{LONG_AGO, 0}, {LONG_AGO, 0}}, 0) == 0);
    options.compress = true;
    struct lzlog *log = open_or_die(&options);
    await_packed();
    CHECK(count_packed(&files) == before - 1 && stat(paths[0], &st) == 0 && st.st_mtime == LONG_AGO);
    lzlog_close(log);
    check_all(2000);
    options.keep = 3600;
    write_session(&options, 2000, 2001);
    CHECK(stat(paths[0], &st) != 0 && stat(paths[1], &st) == 0);
    free_list(paths, before);
}

static void not_with_a_secret(void)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_options options = packing(4);
    options.secret.key = test_key;
    CHECK(lzlog_open(&options, why) == NULL && strstr(why, "not both: what is encrypted gets no smaller") != NULL);
    options.compress = false; /* nor are files that were encrypted before */
    write_session(&options, 0, 1000);
    options.compress = true;
    options.secret.key = NULL;
    options.files = LZLOG_FILES_MAX;
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_range(writer, 0, 0, 1000);
    char **paths;
    int files = list_log(scratch_dir, &paths);
    while (!is_packed(paths[files - 3])) /* the last one that is full */
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    CHECK(!is_packed(paths[0]));
    free_list(paths, files);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

/* read_on reads the numbers of a reader's records to its end. */
static uint64_t read_on(struct lzlog_reader *reader, uint64_t next, uint64_t *defects)
{
    struct lzlog_record record;
    enum lzlog_item item;
    unsigned thread;
    uint64_t number;
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        *defects += item == LZLOG_DEFECT;
        if (item == LZLOG_DEFECT)
            continue;
        CHECK(parse_record(record.data, record.size, &thread, &number) && thread == 0 && number >= next);
        next = number + 1;
    }
    return next;
}

/* Whoever has a file open reads it to its end, though there is another under its name by then. */
static void readers_keep_theirs(void)
{
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    char **paths, why[LZLOG_WHY_SIZE];
    uint64_t defects = 0;
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_range(writer, 0, 0, 1);
    int files = list_log(scratch_dir, &paths);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why); /* the current one */
    CHECK(reader != NULL);
    write_range(writer, 0, 1, 2000);
    await_first();
    CHECK(is_packed(paths[0]) && !lzlog_reader_facts(reader).compressed);
    uint64_t next = read_on(reader, 0, &defects);
    lzlog_reader_close(reader);
    reader = lzlog_reader_open(paths[0], NULL, why);
    CHECK(reader != NULL && lzlog_reader_facts(reader).compressed && read_on(reader, 0, &defects) == next && defects == 0);
    lzlog_reader_close(reader);
    free_list(paths, files);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static void write_bytes(const char *path, const uint8_t *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* However a compressed file is cut or changed: the records before it come, and after it either a defect or a refusal. */
static void damage_is_named(void)
{
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    char **paths, other[5000], why[LZLOG_WHY_SIZE];
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_range(writer, 0, 0, 1500);
    await_first();
    lzlog_writer_close(writer);
    lzlog_close(log);
    int files = list_log(scratch_dir, &paths);
    size_t size;
    uint8_t *data = load(paths[0], &size);
    CHECK(data != NULL && lz_is_packed(data, size));
    snprintf(other, sizeof(other), "%s/damaged", scratch_dir);
    uint64_t state = 7, named = 0;
    for (int i = 0; i < 200; i++) {
        size_t at = next_random(&state) % size;
        uint8_t was = data[at];
        data[at] = (uint8_t)(was ^ (1U << i % 8));
        write_bytes(other, data, i % 2 == 0 ? size : at);
        data[at] = was;
        struct lzlog_reader *reader = lzlog_reader_open(other, NULL, why);
        uint64_t defects = 0;
        if (reader != NULL)
            read_on(reader, 0, &defects);
        named += reader == NULL || defects > 0;
        if (reader != NULL)
            lzlog_reader_close(reader);
        else
            CHECK(strstr(why, other) == why && strlen(why) > strlen(other) + 2);
    }
    CHECK(named >= 198); /* a bit or two of a frame say nothing of what is in it */
    free(data);
    free_list(paths, files);
}

static void invert(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] ^= 0xFF;
}

/* What stands before the damage of a large file, which is compressed in pieces, can be read. */
static void damage_ends_there(void)
{
    enum { LARGE = 8 * SMALL, TIMES = 20 };
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LARGE, .files = LZLOG_FILES_MAX, .compress = true};
    char **paths, other[5000], why[LZLOG_WHY_SIZE];
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    write_range(writer, 0, 0, 30000);
    await_first();
    lzlog_writer_close(writer);
    lzlog_close(log);
    int files = list_log(scratch_dir, &paths);
    size_t size;
    uint64_t defects = 0, named = 0;
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    CHECK(reader != NULL && lzlog_reader_facts(reader).compressed);
    uint64_t all = read_on(reader, 0, &defects);
    lzlog_reader_close(reader);
    uint8_t *data = load(paths[0], &size);
    CHECK(data != NULL && defects == 0 && all > 100);
    snprintf(other, sizeof(other), "%s/damaged", scratch_dir);
    for (size_t i = 0; i < TIMES; i++) {
        size_t at = size / 2 + i * (size / 2 / TIMES), wrong = i % 2 == 0 ? 1 : size - at;
        invert(data + at, wrong);
        write_bytes(other, data, size);
        invert(data + at, wrong);
        reader = lzlog_reader_open(other, NULL, why);
        CHECK(reader != NULL);
        defects = 0;
        CHECK(read_on(reader, 0, &defects) > all / 4);
        named += defects > 0;
        lzlog_reader_close(reader);
    }
    CHECK(named > TIMES / 2);
    free(data);
    free_list(paths, files);
}

/* A failure to compress costs nothing but room, and is over when what was in the way has gone. */
static void what_cannot_be_stays(void)
{
    char path[5000];
    int files;
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    snprintf(path, sizeof(path), "%s/.packed.tmp", scratch_dir);
    CHECK(mkdir(path, 0700) == 0);
    write_range(writer, 0, 0, 2000);
    CHECK(count_packed(&files) == 0 && files > 3);
    check_all(2000);
    CHECK(rmdir(path) == 0);
    write_range(writer, 0, 2000, 4000);
    await_packed();
    lzlog_writer_close(writer);
    lzlog_close(log);
    check_all(4000);
}

struct worker {
    struct lzlog *log;
    pthread_t thread;
    unsigned number;
    _Atomic bool *stop;
};

static void *write_some(void *argument)
{
    struct worker *w = argument;
    struct lzlog_writer *writer = writer_or_die(w->log);
    write_range(writer, w->number, 0, 3000);
    lzlog_writer_close(writer);
    return NULL;
}

/* read_some reads a file that may be written, or be compressed, meanwhile. */
static void read_some(const char *path, char why[LZLOG_WHY_SIZE])
{
    struct lzlog_reader *reader = lzlog_reader_open(path, NULL, why);
    CHECK(reader != NULL);
    struct lzlog_record record;
    enum lzlog_item item;
    unsigned thread;
    uint64_t number;
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        CHECK(item == LZLOG_RECORD || !lzlog_reader_facts(reader).compressed);
        CHECK(item != LZLOG_RECORD || parse_record(record.data, record.size, &thread, &number));
    }
    lzlog_reader_close(reader);
}

/* squeezed is how many bytes Zstandard's first level, as of a log, makes of some. */
static size_t squeezed(const void *data, size_t size)
{
    size_t room = ZSTD_compressBound(size);
    void *to = malloc(room);
    CHECK(to != NULL);
    size_t packed = ZSTD_compress(to, room, data, size, 1);
    CHECK(!ZSTD_isError(packed));
    free(to);
    return packed;
}

/*
 * Why a log is not compressed before it is encrypted: it is encrypted in each write, and a line by itself gets no smaller. Behind the
 * encryption nothing does.
 */
static void lines_by_themselves(void)
{
    enum { LINES = 4000 };
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = 1024 * 1024, .files = LZLOG_FILES_MIN, .secret.key = test_key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    size_t plain = 0, alone = 0, size;
    char line[200], *all = malloc((size_t)LINES * sizeof(line)), **paths;
    CHECK(all != NULL);
    uint64_t state = 1;
    for (unsigned i = 0; i < LINES; i++) {
        uint64_t number = next_random(&state);
        int n = snprintf(line, sizeof(line), "2026-01-01T%02u:%02u:%02u.%06uZ INFO  answered GET /v1/orders/%u with 200 in %u us, %u bytes",
                         i / 3600 % 24, i / 60 % 60, i % 60, (unsigned)(number % 1000000), (unsigned)(number >> 44),
                         (unsigned)(number >> 32 & 4095), (unsigned)(number >> 16 & 16383));
        CHECK(n > 0 && lzlog_write(writer, line, (size_t)n) == LZLOG_OK);
        memcpy(all + plain, line, (size_t)n);
        plain += (size_t)n;
        alone += squeezed(line, (size_t)n);
    }
    lzlog_writer_close(writer);
    lzlog_close(log);
    CHECK(squeezed(all, plain) < plain / 4);
    CHECK(alone > plain);
    CHECK(list_log(scratch_dir, &paths) == 1);
    uint8_t *file = load(paths[0], &size);
    CHECK(file != NULL && size > plain + LZ_PAGE && squeezed(file + LZ_PAGE, size - LZ_PAGE) > (size - LZ_PAGE) * 95 / 100);
    free(file);
    free(all);
    free_list(paths, 1);
}

static void *flush_and_read(void *argument)
{
    struct worker *w = argument;
    struct lzlog_writer *writer = writer_or_die(w->log);
    while (!atomic_load(w->stop)) {
        char **paths, why[LZLOG_WHY_SIZE];
        CHECK(lzlog_flush(writer) == LZLOG_OK);
        int files = list_log(scratch_dir, &paths);
        for (int i = 0; i < files; i++)
            read_some(paths[i], why);
        free_list(paths, files);
    }
    lzlog_writer_close(writer);
    return NULL;
}

/* Writers, a reader, flushes and the compressor at once; no file goes. */
static void all_at_once(void)
{
    struct lzlog_options options = packing(LZLOG_FILES_MAX);
    struct lzlog *log = open_or_die(&options);
    struct worker workers[THREADS + 1];
    _Atomic bool stop = false;
    for (unsigned i = 0; i <= THREADS; i++) {
        workers[i] = (struct worker){.log = log, .number = i, .stop = &stop};
        CHECK(pthread_create(&workers[i].thread, NULL, i < THREADS ? write_some : flush_and_read, &workers[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    atomic_store(&stop, true);
    pthread_join(workers[THREADS].thread, NULL);
    await_first();
    lzlog_close(log);
    struct seen seen;
    read_log(scratch_dir, NULL, &seen);
    CHECK(seen.defects == 0 && seen.records == THREADS * 3000);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"full files are compressed, and read as before", full_files},
        {"lines get smaller", lines_get_smaller},
        {"a line by itself gets no smaller, nor does what is encrypted", lines_by_themselves},
        {"the oldest files go, compressed or not", oldest_go},
        {"a compressed file is as old as it was", age_is_kept},
        {"nothing that is encrypted is compressed", not_with_a_secret},
        {"readers keep the files that they have open", readers_keep_theirs},
        {"what cannot be compressed stays as it is", what_cannot_be_stays},
        {"damage of a compressed file is named", damage_is_named},
        {"what stands before the damage can be read", damage_ends_there},
        {"writers, readers and flushes do not mind", all_at_once},
    };
    return RUN_TESTS("pack", tests, argc > 1 ? argv[1] : "/tmp");
}
