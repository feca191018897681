/*
 * Random input for all parsers: requests that are right, changed here and there, and cut at random. However it is cut, the
 * outcome must be the same as for the whole, and the sanitizers must have nothing to say. What makes a parser do something new is kept,
 * and changed further. The seed is fixed; `fuzz SECONDS` goes on for so long.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "body.h"
#include "files.h"
#include "guide.h"
#include "head.h"
#include "limits.h"
#include "path.h"

enum { SECONDS = 6, INPUT_MAX = HEAD_MAX + 512, KEPT_MAX = 8192 };

static uint64_t state = 0x9e3779b97f4a7c15;

static uint64_t chance(uint64_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

static const char *const seeds[] = {
    "GET / HTTP/1.1\r\nHost: bench\r\n\r\n",
    "GET /static/10k.bin?x=y HTTP/1.1\r\nHost: h\r\nIf-None-Match: W/\"1-2-3\", \"x\"\r\nIf-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n",
    "POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n5;a=b\r\nhello\r\n0\r\nX: y\r\n\r\n",
    "POST /echo HTTP/1.0\r\nContent-Length: 5\r\nConnection: keep-alive, close\r\n\r\nhello",
    "\r\nHEAD http://h/%2e%2e/a//b/./c HTTP/1.1\r\nhost:\th \r\n\r\n",
    "ff\r\n0\r\n\r\n1\r\n2\r\n0000000000000000000000001\r\nx\r\n0\r\n\r\n",
    "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "\"a\", W/\"b\", *",
};
static const char spice[] = "\r\n\r\n\t ,:;/.%\"*#?\0\x7f\x80\xff" "0a-AHTP1";

/* Inputs that were worth keeping. */
static struct text kept[KEPT_MAX];
static size_t kept_count;

/* begin_input puts one to three seeds together, or takes an input that was kept, and perhaps a part of another behind it. */
static size_t begin_input(char *out)
{
    size_t size = 0;
    if (kept_count > 0 && chance(4) > 0) {
        struct text first = kept[chance(kept_count)], second = kept[chance(kept_count)];
        memcpy(out, first.data, first.size);
        size = first.size;
        size_t from = chance(second.size), more = second.size - from;
        if (chance(4) == 0 && size + more <= INPUT_MAX) {
            memcpy(out + size, second.data + from, more);
            size += more;
        }
        return size;
    }
    for (uint64_t n = 1 + chance(3); n > 0; n--) {
        const char *seed = seeds[chance(sizeof(seeds) / sizeof(seeds[0]))];
        size_t length = strlen(seed);
        memcpy(out + size, seed, length);
        size += length;
    }
    return size;
}

/* make_input changes some bytes of an input. */
static size_t make_input(char *out)
{
    size_t size = begin_input(out);
    if (chance(64) == 0) { /* beyond the limits */
        size_t at = chance(size), more = INPUT_MAX - size;
        memmove(out + at + more, out + at, size - at);
        memset(out + at, spice[chance(sizeof(spice))], more);
        size = INPUT_MAX;
    }
    for (uint64_t n = chance(6); n > 0; n--) {
        size_t at = chance(size);
        if (chance(3) == 0) {
            memmove(out + at, out + at + 1, size - at - 1);
            size -= size > 1;
        } else if (chance(2) == 0 && size < INPUT_MAX) {
            memmove(out + at + 1, out + at, size - at);
            out[at] = spice[chance(sizeof(spice))];
            size++;
        } else {
            out[at] = spice[chance(sizeof(spice))];
        }
    }
    return size;
}

static void fail(const char *what, const char *input, size_t size)
{
    printf("FAIL fuzz: %s, for: ", what);
    for (size_t i = 0; i < size; i++)
        printf(input[i] >= ' ' && input[i] <= '~' ? "%c" : "\\x%02x", (unsigned char)input[i]);
    printf("\n");
    exit(1);
}

/* exact copies to memory that ends where the input ends, so that reading beyond it is seen. */
static char *exact(const char *input, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        exit(1);
    memcpy(copy, input, size);
    return copy;
}

static int read_in_parts(struct head *h, const char *input, size_t size)
{
    int result = HEAD_MORE;
    head_begin(h);
    for (size_t given = 0; given < size && result == HEAD_MORE;) {
        given += 1 + chance(chance(4) == 0 ? 3 : size);
        given = given < size ? given : size;
        char *part = exact(input, given);
        result = head_read(h, part, given);
        free(part);
    }
    return result;
}

static void fuzz_head(const char *input, size_t size)
{
    struct head whole, parts;
    head_begin(&whole);
    int result = head_read(&whole, input, size);
    if (read_in_parts(&parts, input, size) != result)
        fail("a head in parts is judged otherwise", input, size);
    if (result != HEAD_DONE)
        return;
    whole.scanned = parts.scanned; /* where it stopped looking may differ */
    if (memcmp(&whole, &parts, sizeof(whole)) != 0)
        fail("a head in parts is another", input, size);
    char *raw = exact(input + whole.path.at, whole.path.size), clean[TARGET_MAX];
    struct text path;
    if (whole.path.size > TARGET_MAX)
        fail("a path is too long", input, size);
    if (path_clean((struct text){raw, whole.path.size}, clean, &path) == 0) {
        if (path.size > whole.path.size || memchr(path.data, '\0', path.size) != NULL)
            fail("a path became longer, or holds a NUL", input, size);
        if (memmem(path.data, path.size, "/../", 4) != NULL)
            fail("a path leads up", input, size);
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
        size_t n = parts ? 1 + chance(chance(2) == 0 ? 4 : size - at) : size - at;
        n = n < size - at ? n : size - at;
        char *part = exact(input + at, n);
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
        fail("a body in parts is another", input, size);
    if (whole.content > BODY_MAX)
        fail("a body is beyond its limit", input, size);
}

/* keep_new keeps an input if it has made a parser do something new. */
static void keep_new(const char *input, size_t size)
{
    if (guide_new() && kept_count < KEPT_MAX)
        kept[kept_count++] = (struct text){exact(input, size), size};
}

/* fuzz_all gives an input to the parser of heads, and the rest of it from somewhere on to the others. */
static void fuzz_all(const char *input, size_t size)
{
    time_t t;
    guide_begin();
    fuzz_head(input, size);
    keep_new(input, size);
    size_t from = chance(2) == 0 ? chance(size) : 0, rest = size - from;
    guide_begin();
    fuzz_body(input + from, rest);
    date_read((struct text){input + from, rest < 40 ? rest : 40}, &t);
    keep_new(input + from, rest);
}

int main(int argc, char **argv)
{
    static char input[INPUT_MAX + 1024];
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS;
    struct timespec begin, now;
    unsigned long runs = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 200; i++, runs++) {
            size_t size = make_input(input);
            char *copy = exact(input, size);
            fuzz_all(copy, size);
            free(copy);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < seconds);
    printf("fuzz: %lu inputs, with sanitizers; %zu of them went %zu ways through the parsers\n", runs, kept_count, guide_ways());
    if (kept_count == 0)
        fail("the parsers do not tell which way they go", "", 0);
    for (size_t i = 0; i < kept_count; i++)
        free((void *)(uintptr_t)kept[i].data);
    return 0;
}
