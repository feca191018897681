/* Encrypted logs, and readers beside writers. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../cipher.h"
#include "../crc32c.h"
#include "../format.h"
#include "test.h"

enum { SMALL = LZLOG_FILE_MIN };

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 16);
}

/* The key stream itself is what zeros become. */
static void no_stream_twice(void)
{
    static const uint8_t zeros[1000];
    char **paths, why[LZLOG_WHY_SIZE];
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL, .files = 12, .key = test_key};
    uint8_t(*blocks)[16] = malloc((size_t)12 * SMALL);
    size_t count = 0;
    CHECK(blocks != NULL);
    for (int session = 0; session < 40; session++) {
        struct lzlog *log = open_or_die(&options);
        struct lzlog_writer *a = writer_or_die(log), *b = writer_or_die(log);
        for (size_t i = 0; i < 60; i++)
            CHECK(lzlog_write(i % 3 == 0 ? a : b, zeros, 16 + (i * 37) % 900) == LZLOG_OK);
        lzlog_writer_close(a);
        lzlog_writer_close(b);
        lzlog_close(log);
    }
    int files = list_log(scratch_dir, &paths);
    CHECK(files > 5);
    for (int i = 0; i < files; i++) {
        struct lzlog_reader *reader = lzlog_reader_open(paths[i], NULL, why); /* as it lies there */
        struct lzlog_record record;
        CHECK(reader != NULL);
        while (lzlog_reader_next(reader, &record) == LZLOG_RECORD) {
            /* whole blocks of the key stream only, wherever in the file they begin */
            size_t skip = (16 - (record.offset + LZ_WORD) % 16) % 16;
            for (size_t at = skip; at + 16 <= record.size; at += 16)
                memcpy(blocks[count++], record.data + at, 16);
        }
        lzlog_reader_close(reader);
    }
    CHECK(count > 10000);
    qsort(blocks, count, 16, compare);
    for (size_t i = 1; i < count; i++)
        CHECK(memcmp(blocks[i - 1], blocks[i], 16) != 0);
    free(blocks);
    free_list(paths, files);
}

static void fresh_nonces(void)
{
    enum { ROUNDS = 12 };
    uint8_t nonces[ROUNDS * 4][16] = {{0}};
    int count = 0;
    static const uint8_t data[1000];
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL, .files = 3, .key = test_key};
    for (int round = 0; round < ROUNDS; round++) { /* each recycles every file at least once */
        struct lzlog *log = open_or_die(&options);
        struct lzlog_writer *writer = writer_or_die(log);
        for (int i = 0; i < 600; i++)
            CHECK(lzlog_write(writer, data, sizeof(data)) == LZLOG_OK);
        lzlog_writer_close(writer);
        lzlog_close(log);
        char **paths;
        int files = list_log(scratch_dir, &paths);
        for (int i = 0; i < files - 1; i++) { /* the last one goes on in the next round */
            size_t size;
            uint8_t *file = load(paths[i], &size);
            memcpy(nonces[count++], ((const struct lz_header *)(const void *)file)->identity.nonce, LZ_NONCE);
            free(file);
        }
        free_list(paths, files);
    }
    CHECK(count >= ROUNDS);
    qsort(nonces, (size_t)count, 16, compare);
    for (int i = 1; i < count; i++)
        CHECK(memcmp(nonces[i - 1], nonces[i], 16) != 0);
}

