/* What uring does with input in pieces: however they are cut, and however long answers wait, the answers must be the same. */
#define main uring_main
#include "../uring/uring.c"
#undef main

#include "heads.h"

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: bench\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: b\r\n\r\nHEAD / HTTP/1.1\r\nHost: b\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET / HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\nmore"),
    FUZZ_TEXT("POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
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

HEADS_TARGET;
