/*
 * uvhttp's parsers of heads, bodies in chunks, paths and dates: however their input is cut, the outcome must be the same as for the whole.
 */
#include <stdlib.h>

#include "../uvhttp/body.h"
#include "../uvhttp/files.h"
#include "../uvhttp/head.h"
#include "../uvhttp/limits.h"
#include "../uvhttp/path.h"
#include "fuzz.h"

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("GET / HTTP/1.1\r\nHost: bench\r\n\r\n"),
    FUZZ_TEXT("GET /static/10k.bin?x=y HTTP/1.1\r\nHost: h\r\nIf-None-Match: W/\"1-2-3\", \"x\"\r\n"
              "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n"),
    FUZZ_TEXT("POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n"),
    FUZZ_TEXT("POST /echo HTTP/1.0\r\nContent-Length: 5\r\nConnection: keep-alive, close\r\n\r\nhello"),
    FUZZ_TEXT("\r\nHEAD http://h/%2e%2e/a//b/./c HTTP/1.1\r\nhost:\th \r\n\r\n"),
    FUZZ_TEXT("5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n"),
    FUZZ_TEXT("1\r\n2\r\n0000000000000000000000001\r\nx\r\n0\r\n\r\n"),
    FUZZ_TEXT("Sunday, 06-Nov-94 08:49:37 GMT"),
    FUZZ_TEXT("Sun Nov  6 08:49:37 1994"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("\r\n"), FUZZ_TEXT("\r\n\r\n"), FUZZ_TEXT("\t ,:;/.%\"*#?"), FUZZ_TEXT("\0\x7f\x80\xff"), FUZZ_TEXT("0a-AHTP1"),
    FUZZ_TEXT("Host: a\r\n"), FUZZ_TEXT("/../"), FUZZ_TEXT("%2f"), FUZZ_TEXT("ffffffff"), FUZZ_TEXT("Content-Length: 0\r\n"),
};

static int read_in_parts(struct head *h, const char *input, size_t size)
{
    int result = HEAD_MORE;
    head_begin(h);
    for (size_t given = 0; given < size && result == HEAD_MORE;) {
        given += 1 + fuzz_chance(fuzz_chance(4) == 0 ? 3 : size);
        given = given < size ? given : size;
        char *part = fuzz_exact(input, given);
        result = head_read(h, part, given);
        free(part);
    }
    return result;
}

/* find_headers looks in a whole head for what the parser has found there. */
static void find_headers(const char *input, const struct head *h)
{
    char *copy = fuzz_exact(input, h->size);
    if ((head_find(copy, h->size, TEXT("HOST")).data != NULL) != h->host)
        fuzz_fail("a header is found that is not there, or the other way round");
    struct text value = head_find(copy, h->size, TEXT("If-None-Match")), since = head_find(copy, h->size, TEXT("if-modified-since"));
    /* The parser takes the first that is not empty. */
    if ((value.size > 0 && !text_same(value, head_text(copy, h->if_none_match))) ||
        (since.size > 0 && !text_same(since, head_text(copy, h->if_modified_since))))
        fuzz_fail("a header has another value");
    free(copy);
}

static void fuzz_head(const char *input, size_t size)
{
    struct head whole, parts;
    head_begin(&whole);
    int result = head_read(&whole, input, size);
    if (read_in_parts(&parts, input, size) != result)
        fuzz_fail("a head in parts is judged otherwise");
    if (result != HEAD_DONE)
        return;
    whole.scanned = parts.scanned; /* where it stopped looking may differ */
    if (memcmp(&whole, &parts, sizeof(whole)) != 0)
        fuzz_fail("a head in parts is another");
    find_headers(input, &whole);
    char *raw = fuzz_exact(input + whole.path.at, whole.path.size), clean[TARGET_MAX];
    struct text path;
    if (whole.path.size > TARGET_MAX)
        fuzz_fail("a path is too long");
    if (path_clean((struct text){raw, whole.path.size}, clean, &path) == 0) {
        if (path.size > whole.path.size || memchr(path.data, '\0', path.size) != NULL)
            fuzz_fail("a path became longer, or holds a NUL");
        if (memmem(path.data, path.size, "/../", 4) != NULL)
            fuzz_fail("a path leads up");
        path_hidden(path);
        path_type(path);
    }
    free(raw);
    struct file f = {.etag = TEXT_INIT("\"1-2-3\"")};
    file_unchanged(&f, head_text(input, whole.if_none_match), head_text(input, whole.if_modified_since));
}

struct outcome {
    int result;
    size_t content, used;
    uint64_t sum;
};

static struct outcome decode(const char *input, size_t size, bool parts)
{
    struct body b;
    struct outcome o = {.result = BODY_MORE};
    body_begin_chunked(&b);
    for (size_t at = 0; at < size && o.result == BODY_MORE;) {
        size_t n = parts ? 1 + fuzz_chance(fuzz_chance(2) == 0 ? 4 : size - at) : size - at;
        n = n < size - at ? n : size - at;
        char *part = fuzz_exact(input + at, n);
        struct text rest = {part, n}, piece;
        while ((o.result = body_read(&b, &rest, &piece)) == BODY_PIECE) {
            for (size_t i = 0; i < piece.size; i++)
                o.sum = o.sum * 31 + (unsigned char)piece.data[i];
            o.content += piece.size;
        }
        at += n - rest.size;
        o.used = at;
        free(part);
    }
    return o;
}

static void fuzz_body(const char *input, size_t size)
{
    struct outcome whole = decode(input, size, false), parts = decode(input, size, true);
    if (whole.result != parts.result || whole.content != parts.content || whole.sum != parts.sum || whole.used != parts.used)
        fuzz_fail("a body in parts is another");
    if (whole.content > BODY_MAX)
        fuzz_fail("a body is beyond its limit");
}

static void attempt(const char *input, size_t size)
{
    time_t t;
    fuzz_head(input, size);
    fuzz_body(input, size);
    date_read((struct text){input, size}, &t);
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = HEAD_MAX + 512,
    .attempt = attempt,
};
