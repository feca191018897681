/* The parts that need no log: checksum, cipher, words. */
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>
#include <stdlib.h>
#include <string.h>

#include "../cipher.h"
#include "../crc32c.h"
#include "../format.h"
#include "test.h"

/* reference makes the remainder bit by bit, of the first of each four words, the second, ... and then of what these leave. */
static uint32_t reference(uint32_t crc, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc % 2 == 1 ? 0x82F63B78 : 0);
    }
    return crc;
}

static void known_checksums(void)
{
    uint8_t data[328], joined[16] = {0};
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)i;
    CHECK(~reference(UINT32_MAX, data, 32) == 0x46DD794E); /* RFC 3720, B.4 */
    uint32_t lanes[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
    for (size_t words = 0; words <= sizeof(data) / 8; words++) {
        memcpy(joined, &lanes[1], 12);
        CHECK(crc32c_portable(data, 8 * words) == ~reference(lanes[0], joined, sizeof(joined)));
        if (words < sizeof(data) / 8)
            lanes[words % 4] = reference(lanes[words % 4], data + 8 * words, 8);
    }
}

static void fast_is_portable(void)
{
    enum { ALL = 1000 };
    uint64_t state = 1;
    for (size_t size = 0; size <= ALL; size++) {
        uint8_t *data = malloc(size + 1); /* exact, so that a byte read too many is found */
        CHECK(data != NULL);
        size_t skip = size > 0 ? next_random(&state) % 2 : 0;
        for (size_t i = 0; i < size; i++)
            data[i] = (uint8_t)next_random(&state);
        CHECK(crc32c_best()(data + skip, size - skip) == crc32c_portable(data + skip, size - skip));
        free(data);
    }
}

static void copying_pads(void)
{
    uint64_t state = 5;
    for (size_t size = 0; size < 1000 && crc32c_has_instruction(); size++) {
        size_t padded = (size + 7) / 8 * 8;
        uint8_t *block = malloc(size + 1), *data = block + 1, *to = malloc(padded + 1);
        CHECK(block != NULL && to != NULL);
        memset(to, 0xEE, padded + 1);
        for (size_t k = 0; k < size; k++)
            data[k] = (uint8_t)next_random(&state);
        CHECK(crc32c_pass(to, data, size) == crc32c_portable(data, size));
        CHECK(memcmp(to, data, size) == 0 && to[padded] == 0xEE);
        for (size_t k = size; k < padded; k++)
            CHECK(to[k] == 0);
        free(block);
        free(to);
    }
}

static void padding_counts(void)
{
    uint8_t data[128] = {1, 2, 3};
    for (size_t size = 3; size <= 121; size++)
        CHECK(crc32c_best()(data, size) == crc32c_portable(data, (size + 7) / 8 * 8));
}

static void cipher_is_ctr(void)
{
    enum { ALL = 100000 };
    static uint8_t zero[ALL], reference[ALL + 16], out[ALL];
    uint8_t iv[16] = {0};
    uint8_t nonce[LZ_NONCE] = "twelve byte";
    memcpy(iv, nonce, LZ_NONCE);
    EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
    int size = 0;
    CHECK(EVP_EncryptInit_ex(ctx, EVP_aes_256_ctr(), NULL, test_key, iv) == 1);
    CHECK(EVP_EncryptUpdate(ctx, reference, &size, zero, ALL) == 1 && size == ALL);
    EVP_CIPHER_CTX_free(ctx);
    struct lz_cipher *cipher = lz_cipher_new(test_key);
    CHECK(cipher != NULL);
    uint64_t state = 7, position = 0;
    for (int i = 0; i < 20000; i++) { /* on from where it was, a little further, back, anywhere */
        uint64_t part = next_random(&state) % 300 + 1, jump = next_random(&state) % 8;
        position = jump == 0 ? next_random(&state) % ALL : jump == 1 ? position - (position > 40 ? 40 : position) : position + jump;
        if (part > 290)
            part = 9000;
        if (position + part > ALL)
            position = 0;
        CHECK(lz_cipher_apply(cipher, nonce, position, zero, out, part));
        CHECK(memcmp(out, reference + position, part) == 0);
        position += part;
    }
    nonce[0] ^= 1; /* another file, the same place */
    CHECK(lz_cipher_apply(cipher, nonce, position - 1, zero, out, 64));
    CHECK(memcmp(out, reference + position - 1, 64) != 0);
    lz_cipher_free(cipher);
}

