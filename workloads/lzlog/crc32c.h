/*
 * The checksum of data, padded with zeros to words of eight bytes as it lies in a log file: four CRC-32C (Castagnoli) of every
 * fourth word each, joined by going on with the first over the other three. Whatever is altered within 32 bits in a row of one word
 * is found for certain.
 */
#ifndef LZ_CRC32C_H
#define LZ_CRC32C_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint32_t crc32c_function(const void *data, size_t size);

/* crc32c_best is the fastest that this CPU can do. */
crc32c_function *crc32c_best(void);

/* crc32c_portable is for every CPU, a byte at a time. */
uint32_t crc32c_portable(const void *data, size_t size);

/* crc32c_has_instruction tells whether this CPU has the instruction that crc32c_pass is made of. */
bool crc32c_has_instruction(void);

static inline uint64_t crc32c_word(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, 8);
    return word;
}

/* crc32c_last_word loads the rest of the data, padded with zeros. */
static inline uint64_t crc32c_last_word(const uint8_t *data, size_t size)
{
    uint64_t word = 0;
    for (size_t i = 0; i < size; i++)
        word |= (uint64_t)data[i] << 8 * i;
    return word;
}

#ifdef __x86_64__
/* In assembly, because the compiler would inline the intrinsic only where it may use SSE 4.2 for everything. */
static inline uint64_t crc32c_step(uint64_t lane, uint64_t word)
{
    __asm__("crc32q %1, %0" : "+r"(lane) : "rm"(word));
    return lane;
}

/* crc32c_take takes a word into a lane, and copies it unless there is no place for it. */
static inline uint64_t crc32c_take(uint64_t lane, uint64_t word, uint8_t *to, size_t at)
{
    if (to != NULL)
        memcpy(to + at, &word, 8);
    return crc32c_step(lane, word);
}

/*
 * crc32c_pass makes the checksum and a padded copy of the data in one pass; without a place for it (NULL), only the checksum. It is
 * here to be inlined into a write. The instruction takes a word a cycle but three cycles for each: that is why there are lanes.
 */
static inline __attribute__((always_inline)) uint32_t crc32c_pass(uint8_t *to, const uint8_t *p, size_t size)
{
    const uint8_t *end = p + size;
    uint64_t a = UINT32_MAX, b = a, c = a, d = a;
    for (; end - p >= 32; p += 32) {
        if (to != NULL) { /* in halves: two stores instead of four */
            memcpy(to, p, 16);
            memcpy(to + 16, p + 16, 16);
            to += 32;
        }
        a = crc32c_step(a, crc32c_word(p));
        b = crc32c_step(b, crc32c_word(p + 8));
        c = crc32c_step(c, crc32c_word(p + 16));
        d = crc32c_step(d, crc32c_word(p + 24));
    }
    /* The words that are left go to one lane each, the last one first; an unfinished one ends where the data do. */
    size_t rest = (size_t)(end - p);
    uint64_t word = size >= 8 ? crc32c_word(end - 8) >> (-8 * rest & 63) : crc32c_last_word(p, size);
    switch ((rest + 7) / 8) {
    case 4:
        d = crc32c_take(d, word, to, 24);
        word = crc32c_word(p + 16); /* fall through */
    case 3:
        c = crc32c_take(c, word, to, 16);
        word = crc32c_word(p + 8); /* fall through */
    case 2:
        b = crc32c_take(b, word, to, 8);
        word = crc32c_word(p); /* fall through */
    case 1:
        a = crc32c_take(a, word, to, 0);
    }
    return ~(uint32_t)crc32c_step(crc32c_step(a, b | c << 32), d);
}
#else
static inline uint32_t crc32c_pass(uint8_t *to, const uint8_t *p, size_t size)
{
    if (to != NULL) {
        memcpy(to, p, size);
        memset(to + size, 0, -size % 8);
    }
    return crc32c_portable(p, size);
}
#endif

#endif
