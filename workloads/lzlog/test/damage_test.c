/* Files cut, altered and torn: the parser finds what is wrong, and nothing that is not there. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../scan.h"
#include "test.h"

enum { RECORDS = 12, MOST = 70 };

/* What a scan of some bytes found. */
struct found {
    bool refused; /* already the header */
    unsigned records, defects;
    uint64_t first_defect;
    char text[LZLOG_WHY_SIZE];
    uint64_t digest; /* of all records */
};

static struct found scan(const uint8_t *file, size_t size)
{
    struct found found = {0};
    struct lz_scan s;
    if (lz_scan_begin(&s, file, size) != NULL) {
        found.refused = true;
        return found;
    }
    struct lzlog_record record;
    enum lzlog_item item;
    uint64_t last = 0;
    while ((item = lz_scan_next(&s, &record)) != LZLOG_END) {
        CHECK(record.offset >= last); /* it gets on */
        last = record.offset + 1;
        if (item == LZLOG_DEFECT) {
            if (found.defects++ == 0) {
                found.first_defect = record.offset;
                memcpy(found.text, record.text, sizeof(found.text));
            }
            continue;
        }
        CHECK(record.data >= file && record.size <= size && record.data + record.size <= file + size);
        found.records++;
        for (size_t i = 0; i < record.size; i++)
            found.digest = (found.digest ^ record.data[i]) * UINT64_C(0x100000001B3);
    }
    return found;
}

/* write_log writes some records into a log of one file and returns the file's bytes; live: while the log is open. */
static uint8_t *write_log(const uint8_t *key, bool live, unsigned records, size_t *size)
{
    static int made;
    char dir[5000], **paths;
    uint8_t data[MOST + 8];
    snprintf(dir, sizeof(dir), "%s/%d", scratch_dir, made++);
    struct lzlog_options options = {.dir = dir, .file_bytes = LZLOG_FILE_MIN, .key = key};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    uint64_t state = 9;
    for (unsigned i = 0; i < records; i++) {
        for (size_t j = 0; j < MOST; j++)
            data[j] = (uint8_t)next_random(&state);
        CHECK(lzlog_write(writer, data, next_random(&state) % MOST + 1) == LZLOG_OK);
    }
    lzlog_writer_close(writer);
    if (!live)
        lzlog_close(log);
    int count = list_log(dir, &paths);
    CHECK(count >= 1);
    uint8_t *file = load(paths[0], size);
    free_list(paths, count);
    if (live)
        lzlog_close(log);
    return file;
}

/* The cursor of a sealed file is not looked at: late writers may still have moved it. */
static bool is_cursor(size_t at)
{
    return at >= offsetof(struct lz_header, cursor) && at < offsetof(struct lz_header, zero1);
}

static void flip_each_byte(const uint8_t *key, bool live)
{
    static const uint8_t patterns[] = {0x01, 0x80, 0xFF};
    size_t size;
    uint8_t *file = write_log(key, live, RECORDS, &size);
    struct lz_header *header = (struct lz_header *)(void *)file;
    size_t end = live ? atomic_load(&header->cursor) : size;
    struct found whole = scan(file, size);
    CHECK(!whole.refused && whole.records == RECORDS && whole.defects == 0);
    for (size_t i = 0; i < end; i++) {
        for (size_t p = 0; p < sizeof(patterns); p++) {
            file[i] ^= patterns[p];
            struct found found = scan(file, size);
            if (is_cursor(i))
                CHECK(live || memcmp(&found, &whole, sizeof(found)) == 0);
            else
                CHECK(found.refused || found.defects > 0);
            CHECK(found.records + found.defects >= RECORDS - 1 || found.refused || is_cursor(i)); /* one byte costs one record */
            file[i] ^= patterns[p];
        }
    }
    free(file);
}

static void every_byte_sealed(void)
{
    flip_each_byte(NULL, false);
}

static void every_byte_encrypted(void)
{
    flip_each_byte(test_key, false);
}

static void every_byte_live(void)
{
    flip_each_byte(NULL, true);
}

static void every_truncation(void)
{
    size_t size;
    uint8_t *file = write_log(NULL, false, RECORDS, &size);
    for (size_t cut = 0; cut < size; cut++) {
        uint8_t *copy = malloc(cut + 1);
        CHECK(copy != NULL);
        memcpy(copy, file, cut);
        struct found found = scan(copy, cut);
        CHECK(found.refused || found.defects > 0);
        CHECK(found.refused == (cut < LZ_PAGE));
        free(copy);
    }
    free(file);
}

/* A file that is not sealed has all the room that its writer gave it, whatever its cursor says. */
static void every_cut_of_a_live_file(void)
{
    size_t size;
    uint8_t *file = write_log(NULL, true, RECORDS, &size);
    struct lz_header *header = (struct lz_header *)(void *)file;
    for (int old = 0; old < 2; old++) {
        for (size_t cut = LZ_PAGE; cut < size; cut += cut < 2 * LZ_PAGE ? 1 : 509) {
            struct found found = scan(file, cut);
            CHECK(!found.refused && found.defects > 0);
        }
        CHECK(scan(file, size).defects == 0);
        atomic_store(&header->cursor, LZ_DATA); /* as the machine may leave it when it goes down */
    }
    free(file);
}

