/* A minimum of a test framework, and what several suites need. */
#ifndef LZ_TEST_H
#define LZ_TEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../lzlog.h"

struct test {
    const char *name; /* a sentence */
    void (*run)(void);
};

/* run_tests runs all tests, each with an empty scratch folder, and prints a line for the suite and one for each failure. */
int run_tests(const char *suite, const struct test *tests, size_t count, const char *scratch);

#define RUN_TESTS(suite, tests, scratch) run_tests(suite, tests, sizeof(tests) / sizeof((tests)[0]), scratch)

/* CHECK ends the test, and its process if it is a child's, when the condition does not hold. */
#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))
_Noreturn void check_failed(const char *file, int line, const char *condition);

extern char scratch_dir[4096]; /* of the test that runs */

/* A random generator that is the same on every machine (xorshift64*). */
uint64_t next_random(uint64_t *state);

/* A record's content follows from its thread and number, and is recognised again. */
size_t make_record(unsigned thread, uint64_t number, uint8_t *data);
bool parse_record(const uint8_t *data, size_t size, unsigned *thread, uint64_t *number);

struct lzlog *open_or_die(const struct lzlog_options *options);
struct lzlog_writer *writer_or_die(struct lzlog *log);

/* list_log lists a log's files by age, as paths; free_list frees them. */
int list_log(const char *dir, char ***paths);
void free_list(char **paths, int count);

void remove_log(const char *dir);

/* What was read from a log: for each thread the numbers seen, which must rise by one. */
enum { SEEN_THREADS = 16 };
struct seen {
    uint64_t first[SEEN_THREADS], next[SEEN_THREADS], records, defects;
};
void read_log(const char *dir, const uint8_t *key, struct seen *seen);

/* load reads a whole file into memory aligned to a page, which the caller frees; NULL if the file is not there any more. */
uint8_t *load(const char *path, size_t *size);

extern const uint8_t test_key[LZLOG_KEY_SIZE];

#endif
