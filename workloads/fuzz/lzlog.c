/*
 * lzlog's parser of files: it gets on, and what it calls a record lies in the file. An input is what of a header is not zero, then the
 * records, then a byte that says which checksums are put right, for no fuzzer finds those.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "records.h"

enum {
    OF_IDENTITY = 1,
    OF_SESSION = 2,
    OF_END = 4,
    OF_SEAL = 8,
    OF_RECORDS = 16
};

/* What of a header is not zero, in the order in which it lies there. */
struct front {
    struct lz_identity identity;
    uint64_t cursor, seal;
    struct lz_session session;
    struct lz_end end;
};

enum { INPUT_MAX = 4096 };

/* A plain file of two pages that is open, with a record of five bytes, and one that was begun: OF_RECORDS makes words of them. */
#define IDENTITY(flags) "LZLOG-1\n" "\3\0\0\0" flags "\0\0\0" "\1\0\0\0\0\0\0\0" "\0\0\2\0\0\0\0\0" "seedseed" "created " "nonce.nonce." "\0\0\0\0" \
    "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0" "crc."
#define NO_SESSION "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0"
#define NO_END "\0\0\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0"
#define RECORDS "\0\0\0\0\5\0\0\xa0" "hello\0\0\0" "\0\0\0\0\x8\0\0\x50" "\0\0\0\0\0\0\0\0" "\0\0\0\0\1\0\0\xa0" "x\0\0\0\0\0\0\0"

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT(IDENTITY("\0") "\x30\x10\0\0\0\0\0\0" "\0\0\0\0\0\0\0\0" NO_SESSION NO_END RECORDS "\x1f"),
    FUZZ_TEXT(IDENTITY("\0") "\x30\x10\0\0\0\0\0\x80" "\x30\x10\0\0\0\0\0\0" NO_SESSION NO_END RECORDS "\x1f"),
    FUZZ_TEXT(IDENTITY("\1") "\x30\x10\0\0\0\0\0\x80" "\x30\x10\0\0\0\0\0\0" NO_SESSION "tag.tag.\0\0\0\0\0\0\0\0" RECORDS "\x1f"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("\0\1\2\4\x08\x10\x1f\x50\x7f\x80\xa0\xff"), FUZZ_TEXT("\xff\xff\xff\xff\xff\xff\xff\xff"), FUZZ_TEXT("\0\0\0\0\0\0\0\x80"),
    FUZZ_TEXT("\0\x10\0\0\0\0\0\0"), FUZZ_TEXT("\xf8\xff\xff\xff\xff\xff\xff\x7f"), FUZZ_TEXT("\0\0\0\0\xff\xff\0\xa0"), FUZZ_TEXT(RECORDS),
    FUZZ_TEXT("\0\0\2\0\0\0\0\0"),
};

/* mend_records makes a word of this file of each whose lowest byte is zero, with the kind and the size that it names. */
static void mend_records(uint8_t *file, size_t size, uint64_t seed)
{
    crc32c_function *crc = crc32c_best();
    for (size_t at = LZ_DATA; at + LZ_WORD <= size;) {
        uint64_t word;
        memcpy(&word, file + at, sizeof(word));
        size_t length = (word >> 32) & 0xFFFF;
        if ((word & 0xFF) != 0 || length == 0 || lz_span(length) > size - at) {
            at += LZ_WORD;
            continue;
        }
        word = lz_word((enum lz_kind)(word >> 60), lz_mix(seed, at, length), length, crc(file + at + LZ_WORD, length));
        memcpy(file + at, &word, sizeof(word));
        at += lz_span(length);
    }
}

/* mend puts right what the last byte of an input says. */
static void mend(uint8_t *file, size_t size, unsigned what)
{
    struct lz_header *header = (struct lz_header *)(void *)file;
    if (what & OF_IDENTITY)
        lz_identity_finish(&header->identity);
    if (what & OF_SESSION)
        memset(&header->session, 0, sizeof(header->session));
    if (what & OF_END && header->end.tag != 0)
        lz_end_finish(&header->end);
    if (what & OF_SEAL && atomic_load(&header->seal) != 0)
        atomic_store(&header->seal, lz_seal_word(header->identity.seed, atomic_load(&header->seal) & UINT32_MAX));
    if (what & OF_RECORDS)
        mend_records(file, size, header->identity.seed);
}

/* attempt makes a file of an input, just as large as it is, and scans it; one that is too short for a header as it is. */
static void attempt(const char *input, size_t size)
{
    struct front front;
    if (size < sizeof(front) + 1) {
        fuzz_records((const uint8_t *)input, size);
        return;
    }
    size_t records = size - sizeof(front) - 1;
    uint8_t *file = calloc(1, LZ_DATA + records);
    if (file == NULL)
        fuzz_fail("there is no memory");
    struct lz_header *header = (struct lz_header *)(void *)file;
    memcpy(&front, input, sizeof(front));
    header->identity = front.identity;
    atomic_store(&header->cursor, front.cursor);
    atomic_store(&header->seal, front.seal);
    header->session = front.session;
    header->end = front.end;
    memcpy(file + LZ_DATA, input + sizeof(front), records);
    mend(file, LZ_DATA + records, (unsigned char)input[size - 1]);
    fuzz_records(file, LZ_DATA + records);
    free(file);
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = INPUT_MAX,
    .attempt = attempt,
};
