/*
 * The format of a file: one page of header, then records, each a word and its payload padded with zeros to eight bytes.
 *
 *   record word   | kind 4 | mark 12 | size 16 | check 32 |     high to low bits
 *
 * Mark and check depend on the file's seed and the record's place, so that what an earlier life of a recycled file left behind is
 * never taken for a record. The check of a committed record also holds the checksum (crc32c.h) of its payload and padding as they lie in the
 * file, that is, encrypted if the file is. Encrypted payloads end with their tag (tag.h), which the size includes.
 */
#ifndef LZ_FORMAT_H
#define LZ_FORMAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tag.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the format is little-endian");

enum {
    LZ_PAGE = 4096,
    LZ_DATA = LZ_PAGE, /* where the first record is */
    LZ_WORD = 8,
    LZ_NONCE = 12,
    LZ_BOOT = 16,
    LZ_VERSION = 3,
    LZ_ENCRYPTED = 1 /* flag */
};

/* The highest bit of the cursor: no more places are given in this file. */
#define LZ_SEALED (UINT64_C(1) << 63)
#define LZ_OFFSET (LZ_SEALED - 1)

/* What is written once, before the file gets its name. */
struct lz_identity {
    char magic[8];
    uint32_t version;
    uint32_t flags;
    uint64_t number;
    uint64_t capacity; /* bytes of the whole file */
    uint64_t seed;     /* random: what tells this file's records from others' */
    uint64_t created;  /* ns since 1970 */
    uint8_t nonce[LZ_NONCE];
    uint8_t zero[20];
    uint8_t key_check[LZ_TAG]; /* of an encrypted file: the tag of what is before */
    uint8_t zero1[36];
    uint32_t crc; /* of the bytes before */
};

/* The kernel that the file was last opened under: while it runs, the cursor is to be trusted even after a kill. */
struct lz_session {
    uint8_t boot[LZ_BOOT];
    uint32_t crc;
    uint32_t zero;
};

/* Who has sealed an encrypted file: all zero before its turn, then with a tag that only the key can make. */
struct lz_end {
    uint64_t tag; /* of the end that the seal names */
    uint32_t crc;
    uint32_t zero;
};

struct lz_header {
    struct lz_identity identity;
    _Atomic uint64_t cursor; /* where the next record goes; alone on its cache line, every writer changes it */
    uint8_t zero1[56];
    _Atomic uint64_t seal; /* where the records of a sealed file end, see lz_seal_word; 0: not sealed */
    struct lz_session session;
    struct lz_end end; /* written before the seal */
    uint8_t zero2[16];
    uint8_t zero3[LZ_PAGE - 256];
};

_Static_assert(sizeof(struct lz_identity) == 128, "the cursor starts a cache line");
_Static_assert(sizeof(struct lz_header) == LZ_PAGE, "the header is a page");

enum lz_kind { LZ_NOTHING = 0, LZ_BEGUN = 0x5, LZ_COMMITTED = 0xA };

/* lz_span is the room that a record takes. */
static inline uint64_t lz_span(size_t size)
{
    return LZ_WORD + ((size + LZ_WORD - 1) & ~(uint64_t)(LZ_WORD - 1));
}

/* lz_mix makes the bits that only this file has at this place. */
static inline uint64_t lz_mix(uint64_t seed, uint64_t offset, uint64_t size)
{
    uint64_t x = seed ^ offset ^ size << 40;
    x *= UINT64_C(0x9E3779B97F4A7C15);
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    return x ^ x >> 32;
}

static inline uint64_t lz_word(enum lz_kind kind, uint64_t mix, size_t size, uint32_t crc)
{
    uint32_t check = kind == LZ_BEGUN ? UINT32_MAX : crc;
    return ((uint64_t)kind << 60 | (mix >> 52) << 48 | (uint64_t)size << 32 | (uint32_t)mix) ^ check;
}

/* lz_word_kind reads a word's kind and size; LZ_NOTHING when no writer of this file can have put it at this place. */
static inline enum lz_kind lz_word_kind(uint64_t word, uint64_t seed, uint64_t offset, size_t *size)
{
    *size = (size_t)(word >> 32) & 0xFFFF;
    uint64_t mix = lz_mix(seed, offset, *size);
    unsigned kind = (unsigned)(word >> 60);
    if (*size == 0 || ((word >> 48) & 0xFFF) != mix >> 52)
        return LZ_NOTHING;
    if (kind == LZ_COMMITTED)
        return LZ_COMMITTED;
    return word == lz_word(LZ_BEGUN, mix, *size, 0) ? LZ_BEGUN : LZ_NOTHING;
}

/* lz_word_crc takes the payload's checksum out of a committed record's word. */
static inline uint32_t lz_word_crc(uint64_t word, uint64_t seed, uint64_t offset, size_t size)
{
    return (uint32_t)word ^ (uint32_t)lz_mix(seed, offset, size);
}

/* A seal names the end of the records and proves that it is this file's. */
static inline uint64_t lz_seal_word(uint64_t seed, uint64_t end)
{
    return end | (lz_mix(seed, end, UINT64_C(1) << 16) | 1) << 32;
}

/* lz_seal_end is the end that a seal names, 0 when it is no seal of this file. */
static inline uint64_t lz_seal_end(uint64_t seed, uint64_t seal)
{
    uint64_t end = seal & UINT32_MAX;
    return seal == lz_seal_word(seed, end) ? end : 0;
}

/* lz_identity_begin fills in the magic and the version, lz_identity_finish the checksum. */
void lz_identity_begin(struct lz_identity *identity);
void lz_identity_finish(struct lz_identity *identity);

/* lz_identity_fault says what is wrong with an identity; NULL when nothing is. */
const char *lz_identity_fault(const struct lz_identity *identity);

/* lz_session_here describes the running kernel. It returns false when the kernel does not say which it is. */
bool lz_session_here(struct lz_session *session);
bool lz_session_valid(const struct lz_session *session);

/* lz_end_finish fills in the checksum. An end that is all zero is valid, too. */
void lz_end_finish(struct lz_end *end);
bool lz_end_valid(const struct lz_end *end);
bool lz_end_empty(const struct lz_end *end);

#endif
