/* epoll's parser: however its input is cut, the answers must be the same. */
#define main epoll_main
#include "../epoll/epoll.c"
#undef main

#include "heads.h"

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: bench\r\n\r\n"),
    FUZZ_TEXT("HEAD /x?y HTTP/1.1\r\nhOsT:\tb\r\nConnection: x , CLOSE\r\nContent-Length: 00\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n"),
    FUZZ_TEXT("POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: b\r\nX: \x80\r\nContent-Length: 10\r\n\r\n"),
};

/* answer_all reads an input as pull and flush do, and returns how many answers there are. Each is one of few constants. */
UNSEEN static size_t answer_all(const char *input, size_t size, bool cut, const struct text **out)
{
    struct conn c = {.fd = -1, .kept = &answers[0][PLAIN]};
    char *buffer = malloc(HEAD_MAX);
    size_t n = 0;
    if (buffer == NULL)
        fuzz_fail("there is no memory");
    for (size_t at = 0; at < size && c.last == NULL;) {
        size_t room = HEAD_MAX - c.used, more = size - at < room ? size - at : room;
        if (cut)
            more = 1 + fuzz_chance(fuzz_chance(2) == 0 && more > 8 ? 8 : more);
        memcpy(buffer + c.used, input + at, more);
        c.used += more;
        at += more;
        do {
            parse_input(&c, buffer);
            for (; c.owed > 0; c.owed--)
                out[n++] = c.kept;
        } while (c.last == NULL && c.scanned < c.used);
    }
    if (c.last != NULL)
        out[n++] = c.last;
    free(buffer);
    return n;
}

HEADS_TARGET;
