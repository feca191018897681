/* What uring does with input in pieces: however they are cut, and however long answers wait, the answers must be the same. */
#define main uring_main
#include "../uring/uring.c"
#undef main

#include "fuzz.h"

/* UNSEEN is the target itself, which is not to tell which way it goes. */
#define UNSEEN __attribute__((no_sanitize_coverage))

enum { INPUT_MAX = HEAD_MAX + 512 };

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: bench\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: b\r\n\r\nHEAD / HTTP/1.1\r\nHost: b\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\nmore"),
    FUZZ_TEXT("POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("\r\n"), FUZZ_TEXT("\r\n\r\n"), FUZZ_TEXT("\t ,:"), FUZZ_TEXT("\0\x7f\x80"), FUZZ_TEXT("0aAHT1"),
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), FUZZ_TEXT("HEAD"), FUZZ_TEXT("HTTP/1.0"), FUZZ_TEXT("close"),
};

/* answered takes what is due as a client that takes it at once would, and returns the new number of answers. */
UNSEEN static size_t answered(struct conn *c, const struct text **out, size_t n)
{
    for (;;) {
        if (c->owed == 0 && c->last == NULL && c->scanned < c->used)
            parse_input(c, c->held);
        forget(c);
        if (c->owed == 0)
            return n;
        for (struct text next = due(c); next.size > 0 && c->owed > 0; next = due(c)) {
            size_t before = c->owed;
            wrote(c, 1 + fuzz_chance(next.size));
            for (; before > c->owed; before--)
                out[n++] = c->kept;
        }
    }
}

/* answer_all gives an input in pieces, cut or as long as they can be, and returns how many answers there are. Each is one of few constants. */
UNSEEN static size_t answer_all(const char *input, size_t size, bool cut, const struct text **out)
{
    struct conn c;
    size_t n = 0;
    join(&c, -1);
    for (size_t at = 0; at < size && c.last == NULL;) {
        size_t more = size - at < PIECE ? size - at : PIECE;
        if (cut)
            more = 1 + fuzz_chance(fuzz_chance(2) == 0 && more > 8 ? 8 : more);
        char *piece = fuzz_exact(input + at, more);
        if (!take(&c, piece, more))
            fuzz_fail("there is no memory");
        free(piece);
        at += more;
        /* The client may be slow to take its answers, but its input is not read for ever then. */
        if (!cut || c.used > HEAD_MAX || fuzz_chance(4) > 0)
            n = answered(&c, out, n);
    }
    n = answered(&c, out, n);
    if (c.last != NULL)
        out[n++] = c.last;
    part(&c);
    return n;
}

UNSEEN static void attempt(const char *input, size_t size)
{
    static const struct text *whole[INPUT_MAX], *parts[INPUT_MAX];
    size_t n = answer_all(input, size, false, whole);
    if (answer_all(input, size, true, parts) != n || memcmp(whole, parts, n * sizeof(whole[0])) != 0)
        fuzz_fail("cut otherwise, it is answered otherwise");
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = INPUT_MAX,
    .attempt = attempt,
};
