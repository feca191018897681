/*
 * lzlog itself, in all its ways, and writes that lack a part of it (LZ_LEFT_OUT in write.c): what each part takes. Its files are recycled while it runs, so it needs no rounds; but with new pages it has them, as its peers
 * do, and begins each with a log that does not recycle.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../format.h"
#include "../lzlog.h"
#include "bench.h"

enum { FILE_BYTES = 64 * 1024 * 1024, FILES = 4, FRESH_FILES = 10, RESERVATION = 15, AES = 16, FRESH = 32, LACKING = 64 };

struct logging {
    struct lzlog *log;
    unsigned threads;
    int variant;
    char dir[4200];
};

static const uint8_t key[LZLOG_KEY_SIZE] = "a key for benchmarks, no secret";

static void *logging_open(const struct peer *peer, const char *dir)
{
    struct logging *l = calloc(1, sizeof(*l));
    if (l == NULL)
        return NULL;
    l->threads = peer->threads;
    l->variant = peer->variant;
    snprintf(l->dir, sizeof(l->dir), "%s/log", dir);
    return l;
}

static bool begin_log(struct logging *l)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_options options = {.dir = l->dir,
                                    .file_bytes = FILE_BYTES / divisor,
                                    .files = (l->variant & FRESH) != 0 ? FRESH_FILES : FILES,
                                    .reservation = (enum lzlog_reservation)(l->variant & RESERVATION),
                                    .key = (l->variant & AES) != 0 ? key : NULL};
    l->log = lzlog_open(&options, why);
    if (l->log == NULL)
        fprintf(stderr, "lzlog-bench: %s\n", why);
    return l->log != NULL;
}

static void remove_file(const char *path)
{
    if (unlink(path) != 0)
        fprintf(stderr, "lzlog-bench: %s: %s\n", path, strerror(errno));
}

static bool logging_begin(void *self)
{
    struct logging *l = self;
    return l->log != NULL || begin_log(l);
}

static void *logging_enter(void *self)
{
    return lzlog_writer_open(((struct logging *)self)->log);
}

static void logging_leave(void *thread)
{
    lzlog_writer_close(thread);
}

/* A batch calls the one function that it names, and not by a pointer. */
#define BATCH_OF(name, function)                                                                                                   \
    static bool name(void *thread, uint64_t records)                                                                               \
    {                                                                                                                              \
        for (uint64_t n = 0; n < records; n += MESSAGES) {                                                                         \
            for (unsigned i = 0; i < MESSAGES; i++) {                                                                              \
                if (function(thread, messages[i].data, messages[i].size) != LZLOG_OK)                                              \
                    return false;                                                                                                  \
            }                                                                                                                      \
        }                                                                                                                          \
        return true;                                                                                                               \
    }
