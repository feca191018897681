/* Reading a file: opened, locked against reuse, mapped, parsed, decrypted. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "scan.h"

enum { ATTEMPTS = 10 };

struct lzlog_reader {
    int fd;
    void *base;
    uint64_t size; /* mapped */
    struct lz_mapping mapping;
    struct lz_scan scan;
    struct lz_cipher *cipher; /* NULL: records as they lie */
    bool ended;               /* the end of its records has been judged */
    uint8_t plain[LZLOG_RECORD_MAX];
};

/* same_as tells whether a file still has the name by which it was opened. */
static bool same_as(const struct stat *file, const char *path)
{
    struct stat named;
    return stat(path, &named) == 0 && file->st_ino == named.st_ino && file->st_dev == named.st_dev;
}

/*
 * open_locked opens the file and keeps it from being recycled or trimmed. If another file has got its name in between, that is opened
 * instead.
 */
static bool open_locked(struct lzlog_reader *reader, const char *path, char why[LZLOG_WHY_SIZE])
{
    struct stat st;
    int failed;
    for (unsigned attempt = 0; attempt < ATTEMPTS; attempt++) {
        reader->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe must not make it wait */
        if (reader->fd < 0) {
            lz_say(why, "%s: it cannot be opened: %s", path, strerror(errno));
            return false;
        }
        while ((failed = flock(reader->fd, LOCK_SH)) != 0 && errno == EINTR)
            continue;
        if (failed != 0 || fstat(reader->fd, &st) != 0) {
            lz_say(why, "%s: it cannot be locked: %s", path, strerror(errno));
            return false;
        }
        reader->size = (uint64_t)st.st_size;
        if (S_ISREG(st.st_mode) && same_as(&st, path))
            return true;
        if (!S_ISREG(st.st_mode))
            break;
        close(reader->fd);
        reader->fd = -1;
    }
    lz_say(why, "%s: it is no file any more: the log has moved on", path);
    return false;
}

static bool map(struct lzlog_reader *reader, const char *path, char why[LZLOG_WHY_SIZE])
{
    if (reader->size == 0) {
        lz_say(why, "%s: it is shorter than the header of a log file", path);
        return false;
    }
    reader->base = mmap(NULL, reader->size, PROT_READ, MAP_SHARED, reader->fd, 0);
    if (reader->base == MAP_FAILED) {
        lz_say(why, "%s: it cannot be mapped: %s", path, strerror(errno));
        return false;
    }
    int failed = lz_watch(&reader->mapping, reader->base, reader->size);
    if (failed != 0) {
        lz_say(why, "%s: it cannot be watched: %s", path, strerror(failed));
        return false;
    }
    const char *fault = lz_scan_begin(&reader->scan, reader->base, reader->size);
    if (fault != NULL)
        lz_say(why, "%s: %s", path, fault);
    return fault == NULL;
}

/*
 * unlock_records makes the cipher of an encrypted file. With a key a plain file is refused: whoever can write to the folder can make one.
 */
static bool unlock_records(struct lzlog_reader *reader, const uint8_t *key, const char *path, char why[LZLOG_WHY_SIZE])
{
    const struct lz_identity *id = &reader->scan.id;
    uint8_t check[LZ_TAG];
    if (key == NULL)
        return true;
    if ((id->flags & LZ_ENCRYPTED) == 0)
        return lz_say(why, "%s: it is not encrypted, so nobody with the key wrote it; read a plain log without a key", path), false;
    reader->cipher = lz_cipher_new(key);
    bool fits = reader->cipher != NULL && lz_cipher_key_check(reader->cipher, id, check) &&
                memcmp(check, id->key_check, sizeof(check)) == 0;
    if (!fits)
        lz_say(why, "%s: this is not its key, or its header was changed", path);
    return fits;
}

struct lzlog_reader *lzlog_reader_open(const char *path, const uint8_t *key, char why[LZLOG_WHY_SIZE])
{
    struct lzlog_reader *reader = calloc(1, sizeof(*reader));
    if (reader == NULL) {
        lz_say(why, "%s: there is no memory to read it", path);
        return NULL;
    }
    reader->base = MAP_FAILED;
    reader->fd = -1;
    if (open_locked(reader, path, why) && map(reader, path, why) && unlock_records(reader, key, path, why))
        return reader;
    lzlog_reader_close(reader);
    return NULL;
}

struct lzlog_facts lzlog_reader_facts(const struct lzlog_reader *reader)
{
    return (struct lzlog_facts){.number = reader->scan.id.number,
                                .encrypted = (reader->scan.id.flags & LZ_ENCRYPTED) != 0,
                                .sealed = lz_scan_sealed(&reader->scan) != 0,
                                .empty = lz_scan_sealed(&reader->scan) == LZ_DATA};
}