static uint64_t openssl_tag(const struct lz_tag_key *key, uint64_t place, const void *data, size_t data_size)
{
    size_t size = LZ_TAG;
    uint64_t tag = 0;
    const OSSL_PARAM wanted[] = {OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size), OSSL_PARAM_construct_end()};
    EVP_MAC *mac = EVP_MAC_fetch(NULL, "SIPHASH", NULL);
    EVP_MAC_CTX *ctx = EVP_MAC_CTX_new(mac);
    CHECK(ctx != NULL && EVP_MAC_init(ctx, (const unsigned char *)key, sizeof(*key), wanted) == 1);
    CHECK(EVP_MAC_update(ctx, (const unsigned char *)&place, sizeof(place)) == 1 && EVP_MAC_update(ctx, data, data_size) == 1);
    CHECK(EVP_MAC_final(ctx, (unsigned char *)&tag, &size, sizeof(tag)) == 1 && size == LZ_TAG);
    EVP_MAC_CTX_free(ctx);
    EVP_MAC_free(mac);
    return tag;
}

static void tag_is_siphash(void)
{
    uint8_t data[600];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)i;
    struct lz_tag_key key = {{UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)}};
    CHECK(lz_tag(&key, key.half[0], data + 8, 7) == UINT64_C(0xa129ca6149be45e5)); /* the example in the paper of SipHash */
    for (size_t size = 0; size <= sizeof(data) - 8; size++)
        CHECK(lz_tag(&key, size, data, size) == openssl_tag(&key, size, data, size));
}

static void words_hold(void)
{
    uint64_t state = 3;
    for (int i = 0; i < 100000; i++) {
        uint64_t seed = next_random(&state), offset = next_random(&state) % LZLOG_FILE_MAX & ~UINT64_C(7);
        size_t size = next_random(&state) % LZLOG_RECORD_MAX + 1, got;
        uint32_t crc = (uint32_t)next_random(&state);
        uint64_t mix = lz_mix(seed, offset, size), word = lz_word(LZ_COMMITTED, mix, size, crc);
        CHECK(lz_word_kind(word, seed, offset, &got) == LZ_COMMITTED && got == size);
        CHECK(lz_word_crc(word, seed, offset, size) == crc);
        CHECK(lz_word_kind(lz_word(LZ_BEGUN, mix, size, 0), seed, offset, &got) == LZ_BEGUN && got == size);
        CHECK(lz_word_crc(word, seed + 1, offset, size) != crc);
        CHECK(lz_seal_end(seed, lz_seal_word(seed, offset)) == offset);
        CHECK(lz_seal_end(seed + 1, lz_seal_word(seed, offset)) == 0);
    }
    size_t got;
    CHECK(lz_word_kind(0, 1, LZ_DATA, &got) == LZ_NOTHING); /* fresh space is no record */
    CHECK(lz_span(1) == 16 && lz_span(8) == 16 && lz_span(9) == 24 && lz_span(121) == 136);
}

static void kernel_is_known(void)
{
    struct lz_session a, b;
    CHECK(lz_session_here(&a) && lz_session_here(&b));
    CHECK(memcmp(&a, &b, sizeof(a)) == 0 && lz_session_valid(&a));
    a.boot[3] ^= 1;
    CHECK(!lz_session_valid(&a));
}

int main(int argc, char **argv)
{
    static const struct test tests[] = {
        {"the checksum is made of CRC-32C as others know it", known_checksums},
        {"the fast checksum is the portable one, for every size", fast_is_portable},
        {"the checksum covers the padding", padding_counts},
        {"a copy with a checksum is the data and zeros up to a word, and not a byte more", copying_pads},
        {"the cipher is OpenSSL's AES-256-CTR, whatever the order of positions", cipher_is_ctr},
        {"the tag is OpenSSL's SipHash-2-4", tag_is_siphash},
        {"words and seals say what was put into them, and only with their seed", words_hold},
        {"the running kernel is recognised", kernel_is_known},
    };
    return RUN_TESTS("unit", tests, argc > 1 ? argv[1] : "/tmp");
}
