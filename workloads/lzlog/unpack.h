/* Files that are compressed: one frame of Zstandard each, which holds a file of a log as far as its records go. */
#ifndef LZ_UNPACK_H
#define LZ_UNPACK_H

#include <stdbool.h>
#include <stdint.h>

/* lz_is_packed tells whether some bytes begin as a compressed file does. */
bool lz_is_packed(const uint8_t *bytes, uint64_t size);

/* What a compressed file holds: pages of memory, to be unmapped by whom they are given to. */
struct lz_unpacked {
    uint8_t *base;
    uint64_t room; /* bytes mapped: what there was before it was compressed */
    uint64_t size; /* bytes of them that could be had: fewer when the file is damaged or was cut */
};

/* lz_unpack decompresses a file as far as it goes. It returns what is wrong, and then gives nothing, or NULL. */
const char *lz_unpack(const uint8_t *bytes, uint64_t size, struct lz_unpacked *to);

#endif