#define BATCH_WITHOUT(part)                                                                                                        \
    enum lzlog_status lzlog_write_without_##part(struct lzlog_writer *writer, const void *data, size_t size);                      \
    BATCH_OF(batch_without_##part, lzlog_write_without_##part)

BATCH_OF(logging_batch, lzlog_write)
BATCH_WITHOUT(FORK)
BATCH_WITHOUT(TURN)
BATCH_WITHOUT(ADDITION)
BATCH_WITHOUT(AHEAD)
BATCH_WITHOUT(ANNOUNCEMENT)
BATCH_WITHOUT(CHECKSUM)
BATCH_WITHOUT(COMMITMENT)
BATCH_WITHOUT(ALL)

/* With the clock, each record costs the time of day, too. */
static bool logging_clock_batch(void *thread, uint64_t records)
{
    for (uint64_t n = 0; n < records; n += MESSAGES) {
        for (unsigned i = 0; i < MESSAGES; i++) {
            ask_the_time();
            if (lzlog_write(thread, messages[i].data, messages[i].size) != LZLOG_OK)
                return false;
        }
    }
    return true;
}

static bool logging_finish(void *self)
{
    (void)self;
    return true; /* it is in the page cache */
}

/* read_file counts the records of a file and checks that each is a message and, from one thread, the next one. */
static const char *read_file(const struct logging *l, const char *path, uint64_t *records, int *last)
{
    char why[LZLOG_WHY_SIZE];
    struct lzlog_reader *reader = lzlog_reader_open(path, (l->variant & AES) != 0 ? key : NULL, why);
    if (reader == NULL)
        return "a file cannot be opened";
    struct lzlog_record record;
    enum lzlog_item item;
    const char *fault = NULL;
    while (fault == NULL && (item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        int i = item == LZLOG_RECORD ? message_at((const char *)record.data, record.size) : -1;
        if (i < 0 || record.size != messages[i].size)
            fault = "there is a record that nobody wrote";
        else if (l->threads == 1 && *last >= 0 && i != (*last + 1) % MESSAGES)
            fault = "the records are not in the order in which they were written";
        *last = i;
        ++*records;
    }
    lzlog_reader_close(reader);
    return fault;
}

/* read_payloads does the same with a file whose records lack something: each payload is where it should be, up to the seal. */
static const char *read_payloads(const char *path, uint64_t *records, int *last)
{
    size_t room = FILE_BYTES / divisor;
    uint8_t *data = malloc(room);
    FILE *file = fopen(path, "rb");
    size_t size = data != NULL && file != NULL ? fread(data, 1, room, file) : 0;
    const struct lz_header *head = (const struct lz_header *)data;
    uint64_t end = size >= LZ_DATA ? lz_seal_end(head->identity.seed, head->seal) : 0;
    const char *fault = end >= LZ_DATA && end <= size ? NULL : "a file has no seal";
    for (uint64_t at = LZ_DATA; fault == NULL && at < end; ++*records) {
        int i = message_at((const char *)data + at + LZ_WORD, end - at - LZ_WORD);
        if (i < 0 || (*last >= 0 && i != (*last + 1) % MESSAGES))
            fault = "the payloads are not those that were written";
        else
            at += lz_span(messages[i].size);
        *last = i;
    }
    if (file != NULL)
        fclose(file);
    free(data);
    return fault;
}

static const char *logging_fault(void *self, uint64_t written, bool last)
{
    struct logging *l = self;
    bool fresh = (l->variant & FRESH) != 0;
    if (!last && !fresh)
        return NULL;
    lzlog_close(l->log);
    l->log = NULL;
    struct dirent **names;
    int count = scandir(l->dir, &names, NULL, alphasort), message = -1;
    const char *fault = count < 0 ? "the log's folder cannot be listed" : NULL;
    uint64_t records = 0;
    for (int i = 0; i < count; i++) {
        char path[4500];
        snprintf(path, sizeof(path), "%s/%s", l->dir, names[i]->d_name);
        if (fault == NULL && names[i]->d_name[0] != '.')
            fault = (l->variant & LACKING) != 0 ? read_payloads(path, &records, &message) : read_file(l, path, &records, &message);
        if (fresh && names[i]->d_name[0] != '.')
            remove_file(path);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
    uint64_t kept = (uint64_t)(FILES - 2) * (FILE_BYTES / divisor) / (MESSAGE_MAX + 16);
    if (fault == NULL && records < (written < kept || fresh ? written : kept))
        fault = "records are missing";
    return fault;
}

static void logging_close(void *self)
{
    struct logging *l = self;
    if (l->log != NULL)
        lzlog_close(l->log);
    free(l);
}

/* The warm-up fills every file once: from then on the pages are there, as in a logger that has run for a while. */
#define LOGGING(name, threads, round, warm_up, variant, batch_function)                                                            \
    {                                                                                                                              \
        name, threads, round, warm_up, variant, .open = logging_open, .begin = logging_begin, .enter = logging_enter,              \
            .leave = logging_leave, .fault = logging_fault, .close = logging_close, .batch = (batch_function),                     \
            .finish = logging_finish                                                                                               \
    }
#define RECYCLED(name, threads, variant) LOGGING(name, threads, 0, ROUND + ROUND / 2, variant, logging_batch)

const struct peer peer_lzlog_1 = RECYCLED("lzlog-1", 1, LZLOG_FETCH_ADD);
const struct peer peer_lzlog_1_cas = RECYCLED("lzlog-1-cas", 1, LZLOG_CAS);
const struct peer peer_lzlog_1_mutex = RECYCLED("lzlog-1-mutex", 1, LZLOG_MUTEX);
const struct peer peer_lzlog_1_aes = RECYCLED("lzlog-1-aes", 1, LZLOG_FETCH_ADD | AES);
const struct peer peer_lzlog_5 = RECYCLED("lzlog-5", 5, LZLOG_FETCH_ADD);
const struct peer peer_lzlog_10 = RECYCLED("lzlog-10", 10, LZLOG_FETCH_ADD);
const struct peer peer_lzlog_10_cas = RECYCLED("lzlog-10-cas", 10, LZLOG_CAS);
const struct peer peer_lzlog_10_mutex = RECYCLED("lzlog-10-mutex", 10, LZLOG_MUTEX);
const struct peer peer_lzlog_10_aes = RECYCLED("lzlog-10-aes", 10, LZLOG_FETCH_ADD | AES);
/* The same work as spdlog's: the time of day for each record, in pages that are new. */
const struct peer peer_lzlog_1_equal = LOGGING("lzlog-1-equal", 1, ROUND, WARM_UP, LZLOG_FETCH_ADD | FRESH, logging_clock_batch);

#define WITHOUT(name, part) LOGGING("lzlog-1-without-" name, 1, 0, ROUND + ROUND / 2, LZLOG_FETCH_ADD | LACKING, batch_without_##part)
const struct peer peers_lzlog_without[LACKING_WRITES] = {
    WITHOUT("fork", FORK),
    WITHOUT("turn", TURN),
    WITHOUT("addition", ADDITION),
    WITHOUT("ahead", AHEAD),
    WITHOUT("announcement", ANNOUNCEMENT),
    WITHOUT("checksum", CHECKSUM),
    WITHOUT("commitment", COMMITMENT),
    WITHOUT("all", ALL),
};