static void write_one(const struct lzlog_options *options)
{
    uint8_t data[LZLOG_RECORD_MAX + 8];
    struct lzlog *log = open_or_die(options);
    struct lzlog_writer *writer = writer_or_die(log);
    for (uint64_t i = 0; i < 20; i++)
        CHECK(lzlog_write(writer, data, make_record(0, i, data)) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

static void keys_are_needed(void)
{
    uint8_t other[LZLOG_KEY_SIZE] = "another key";
    char **paths, why[LZLOG_WHY_SIZE];
    struct lzlog_options options = {.dir = scratch_dir, .key = test_key};
    write_one(&options);
    int files = list_log(scratch_dir, &paths);
    CHECK(files == 1);
    CHECK(lzlog_reader_open(paths[0], other, why) == NULL && strstr(why, "not its key") != NULL);
    options.key = other;
    CHECK(lzlog_open(&options, why) == NULL && strstr(why, "key") != NULL);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    struct lzlog_record record;
    unsigned thread;
    uint64_t number;
    CHECK(reader != NULL && lzlog_reader_facts(reader).encrypted);
    CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD);
    CHECK(!parse_record(record.data, record.size, &thread, &number));
    lzlog_reader_close(reader);
    struct seen seen;
    read_log(scratch_dir, test_key, &seen);
    CHECK(seen.defects == 0 && seen.records == 20);
    free_list(paths, files);
}

/* Whoever can write to the folder can make a plain file. So a key says that there is none. */
static void plain_files_are_refused(void)
{
    char plain[5000], secret[5000], why[LZLOG_WHY_SIZE], path[6000];
    snprintf(plain, sizeof(plain), "%s/plain", scratch_dir);
    snprintf(secret, sizeof(secret), "%s/secret", scratch_dir);
    struct lzlog_options options = {.dir = plain};
    write_one(&options);
    snprintf(path, sizeof(path), "%s/000000000001.lzlog", plain);
    CHECK(lzlog_reader_open(path, test_key, why) == NULL && strstr(why, "it is not encrypted") != NULL);
    options.key = test_key;
    CHECK(lzlog_open(&options, why) == NULL && strstr(why, "000000000001.lzlog is not encrypted") != NULL);
    options.dir = secret;
    write_one(&options);
    write_one(&options);
    CHECK(lzlog_open(&(struct lzlog_options){.dir = secret}, why) == NULL && strstr(why, "is encrypted, and") != NULL);
    /* Not only the newest file is looked at. */
    char to[6000];
    snprintf(to, sizeof(to), "%s/000000000001.lzlog", secret);
    CHECK(rename(path, to) == 0);
    CHECK(lzlog_open(&options, why) == NULL && strstr(why, "000000000001.lzlog is not encrypted") != NULL);
}

/* add_zeros adds a record of zeros to a log, and takes it as it lies there: it is key stream. */
static void add_zeros(const char *dir, uint8_t stream[64])
{
    static const uint8_t zeros[64];
    char **paths, why[LZLOG_WHY_SIZE];
    struct lzlog_options options = {.dir = dir, .key = test_key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    CHECK(lzlog_write(writer, zeros, sizeof(zeros)) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
    int files = list_log(dir, &paths);
    struct lzlog_reader *reader = lzlog_reader_open(paths[files - 1], NULL, why);
    struct lzlog_record record;
    CHECK(reader != NULL);
    while (lzlog_reader_next(reader, &record) == LZLOG_RECORD) {
        CHECK(record.size == sizeof(zeros));
        memcpy(stream, record.data, sizeof(zeros));
    }
    lzlog_reader_close(reader);
    free_list(paths, files);
}

static void copy_log(const char *from, const char *to)
{
    char **paths, path[6000];
    int files = list_log(from, &paths);
    CHECK(mkdir(to, 0700) == 0);
    for (int i = 0; i < files; i++) {
        size_t size;
        uint8_t *bytes = load(paths[i], &size);
        snprintf(path, sizeof(path), "%s/%s", to, strrchr(paths[i], '/') + 1);
        FILE *copy = fopen(path, "wb");
        CHECK(copy != NULL && fwrite(bytes, 1, size, copy) == size && fclose(copy) == 0);
        free(bytes);
    }
    free_list(paths, files);
}

/* Copied or put back under the same kernel, a folder looks as its newest state does. */
static void copied_folder(void)
{
    char original[5000], copy[5000];
    uint8_t first[64], here[64], there[64];
    snprintf(original, sizeof(original), "%s/original", scratch_dir);
    snprintf(copy, sizeof(copy), "%s/copy", scratch_dir);
    add_zeros(original, first);
    copy_log(original, copy);
    add_zeros(original, here);
    add_zeros(copy, there);
    CHECK(memcmp(here, there, sizeof(here)) != 0);
    CHECK(memcmp(here, first, sizeof(here)) != 0 && memcmp(there, first, sizeof(there)) != 0);
}

/* forge makes the record at a place whole again, as whoever can write the file but has no key would: with a word that fits. */
static void forge(uint8_t *file, uint64_t place, size_t size)
{
    const struct lz_identity *id = (const struct lz_identity *)(const void *)file;
    uint64_t word = lz_word(LZ_COMMITTED, lz_mix(id->seed, place, size), size, crc32c_portable(file + place + LZ_WORD, size));
    memcpy(file + place, &word, sizeof(word));
}

/* count reads a file of bytes with a key. */
static void count(const uint8_t *bytes, size_t size, const uint8_t *key, int *records, int *defects)
{
    char path[5000], why[LZLOG_WHY_SIZE];
    struct lzlog_record record;
    enum lzlog_item item;
    snprintf(path, sizeof(path), "%s/forged", scratch_dir);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    struct lzlog_reader *reader = lzlog_reader_open(path, key, why);
    CHECK(reader != NULL);
    *records = *defects = 0;
    while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
        CHECK(item == LZLOG_RECORD || key == NULL || strstr(record.text, "its tag is wrong") != NULL);
        ++*(item == LZLOG_RECORD ? records : defects);
    }
    lzlog_reader_close(reader);
}

static void check_forgery(const uint8_t *bytes, size_t size, int wrong)
{
    int records, defects;
    count(bytes, size, NULL, &records, &defects); /* without the key it looks like any other file */
    CHECK(records == 3 && defects == 0);
    count(bytes, size, test_key, &records, &defects);
    CHECK(records == 3 - wrong && defects == wrong);
}

static void forgeries_are_found(void)
{
    enum { SIZE = 40, STORED = SIZE + LZ_TAG };
    const uint64_t first = LZ_DATA, second = first + lz_span(STORED);
    char **paths;
    struct lzlog_options options = {.dir = scratch_dir, .key = test_key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    for (int i = 0; i < 3; i++)
        CHECK(lzlog_write(writer, "forty bytes, which somebody wants other.", SIZE) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
    size_t size;
    CHECK(list_log(scratch_dir, &paths) == 1);
    uint8_t *bytes = load(paths[0], &size), *forged = load(paths[0], &size);
    check_forgery(bytes, size, 0);
    for (size_t at = 0; at < STORED; at++) { /* a bit of the text, or of the tag */
        memcpy(forged, bytes, size);
        forged[first + LZ_WORD + at] ^= 1;
        forge(forged, first, STORED);
        check_forgery(forged, size, 1);
    }
    memcpy(forged, bytes, size); /* a record in the place of another */
    memcpy(forged + second + LZ_WORD, bytes + first + LZ_WORD, STORED);
    forge(forged, second, STORED);
    check_forgery(forged, size, 1);
    free(bytes);
    free(forged);
    free_list(paths, 1);
}

/* cut ends a file before a record, as whoever can write it but has no key would: with a seal that fits. It returns the new size. */
static size_t cut(uint8_t *file, uint64_t place)
{
    struct lz_header *header = (struct lz_header *)(void *)file;
    atomic_store(&header->seal, lz_seal_word(header->identity.seed, place));
    return place;
}

static void check_cut(const uint8_t *bytes, size_t size, int left)
{
    char path[5000], why[LZLOG_WHY_SIZE];
    struct lzlog_record record;
    snprintf(path, sizeof(path), "%s/cut", scratch_dir);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    for (int with = 0; with < 2; with++) {
            struct lzlog_reader *reader = lzlog_reader_open(path, with ? test_key : NULL, why);
        CHECK(reader != NULL);
        for (int i = 0; i < left; i++)
            CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD);
        if (with && left < 3)
            CHECK(lzlog_reader_next(reader, &record) == LZLOG_DEFECT && record.offset == size && strstr(record.text, "cut off") != NULL);
        for (int i = 0; i < 2; i++)
            CHECK(lzlog_reader_next(reader, &record) == LZLOG_END);
        lzlog_reader_close(reader);
    }
}

static void cuts_are_found(void)
{
    enum { SIZE = 40 };
    char **paths;
    struct lzlog_options options = {.dir = scratch_dir, .key = test_key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    for (int i = 0; i < 3; i++)
        CHECK(lzlog_write(writer, "forty bytes, which somebody wants to go.", SIZE) == LZLOG_OK);
    lzlog_writer_close(writer);
    lzlog_close(log);
    size_t size;
    CHECK(list_log(scratch_dir, &paths) == 1);
    uint8_t *bytes = load(paths[0], &size);
    check_cut(bytes, size, 3);
    for (int left = 2; left >= 0; left--)
        check_cut(bytes, cut(bytes, LZ_DATA + (uint64_t)left * lz_span(SIZE + LZ_TAG)), left);
    free(bytes);
    free_list(paths, 1);
}

/* opens_with tells whether a file opens with its key when a field of its header is another and the checksum fits. */
static bool opens_with(const char *path, size_t at, size_t field, const void *value)
{
    char why[LZLOG_WHY_SIZE];
    size_t size;
    uint8_t *bytes = load(path, &size);
    memcpy(bytes + at, value, field);
    lz_identity_finish((struct lz_identity *)(void *)bytes);
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, size, file) == size && fclose(file) == 0);
    free(bytes);
    struct lzlog_reader *reader = lzlog_reader_open(path, test_key, why);
    if (reader == NULL)
        CHECK(strstr(why, "header was changed") != NULL || strstr(why, "another version") != NULL);
    else
        lzlog_reader_close(reader);
    return reader != NULL;
}

static void headers_are_sealed(void)
{
    char **paths;
    struct lzlog_options options = {.dir = scratch_dir, .key = test_key};
    write_one(&options);
    CHECK(list_log(scratch_dir, &paths) == 1);
    const uint64_t right = 1, other = 2;
    const uint32_t now = LZ_VERSION, earlier = 1;
    CHECK(opens_with(paths[0], offsetof(struct lz_identity, number), sizeof(right), &right));
    CHECK(!opens_with(paths[0], offsetof(struct lz_identity, number), sizeof(other), &other));
    CHECK(opens_with(paths[0], offsetof(struct lz_identity, number), sizeof(right), &right));
    CHECK(!opens_with(paths[0], offsetof(struct lz_identity, version), sizeof(earlier), &earlier));
    CHECK(opens_with(paths[0], offsetof(struct lz_identity, version), sizeof(now), &now));
    free_list(paths, 1);
}

/* Another kernel has run since the last session: what the disk says may be older than what was written. */
static void reboot(void)
{
    char **paths;
    struct lz_session session = {.boot = "another kernel"};
    session.crc = crc32c_portable(session.boot, sizeof(session.boot));
    int files = list_log(scratch_dir, &paths), fd = open(paths[files - 1], O_WRONLY);
    CHECK(fd >= 0 && pwrite(fd, &session, sizeof(session), offsetof(struct lz_header, session)) == sizeof(session));
    close(fd);
    free_list(paths, files);
}

static void after_a_reboot(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .key = test_key};
    for (int sessions = 1; sessions <= 3; sessions++) {
        char **paths;
        write_one(&options);
        int files = list_log(scratch_dir, &paths);
        CHECK(files == sessions);
        free_list(paths, files);
        reboot();
    }
}

struct writing {
    struct lzlog *log;
    _Atomic bool stop;
};

static void *write_on(void *argument)
{
    struct writing *w = argument;
    static uint8_t data[LZLOG_RECORD_MAX + 8];
    struct lzlog_writer *writer = writer_or_die(w->log);
    for (uint64_t i = 0; !atomic_load(&w->stop); i++)
        CHECK(lzlog_write(writer, data, make_record(0, i, data)) == LZLOG_OK);
    lzlog_writer_close(writer);
    return NULL;
}

/* A reader follows the files while they are written, rotated and recycled. All that it gets must be whole and in order. */
static void reader_beside_writer(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL, .files = 4};
    struct writing w = {.log = open_or_die(&options)};
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, write_on, &w) == 0);
    uint64_t records = 0, opened = 0;
    while (opened < 60 || records < 1000) { /* the test ends if it takes too long */
        char **paths, why[LZLOG_WHY_SIZE];
        int files = list_log(scratch_dir, &paths);
        for (int i = 0; i < files; i++) {
            struct lzlog_reader *reader = lzlog_reader_open(paths[i], NULL, why);
            if (reader == NULL)
                continue; /* it went meanwhile */
            opened++;
            struct lzlog_record record;
            enum lzlog_item item;
            uint64_t next = 0, number;
            unsigned who;
            while ((item = lzlog_reader_next(reader, &record)) != LZLOG_END) {
                if (item == LZLOG_DEFECT)
                    continue; /* the record that is being written */
                CHECK(parse_record(record.data, record.size, &who, &number));
                CHECK(next == 0 || number >= next);
                next = number + 1;
                records++;
            }
            lzlog_reader_close(reader);
        }
        free_list(paths, files);
    }
    atomic_store(&w.stop, true);
    pthread_join(thread, NULL);
    lzlog_close(w.log);
}

