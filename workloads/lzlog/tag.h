/*
 * The tag of a record, or of a header, of an encrypted file: SipHash-2-4 of its place in the file and of its bytes. Who does not have
 * the key cannot make it: one try in 2^64 succeeds.
 */
#ifndef LZ_TAG_H
#define LZ_TAG_H

#include <stddef.h>
#include <stdint.h>

enum { LZ_TAG = 8 };

struct lz_tag_key {
    uint64_t half[2];
};

uint64_t lz_tag(const struct lz_tag_key *key, uint64_t place, const void *data, size_t size);

#endif