/* last_record finds where the last record of a live file is. */
static uint64_t last_record(const uint8_t *file, size_t size)
{
    struct lz_scan s;
    struct lzlog_record record;
    uint64_t last = 0;
    CHECK(lz_scan_begin(&s, file, size) == NULL);
    while (lz_scan_next(&s, &record) == LZLOG_RECORD)
        last = record.offset;
    return last;
}

static void torn_tail(void)
{
    size_t size, length;
    uint8_t *file = write_log(NULL, true, RECORDS, &size);
    uint64_t at = last_record(file, size), seed = ((struct lz_header *)(void *)file)->identity.seed, word;
    memcpy(&word, file + at, 8);
    CHECK(lz_word_kind(word, seed, at, &length) == LZ_COMMITTED);
    word = lz_word(LZ_BEGUN, lz_mix(seed, at, length), length, 0);
    memcpy(file + at, &word, 8);
    struct found found = scan(file, size);
    CHECK(found.records == RECORDS - 1 && found.defects == 1 && found.first_defect == at);
    CHECK(strstr(found.text, "begun and not finished") != NULL);
    free(file);
}

static void hole_in_the_middle(void)
{
    size_t size, length;
    uint8_t *file = write_log(NULL, true, RECORDS, &size);
    uint64_t seed = ((struct lz_header *)(void *)file)->identity.seed, word;
    memcpy(&word, file + LZ_DATA, 8);
    CHECK(lz_word_kind(word, seed, LZ_DATA, &length) == LZ_COMMITTED);
    memset(file + LZ_DATA, 0, lz_span(length)); /* reserved, and killed before the announcement */
    struct found found = scan(file, size);
    CHECK(found.records == RECORDS - 1 && found.defects == 1 && found.first_defect == LZ_DATA);
    CHECK(strstr(found.text, "no record") != NULL);
    free(file);
}

static void damage_is_called_damage(void)
{
    size_t size;
    uint8_t *file = write_log(NULL, false, RECORDS, &size);
    file[LZ_DATA + LZ_WORD] ^= 1;
    struct found found = scan(file, size);
    CHECK(found.records == RECORDS - 1 && found.defects == 1 && strstr(found.text, "is damaged") != NULL);
    free(file);
}

/* A file that was recycled is full of records of its earlier life, whole, and right behind the last of the new ones. */
static void earlier_lives_stay_dead(void)
{
    char **paths;
    uint8_t data[100] = {7};
    struct lzlog_options options = {.dir = scratch_dir, .file_bytes = LZLOG_FILE_MIN, .files = 3};
    struct lzlog *log = open_or_die(&options);
    struct lzlog_writer *writer = writer_or_die(log);
    const unsigned each = (LZLOG_FILE_MIN - LZ_DATA) / 112; /* records in a file */
    for (unsigned i = 0; i < 7 * each + 10; i++)
        CHECK(lzlog_write(writer, data, sizeof(data)) == LZLOG_OK);
    int files = list_log(scratch_dir, &paths), seen = 0;
    for (int i = 0; i < files; i++) {
        size_t size;
        uint8_t *file = load(paths[i], &size);
        if (file == NULL)
            continue; /* it is being recycled */
        struct lz_header *header = (struct lz_header *)(void *)file;
        struct found found = scan(file, size);
        if (found.records == 10) {
            uint64_t behind;
            seen++;
            memcpy(&behind, file + LZ_DATA + (uint64_t)10 * 112, 8);
            CHECK(behind != 0); /* there is something to be fooled by */
            CHECK(found.defects == 0);
            atomic_store(&header->cursor, header->identity.capacity + 8); /* even if the cursor is no help */
            CHECK(scan(file, size).records == 10);
            atomic_store(&header->cursor, LZ_DATA); /* or too old */
            CHECK(scan(file, size).records == 10);
        }
        free(file);
    }
    CHECK(seen == 1);
    free_list(paths, files);
    lzlog_writer_close(writer);
    lzlog_close(log);
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"every altered byte of a closed file is found", every_byte_sealed},
        {"and of an encrypted one, without its key", every_byte_encrypted},
        {"and of the records of one that is being written", every_byte_live},
        {"every truncation is found", every_truncation},
        {"and of a file that was never closed, too", every_cut_of_a_live_file},
        {"a torn tail is found and named", torn_tail},
        {"a hole costs no record but its own", hole_in_the_middle},
        {"damage is called damage", damage_is_called_damage},
        {"records of a recycled file's earlier life are not read", earlier_lives_stay_dead},
    };
    return RUN_TESTS("damage", tests, argc > 1 ? argv[1] : "/tmp");
}
