/*
 * What the targets of epoll and uring have in common. Both judge requests by the same code, and each answer is one of few constants: however
 * the input is cut, the answers must be the same. A target includes its server, then this, and defines answer_all and seeds.
 */
#ifndef FUZZ_HEADS_H
#define FUZZ_HEADS_H

#include "fuzz.h"

/* UNSEEN is the target itself, which is not to tell which way it goes. */
#define UNSEEN __attribute__((no_sanitize_coverage))

enum { INPUT_MAX = HEAD_MAX + 512 };

static const struct fuzz_text words[] = {
    FUZZ_TEXT("\r\n"), FUZZ_TEXT("\r\n\r\n"), FUZZ_TEXT("\t ,:"), FUZZ_TEXT("\0\x7f\x80"), FUZZ_TEXT("0aAHT1"), FUZZ_TEXT("Host: a\r\n"),
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), FUZZ_TEXT("HEAD"), FUZZ_TEXT("HTTP/1.0"), FUZZ_TEXT("close"), FUZZ_TEXT("Content-Length: 0"),
};

/* answer_all gives an input in one piece or cut, and returns how many answers there are. */
UNSEEN static size_t answer_all(const char *input, size_t size, bool cut, const struct text **out);

/* attempt gives an input in one piece and in several. */
UNSEEN static void attempt(const char *input, size_t size)
{
    static const struct text *whole[INPUT_MAX], *parts[INPUT_MAX];
    size_t n = answer_all(input, size, false, whole);
    if (answer_all(input, size, true, parts) != n || memcmp(whole, parts, n * sizeof(whole[0])) != 0)
        fuzz_fail("cut otherwise, it is answered otherwise");
}

/* HEADS_TARGET is the target of a program with seeds. */
#define HEADS_TARGET                                                                                                                       \
    const struct fuzz_target fuzz_target = {                                                                                               \
        .seeds = seeds,                                                                                                                    \
        .seed_count = sizeof(seeds) / sizeof(seeds[0]),                                                                                    \
        .words = words,                                                                                                                    \
        .word_count = sizeof(words) / sizeof(words[0]),                                                                                    \
        .most = INPUT_MAX,                                                                                                                 \
        .attempt = attempt,                                                                                                                \
    }

#endif