/* decrypt returns what is wrong with a record, which comes without its tag, or NULL. */
static const char *decrypt(struct lzlog_reader *reader, const struct lzlog_record *record)
{
    const uint8_t *nonce = reader->scan.id.nonce;
    uint8_t tag[LZ_TAG];
    if (!lz_cipher_tag(reader->cipher, nonce, record->offset, record->data, record->size, tag))
        return "OpenSSL did not make the key of the record's tag";
    if (CRYPTO_memcmp(tag, record->data + record->size, LZ_TAG) != 0)
        return "the record is not what was written with this key: its tag is wrong";
    if (!lz_cipher_apply(reader->cipher, nonce, record->offset + LZ_WORD, record->data, reader->plain, record->size))
        return "OpenSSL did not decrypt the record";
    return NULL;
}

/* end_is_true is false when somebody without the key has written down where the records end. Nobody has before the file's turn. */
static bool end_is_true(struct lzlog_reader *reader, uint64_t place)
{
    const struct lz_identity *id = &reader->scan.id;
    struct lz_end end = lz_scan_end(&reader->scan), right;
    if (reader->cipher == NULL || (place == LZ_DATA && lz_end_empty(&end)))
        return true;
    return lz_cipher_end(reader->cipher, id->nonce, place, &right) && CRYPTO_memcmp(&end, &right, sizeof(end)) == 0;
}

/* judge_end comes after the last record of a file. */
static enum lzlog_item judge_end(struct lzlog_reader *reader, struct lzlog_record *record)
{
    uint64_t place = lz_scan_sealed(&reader->scan);
    if (reader->ended || place == 0 || end_is_true(reader, place))
        return LZLOG_END;
    reader->ended = true;
    *record = (struct lzlog_record){.offset = place};
    lz_say(record->text, "the records do not end where the writer with this key ended them: some may have been cut off");
    return LZLOG_DEFECT;
}

/* was_cut is what there is of a file that was cut while it was read: a defect, and its end. */
static enum lzlog_item was_cut(struct lzlog_reader *reader, struct lzlog_record *record)
{
    if (reader->ended)
        return LZLOG_END;
    reader->ended = true;
    *record = (struct lzlog_record){.offset = reader->scan.at};
    lz_say(record->text, "the file was cut while it was read");
    return LZLOG_DEFECT;
}

enum lzlog_item lzlog_reader_next(struct lzlog_reader *reader, struct lzlog_record *record)
{
    enum lzlog_item item = lz_scan_next(&reader->scan, record);
    if (lz_cut(&reader->mapping))
        return was_cut(reader, record);
    if (item == LZLOG_END)
        return judge_end(reader, record);
    if (item != LZLOG_RECORD || (reader->scan.id.flags & LZ_ENCRYPTED) == 0)
        return item;
    const char *fault = record->size > LZ_TAG ? NULL : "the record is too short to have a tag";
    if (fault == NULL)
        record->size -= LZ_TAG;
    if (fault == NULL && reader->cipher != NULL)
        fault = decrypt(reader, record);
    if (fault != NULL) {
        lz_say(record->text, "%s", fault);
        record->data = NULL;
        return LZLOG_DEFECT;
    }
    if (reader->cipher != NULL)
        record->data = reader->plain;
    return item;
}

bool lzlog_gap(const struct lzlog_reader *older, const struct lzlog_reader *newer, char why[LZLOG_WHY_SIZE])
{
    struct lzlog_facts a = lzlog_reader_facts(older), b = lzlog_reader_facts(newer);
    unsigned long long first = a.number + 1, last = b.number - 1;
    if (b.number <= a.number)
        lz_say(why, "it has number %llu and comes after number %llu: it is a copy, or the files are not in order", (unsigned long long)b.number,
               first - 1);
    else if (first == last)
        lz_say(why, "number %llu is missing before it", first);
    else if (first < last)
        lz_say(why, "numbers %llu to %llu are missing before it", first, last);
    else if ((!a.sealed || a.empty) && !b.empty)
        lz_say(why, "number %llu before it was never finished: its writer was killed, or it was cut", first - 1);
    else
        return false;
    return true;
}

void lzlog_reader_close(struct lzlog_reader *reader)
{
    lz_cipher_free(reader->cipher);
    lz_forget(&reader->mapping);
    if (reader->base != MAP_FAILED)
        munmap(reader->base, reader->size);
    if (reader->fd >= 0)
        close(reader->fd);
    OPENSSL_cleanse(reader->plain, sizeof(reader->plain));
    free(reader);
}
