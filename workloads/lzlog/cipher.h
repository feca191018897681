/*
 * AES-256 in counter mode over a whole file: byte n of the file is encrypted, if it is encrypted at all, with byte n of the key
 * stream that the file's random nonce makes. Every byte belongs to one record and is written once, and a file is written from one
 * opening of its log to the next closing only, so no key stream is used twice, whatever becomes of the file afterwards.
 */
#ifndef LZ_CIPHER_H
#define LZ_CIPHER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format.h"
#include "lzlog.h"
#include "tag.h"

struct lz_cipher;

/* lz_cipher_new makes a cipher for one thread at a time; NULL without memory. */
struct lz_cipher *lz_cipher_new(const uint8_t key[LZLOG_KEY_SIZE]);
void lz_cipher_free(struct lz_cipher *cipher);

/* lz_cipher_apply encrypts or decrypts what lies, or is to lie, at a position in a file of at most 1 GiB. */
bool lz_cipher_apply(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint64_t position, const uint8_t *from, uint8_t *to,
                     size_t size);

/* lz_cipher_tag makes the tag of the bytes at a place in a file. Its key is key stream that no record uses, so each file has its own. */
bool lz_cipher_tag(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint64_t place, const void *data, size_t size,
                   uint8_t tag[LZ_TAG]);

/* lz_cipher_key_check makes the tag of what an identity says: a reader tells by it a wrong key, and a header that was changed. */
bool lz_cipher_key_check(struct lz_cipher *cipher, const struct lz_identity *identity, uint8_t check[LZ_TAG]);

/* lz_cipher_end makes the tag of the place where a file's records end: a reader tells by it that none was cut off. */
bool lz_cipher_end(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint64_t place, struct lz_end *end);

#endif
