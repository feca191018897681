#define _GNU_SOURCE
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEST_SECONDS = 20 * 60 }; /* a test that takes longer hangs: on a slow and busy machine, too */

char scratch_dir[4096];
const uint8_t test_key[LZLOG_KEY_SIZE] = "thirty-two bytes, of a test key";

void check_failed(const char *file, int line, const char *condition)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
    fflush(NULL);
    _exit(1);
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st;
    (void)kind;
    (void)ftw;
    return remove(path);
}

/* Each test runs in a process of its own, so that none can harm another, and a signal is a failure with a name. */
int run_tests(const char *suite, const struct test *tests, size_t count, const char *scratch)
{
    size_t failed = 0;
    mkdir(scratch, 0700);
    for (size_t i = 0; i < count; i++) {
        snprintf(scratch_dir, sizeof(scratch_dir), "%s/%s-XXXXXX", scratch, suite);
        if (mkdtemp(scratch_dir) == NULL) {
            perror(scratch_dir);
            return 1;
        }
        pid_t child = fork();
        if (child == 0) {
            alarm(TEST_SECONDS);
            tests[i].run();
            exit(0); /* leaks are looked for here */
        }
        int status = 1;
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "%s: FAILED: %s (%s %d)\n", suite, tests[i].name, WIFSIGNALED(status) ? "signal" : "status",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
            failed++;
        }
        nftw(scratch_dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    }
    rmdir(scratch);
    printf("%s: %zu of %zu tests passed\n", suite, count - failed, count);
    return failed > 0;
}

uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

/* The record begins with its thread and number; the rest, and its length, follow from them. */
size_t make_record(unsigned thread, uint64_t number, uint8_t *data)
{
    uint64_t head = (uint64_t)thread << 48 | number, state = head * 2 + 1, shape = next_random(&state) % 1000;
    size_t size = shape < 900 ? 8 + shape % 250 : shape < 999 ? 8 + shape * 3 : LZLOG_RECORD_MAX;
    memcpy(data, &head, 8);
    for (size_t i = 8; i < size; i += 8) {
        uint64_t word = next_random(&state);
        memcpy(data + i, &word, size - i < 8 ? size - i : 8);
    }
    return size;
}

bool parse_record(const uint8_t *data, size_t size, unsigned *thread, uint64_t *number)
{
    static _Thread_local uint8_t again[LZLOG_RECORD_MAX + 8];
    uint64_t head;
    if (size < 8)
        return false;
    memcpy(&head, data, 8);
    *thread = (unsigned)(head >> 48);
    *number = head & ((UINT64_C(1) << 48) - 1);
    return make_record(*thread, *number, again) == size && memcmp(again, data, size) == 0;
}

struct lzlog *open_or_die(const struct lzlog_options *options)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog *log = lzlog_open(options, why);
    if (log == NULL)
        fprintf(stderr, "%s\n", why);
    CHECK(log != NULL);
    return log;
}

struct lzlog_writer *writer_or_die(struct lzlog *log)
{
    struct lzlog_writer *writer = lzlog_writer_open(log);
    CHECK(writer != NULL);
    return writer;
}

static int is_log_file(const struct dirent *entry)
{
    return strstr(entry->d_name, ".lzlog") != NULL;
}

int list_log(const char *dir, char ***paths)
{
    struct dirent **names;
    int count = scandir(dir, &names, is_log_file, alphasort);
    CHECK(count >= 0);
    *paths = calloc((size_t)count + 1, sizeof(**paths));
    CHECK(*paths != NULL);
    for (int i = 0; i < count; i++) {
        CHECK(asprintf(&(*paths)[i], "%s/%s", dir, names[i]->d_name) > 0);
        free(names[i]);
    }
    free(names);
    return count;
}

void free_list(char **paths, int count)
{
    for (int i = 0; i < count; i++)
        free(paths[i]);
    free(paths);
}

void remove_log(const char *dir)
{
    char **paths;
    int count = list_log(dir, &paths);
    for (int i = 0; i < count; i++)
        CHECK(unlink(paths[i]) == 0);
    free_list(paths, count);
}

void read_log(const char *dir, const uint8_t *key, struct seen *seen)
{
    char **paths, why[LZLOG_WHY_SIZE];
    int count = list_log(dir, &paths);
    memset(seen, 0, sizeof(*seen));
    for (int i = 0; i < count; i++) {
        struct lzlog_reader *reader = lzlog_reader_open(paths[i], key, why);
        if (reader == NULL)
            fprintf(stderr, "%s\n", why);
        CHECK(reader != NULL);
        struct lzlog_record record;
        enum lzlog_item item;
        while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
            unsigned thread;
            uint64_t number;
            if (item == LZLOG_DEFECT) {
                seen->defects++;
                continue;
            }
            CHECK(parse_record(record.data, record.size, &thread, &number));
            CHECK(thread < SEEN_THREADS);
            if (seen->next[thread] == 0)
                seen->first[thread] = number;
            else
                CHECK(number == seen->next[thread]);
            seen->next[thread] = number + 1;
            seen->records++;
        }
        lzlog_reader_close(reader);
    }
    free_list(paths, count);
}

uint8_t *load(const char *path, size_t *size)
{
    struct stat st;
    FILE *file = fopen(path, "rb");
    if (file == NULL && errno == ENOENT)
        return NULL;
    CHECK(file != NULL && fstat(fileno(file), &st) == 0);
    *size = (size_t)st.st_size;
    uint8_t *data = aligned_alloc(4096, (*size + 4096) / 4096 * 4096);
    CHECK(data != NULL && fread(data, 1, *size, file) == *size);
    fclose(file);
    return data;
}
