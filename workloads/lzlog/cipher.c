#include "cipher.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 16,
    WINDOW = 2048,              /* bytes of key stream made at once */
    GAP = 128,                  /* a position so little behind the window follows it */
    KEY_BLOCK = UINT32_MAX >> 1 /* behind the blocks of the largest file */
};

struct lz_cipher {
    EVP_CIPHER_CTX *context;
    bool ready; /* for files of this nonce */
    uint8_t nonce[LZ_NONCE];
    struct lz_tag_key tag_key;
    uint64_t from, to; /* the part of the file that the stream is for */
    uint8_t counters[WINDOW];
    uint8_t stream[WINDOW];
};

/*
 * The counter blocks are encrypted as they are (ECB) and added to the payload here. That is counter mode to the letter, which
 * unit_test.c checks against OpenSSL's own; but OpenSSL's would have to be started anew for every record, which takes longer
 * than to encrypt one.
 */
struct lz_cipher *lz_cipher_new(const uint8_t key[LZLOG_KEY_SIZE])
{
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, NULL);
    struct lz_cipher *cipher = calloc(1, sizeof(*cipher));
    if (cipher == NULL)
        return NULL;
    cipher->context = EVP_CIPHER_CTX_new();
    if (cipher->context == NULL || EVP_EncryptInit_ex(cipher->context, EVP_aes_256_ecb(), NULL, key, NULL) != 1 ||
        EVP_CIPHER_CTX_set_padding(cipher->context, 0) != 1) {
        lz_cipher_free(cipher);
        return NULL;
    }
    return cipher;
}

void lz_cipher_free(struct lz_cipher *cipher)
{
    if (cipher == NULL)
        return;
    EVP_CIPHER_CTX_free(cipher->context); /* it wipes the key */
    OPENSSL_cleanse(cipher, sizeof(*cipher));
    free(cipher);
}

/* make_stream fills the cipher's stream with the key stream of some blocks. */
static bool make_stream(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint32_t first, size_t blocks)
{
    for (size_t i = 0; i < blocks; i++) {
        uint32_t number = __builtin_bswap32(first + (uint32_t)i);
        memcpy(cipher->counters + i * BLOCK, nonce, LZ_NONCE);
        memcpy(cipher->counters + i * BLOCK + LZ_NONCE, &number, sizeof(number));
    }
    int out = 0, size = (int)(blocks * BLOCK);
    cipher->from = cipher->to = 0; /* if it fails, the stream is for nothing */
    return EVP_EncryptUpdate(cipher->context, cipher->stream, &out, cipher->counters, size) == 1 && out == size;
}

/* take_nonce makes the cipher ready for the file with a nonce. */
static bool take_nonce(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE])
{
    if (cipher->ready && memcmp(cipher->nonce, nonce, LZ_NONCE) == 0)
        return true;
    cipher->from = cipher->to = 0;
    cipher->ready = make_stream(cipher, nonce, KEY_BLOCK, 1);
    memcpy(&cipher->tag_key, cipher->stream, sizeof(cipher->tag_key));
    memcpy(cipher->nonce, nonce, LZ_NONCE);
    return cipher->ready;
}

/*
 * move_window makes key stream for a position. A writer that is alone goes on where it was, so it gets a window full for several
 * records to come; one among many finds others' records there, and gets no more than it asked for.
 */
static bool move_window(struct lz_cipher *cipher, uint64_t position, size_t size)
{
    bool follows = position >= cipher->from && position < cipher->to + GAP;
    uint64_t from = position / BLOCK * BLOCK, to = (position + size + BLOCK - 1) / BLOCK * BLOCK;
    if (follows || to - from > WINDOW)
        to = from + WINDOW;
    if (!make_stream(cipher, cipher->nonce, (uint32_t)(from / BLOCK), (to - from) / BLOCK)) {
        cipher->ready = false;
        return false;
    }
    cipher->from = from;
    cipher->to = to;
    return true;
}

static void add(const uint8_t *from, const uint8_t *stream, uint8_t *to, size_t size)
{
    size_t i = 0;
    for (; i + 8 <= size; i += 8) {
        uint64_t a, b;
        memcpy(&a, from + i, 8);
        memcpy(&b, stream + i, 8);
        a ^= b;
        memcpy(to + i, &a, 8);
    }
    for (; i < size; i++)
        to[i] = from[i] ^ stream[i];
}

bool lz_cipher_apply(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint64_t position, const uint8_t *from, uint8_t *to,
                     size_t size)
{
    if (!take_nonce(cipher, nonce))
        return false;
    while (size > 0) {
        if ((position < cipher->from || position >= cipher->to) && !move_window(cipher, position, size))
            return false;
        size_t part = cipher->to - position < size ? cipher->to - position : size;
        add(from, cipher->stream + (position - cipher->from), to, part);
        from += part;
        to += part;
        position += part;
        size -= part;
    }
    return true;
}

bool lz_cipher_tag(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint64_t place, const void *data, size_t size,
                   uint8_t tag[LZ_TAG])
{
    if (!take_nonce(cipher, nonce))
        return false;
    uint64_t made = lz_tag(&cipher->tag_key, place, data, size);
    memcpy(tag, &made, LZ_TAG);
    return true;
}

bool lz_cipher_key_check(struct lz_cipher *cipher, const struct lz_identity *identity, uint8_t check[LZ_TAG])
{
    return lz_cipher_tag(cipher, identity->nonce, 0, identity, offsetof(struct lz_identity, key_check), check);
}

bool lz_cipher_end(struct lz_cipher *cipher, const uint8_t nonce[LZ_NONCE], uint64_t place, struct lz_end *end)
{
    uint8_t tag[LZ_TAG];
    *end = (struct lz_end){0};
    if (!lz_cipher_tag(cipher, nonce, offsetof(struct lz_header, end), &place, sizeof(place), tag))
        return false;
    memcpy(&end->tag, tag, sizeof(end->tag));
    lz_end_finish(end);
    return true;
}

