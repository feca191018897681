/*
 * What it takes to compress records that are full of numbers, as a log does with its full files: in pieces, by Zstandard's first level. It
 * is the preparer's time, and no writer's. The bytes are laid out as in a file: a word that looks random, a line, zeros.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "../format.h"
#include "bench.h"

enum { LINES = 64 * BATCH, LINE_BYTES = 160, PIECE = 128 * 1024, LEVEL = 1 };

struct compressing {
    ZSTD_CCtx *stream;
    ZSTD_DCtx *check;
    uint8_t *lines, *again;
    size_t ends[LINES + 1]; /* of the lines; the first one begins at the first of them */
    size_t at;              /* the next line */
    uint8_t *packed;
    size_t packed_size, packed_room; /* of what has been made of the lines so far */
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static void make_lines(struct compressing *c)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < LINES; i++) {
        char line[LINE_BYTES];
        uint64_t word = next_random(&state), a = next_random(&state), b = next_random(&state);
        int size = snprintf(line, sizeof(line),
                            "2026-01-01T%02u:%02u:%02u.%06uZ INFO  answered GET /v1/orders/%u of 10.0.%u.%u with 200 in %u us, %u bytes",
                            i / 3600 % 24, i / 60 % 60, i % 60, (unsigned)(a % 1000000), (unsigned)(a >> 44), (unsigned)(b % 8),
                            (unsigned)(b >> 8 & 255), (unsigned)(b >> 52), (unsigned)(b >> 16 & 16383));
        uint8_t *to = c->lines + c->ends[i];
        memset(to, 0, lz_span((size_t)size));
        memcpy(to, &word, LZ_WORD);
        memcpy(to + LZ_WORD, line, (size_t)size);
        c->ends[i + 1] = c->ends[i] + lz_span((size_t)size);
    }
}

static void compressing_close(void *self)
{
    struct compressing *c = self;
    ZSTD_freeCCtx(c->stream);
    ZSTD_freeDCtx(c->check);
    free(c->lines);
    free(c->again);
    free(c->packed);
    free(c);
}

static void *compressing_open(const struct peer *peer, const char *dir)
{
    (void)peer;
    (void)dir;
    struct compressing *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    size_t room = (size_t)LINES * (LINE_BYTES + 2 * LZ_WORD);
    c->stream = ZSTD_createCCtx();
    c->check = ZSTD_createDCtx();
    c->lines = malloc(room);
    c->again = malloc(room);
    c->packed_room = ZSTD_compressBound(room);
    c->packed = malloc(c->packed_room);
    if (c->stream == NULL || c->check == NULL || c->lines == NULL || c->again == NULL || c->packed == NULL ||
        ZSTD_isError(ZSTD_CCtx_setParameter(c->stream, ZSTD_c_compressionLevel, LEVEL))) {
        fprintf(stderr, "lzlog-bench: there is no memory to compress\n");
        compressing_close(c);
        return NULL;
    }
    make_lines(c);
    return c;
}

static bool compressing_begin(void *self)
{
    (void)self;
    return true;
}

static void *compressing_enter(void *self)
{
    return self;
}

static void compressing_leave(void *self)
{
    (void)self;
}

/* batch compresses the next lines; behind the last one it begins anew, as with another file. */
static bool compressing_batch(void *self, uint64_t records)
{
    struct compressing *c = self;
    if (c->at == LINES)
        c->at = 0;
    if (c->at == 0)
        c->packed_size = 0;
    size_t from = c->ends[c->at], to = c->ends[c->at + records];
    c->at += records;
    while (from < to) {
        size_t size = to - from < PIECE ? to - from : PIECE, more;
        ZSTD_inBuffer in = {c->lines + from, size, 0};
        from += size;
        ZSTD_EndDirective how = from == c->ends[LINES] ? ZSTD_e_end : ZSTD_e_continue;
        do {
            ZSTD_outBuffer out = {c->packed + c->packed_size, c->packed_room - c->packed_size, 0};
            more = ZSTD_compressStream2(c->stream, &out, &in, how);
            if (ZSTD_isError(more))
                return false;
            c->packed_size += out.pos;
        } while (how == ZSTD_e_end ? more != 0 : in.pos < in.size);
    }
    return true;
}

static bool compressing_finish(void *self)
{
    (void)self;
    return true;
}

/* fault compresses to the end what is begun, and has it decompressed again. */
static const char *compressing_fault(void *self, uint64_t records, bool last)
{
    struct compressing *c = self;
    size_t size = c->ends[LINES];
    (void)records;
    if (!last)
        return NULL;
    while (c->at < LINES) {
        if (!compressing_batch(c, BATCH))
            return "it cannot be compressed";
    }
    if (ZSTD_decompressDCtx(c->check, c->again, size, c->packed, c->packed_size) != size || memcmp(c->lines, c->again, size) != 0)
        return "what was compressed is not what was given";
    return c->packed_size < size / 2 ? NULL : "it did not get half as large";
}

const struct peer peer_compress = {
    "compress", 1, 0, BATCH, 0, .open = compressing_open, .begin = compressing_begin, .enter = compressing_enter, .leave = compressing_leave,
    .fault = compressing_fault, .close = compressing_close, .batch = compressing_batch, .finish = compressing_finish,
};
