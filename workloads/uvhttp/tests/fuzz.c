/*
 * Random input for all parsers: requests that are right, changed here and there, and cut at random. However it is cut, the
 * outcome must be the same as for the whole, and the sanitizers must have nothing to say. The seed is fixed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "body.h"
#include "files.h"
#include "head.h"
#include "limits.h"
#include "path.h"

enum { SECONDS = 6, INPUT_MAX = HEAD_MAX + 512 };

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

/* make_input puts one to three seeds together and changes some bytes. */
static size_t make_input(char *out)
{
    size_t size = 0;
    for (uint64_t n = 1 + chance(3); n > 0; n--) {
        const char *seed = seeds[chance(sizeof(seeds) / sizeof(seeds[0]))];
        size_t length = strlen(seed);
        memcpy(out + size, seed, length);
        size += length;
    }
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

int main(void)
{
    static char input[INPUT_MAX + 1024];
    struct timespec begin, now;
    unsigned long runs = 0;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 200; i++, runs++) {
            size_t size = make_input(input);
            char *copy = exact(input, size);
            time_t t;
            fuzz_head(copy, size);
            size_t from = chance(size);
            fuzz_body(copy + from, size - from);
            date_read((struct text){copy + from, size - from < 40 ? size - from : 40}, &t);
            free(copy);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < SECONDS);
    printf("fuzz: %lu inputs, with sanitizers\n", runs);
    return 0;
}
