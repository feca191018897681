/*
 * zco's parser, in Zig, against epoll's, in C: they take the same requests, and say the same of them. What zco takes for the end of a head
 * does not depend on how it arrives.
 */
#define main epoll_main
#include "../epoll/epoll.c"
#undef main

#include "fuzz.h"

/* As in zco.zig. */
struct verdict {
    uint8_t status;
    bool close, old, head;
};
size_t zco_head_end(const char *data, size_t size, size_t seen);
struct verdict zco_parse(const char *data, size_t size);

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: bench\r\n\r\n"),
    FUZZ_TEXT("HEAD /stats HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: bench\r\n\r\n"),
    FUZZ_TEXT("GET / HTTP/1.1\r\nhOsT:\ta\r\nContent-Length: 00\r\nConnection: x , CLOSE\r\n\r\n"),
    FUZZ_TEXT("POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("\r\n"), FUZZ_TEXT("\r\n\r\n"), FUZZ_TEXT("\t ,:"), FUZZ_TEXT("\0\x7f\x80\xff"), FUZZ_TEXT("0aAHT1"), FUZZ_TEXT("Host: a\r\n"),
    FUZZ_TEXT("HTTP/1.0"), FUZZ_TEXT("close"), FUZZ_TEXT("keep-alive"), FUZZ_TEXT("Content-Length: 0"), FUZZ_TEXT("Connection:"),
};

static void compare(const char *head, size_t size)
{
    char *copy = fuzz_exact(head, size);
    struct verdict zco = zco_parse(copy, size);
    const struct text *epoll = parse_head(copy, size);
    bool taken = keeps(epoll) || closes(epoll);
    if ((zco.status == 0) != taken)
        fuzz_fail(taken ? "epoll takes what zco refuses" : "zco takes what epoll refuses");
    if (taken && epoll != &answers[zco.head][zco.close ? CLOSE : zco.old ? KEEP : PLAIN])
        fuzz_fail("zco and epoll answer otherwise");
    if (!taken && !zco.close)
        fuzz_fail("a connection goes on after a refusal");
    free(copy);
}

static void attempt(const char *input, size_t size)
{
    const char *blank = memmem(input, size, "\r\n\r\n", 4);
    size_t want = blank == NULL ? 0 : (size_t)(blank - input) + 4, seen = 0;
    if (zco_head_end(input, size, 0) != want)
        fuzz_fail("zco finds another end of the head");
    while (seen < size) { /* as it arrives in pieces */
        size_t next = seen + 1 + fuzz_chance(size - seen);
        size_t got = zco_head_end(input, next, seen);
        if (got != (want <= next ? want : 0))
            fuzz_fail("in pieces zco finds another end of the head");
        if (got != 0)
            break;
        seen = next;
    }
    if (want != 0)
        compare(input, want);
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = HEAD_MAX,
    .attempt = attempt,
};