static void reader_keeps_its_file(void)
{
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = SMALL, .files = 3};
    uint8_t data[LZLOG_RECORD_MAX + 8];
    char **paths, why[LZLOG_WHY_SIZE];
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    uint64_t number = 0;
    for (; number < 50; number++)
        CHECK(lzlog_write(writer, data, make_record(0, number, data)) == LZLOG_OK);
    int files = list_log(scratch_dir, &paths);
    struct lzlog_reader *reader = lzlog_reader_open(paths[0], NULL, why);
    CHECK(reader != NULL);
    for (; number < 6000; number++) /* many times around */
        CHECK(lzlog_write(writer, data, make_record(0, number, data)) == LZLOG_OK);
    CHECK(access(paths[0], F_OK) != 0);
    struct lzlog_record record;
    uint64_t got;
    unsigned who;
    for (uint64_t i = 0; i < 50; i++) {
        CHECK(lzlog_reader_next(reader, &record) == LZLOG_RECORD);
        CHECK(parse_record(record.data, record.size, &who, &got) && got == i);
    }
    lzlog_reader_close(reader);
    free_list(paths, files);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"no block of key stream is used twice, in no file and no session", no_stream_twice},
        {"a folder that was copied goes on with another key stream than its copy", copied_folder},
        {"a record that was changed or moved by who has no key is found with it", forgeries_are_found},
        {"records that were cut off are missed with it", cuts_are_found},
        {"a header that was changed is found, too, and a file of another version is refused", headers_are_sealed},
        {"every file has a nonce of its own, a recycled one too", fresh_nonces},
        {"records cannot be read without the key, nor added with another", keys_are_needed},
        {"with a key a plain file is refused, and in a plain log an encrypted one", plain_files_are_refused},
        {"an encrypted file is not gone on with after a reboot", after_a_reboot},
        {"a reader beside a writer gets whole records only", reader_beside_writer},
        {"a file that is being read is not recycled", reader_keeps_its_file},
    };
    return RUN_TESTS("secret", tests, argc > 1 ? argv[1] : "/tmp");
}
