/*
 * lzlog's decompression of files: it gives no more than it says, a file that was cut gives a beginning of what the whole one gives, which is
 * at most a block less, and the parser of files gets on in it. An input is a compressed file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "../lzlog/unpack.h"
#include "fuzz.h"
#include "records.h"

enum { INPUT_MAX = 512, RECORDS = 3, SPAN = 16, BLOCK_MAX = 128 * 1024 };

/* Frames of Zstandard: one that the target makes of a file of lzlog's, a page of zeros, and a page that begins with other bytes. */
#define FRAME "\x28\xb5\x2f\xfd"
static struct fuzz_text seeds[] = {
    {NULL, 0},
    FUZZ_TEXT(FRAME "\x60\0\xf" "\3\x80\0" "\0"),
    FUZZ_TEXT(FRAME "\x40\x10\0\xf" "\x28\0\0" "hello" "\xdb\x7f\0" "\0"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("\0\1\2\3\4\x20\x28\x40\x60\x7f\x80\xff"), FUZZ_TEXT(FRAME), FUZZ_TEXT("\3\x80\0"), FUZZ_TEXT("\2\0\x10" "\0"), FUZZ_TEXT("\xff\xff\xff\xff"),
};

/* make_seed compresses a file that is sealed and has some records. */
__attribute__((constructor)) static void make_seed(void)
{
    static _Alignas(LZ_PAGE) uint8_t file[LZ_DATA + RECORDS * SPAN];
    static char frame[INPUT_MAX];
    struct lz_header *header = (struct lz_header *)(void *)file;
    lz_identity_begin(&header->identity);
    header->identity.number = 1;
    header->identity.capacity = LZLOG_FILE_MIN;
    header->identity.seed = 7;
    lz_identity_finish(&header->identity);
    for (size_t at = LZ_DATA; at < sizeof(file); at += SPAN) {
        memcpy(file + at + LZ_WORD, "hello", 5);
        uint64_t word = lz_word(LZ_COMMITTED, lz_mix(7, at, 5), 5, crc32c_best()(file + at + LZ_WORD, 5));
        memcpy(file + at, &word, sizeof(word));
    }
    atomic_store(&header->cursor, sizeof(file) | LZ_SEALED);
    atomic_store(&header->seal, lz_seal_word(7, sizeof(file)));
    size_t size = ZSTD_compress(frame, sizeof(frame), file, sizeof(file), 1);
    if (ZSTD_isError(size))
        abort();
    seeds[0] = (struct fuzz_text){frame, size};
}

/* unpack decompresses a file, if it is one. */
static bool unpack(const char *input, size_t size, struct lz_unpacked *to)
{
    *to = (struct lz_unpacked){.base = NULL};
    if (!lz_is_packed((const uint8_t *)input, size))
        return false;
    const char *fault = lz_unpack((const uint8_t *)input, size, to);
    if (fault != NULL && (fault[0] == '\0' || to->base != NULL))
        fuzz_fail("a refusal says nothing, or gives something");
    if (fault == NULL && (to->room < LZ_PAGE || to->room > LZLOG_FILE_MAX || to->size > to->room))
        fuzz_fail("there is more than there can be");
    return fault == NULL;
}

static void attempt(const char *input, size_t size)
{
    struct lz_unpacked whole, part;
    if (!unpack(input, size, &whole))
        return;
    size_t less = fuzz_chance(size);
    char *cut = fuzz_exact(input, less);
    if (unpack(cut, less, &part)) {
        if (part.room != whole.room || memcmp(part.base, whole.base, part.size < whole.size ? part.size : whole.size) != 0)
            fuzz_fail("a file that was cut holds what the whole one does not");
        /* Nothing of the block that is wrong, of which a beginning may be there when it was cut. */
        if (part.size > whole.size + BLOCK_MAX)
            fuzz_fail("a file that is wrong somewhere holds less than it did up to there");
        munmap(part.base, part.room);
    }
    free(cut);
    fuzz_records(whole.base, whole.size);
    munmap(whole.base, whole.room);
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = INPUT_MAX,
    .attempt = attempt,
};
