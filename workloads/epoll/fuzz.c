/*
 * Random input for the parser: requests that are right, changed here and there. However it is cut, the answers must be the same, and the
 * sanitizers must have nothing to say. Inputs that make the parser do something new are kept, and changed further. The seed is fixed;
 * `fuzz SECONDS` goes on for so long.
 */
#define main epoll_main
#include "epoll.c"
#undef main

#include <time.h>

#include "guide.h"

/* UNSEEN is the fuzzer itself, which is not to tell which way it goes. */
#define UNSEEN __attribute__((no_sanitize_coverage))

enum { SECONDS = 6, INPUT_MAX = HEAD_MAX + 512, KEPT_MAX = 8192 };

static const char *const seeds[] = {
    "GET / HTTP/1.1\r\nHost: bench\r\n\r\n",
    "HEAD /x?y HTTP/1.1\r\nhOsT:\tb\r\nConnection: x , CLOSE\r\nContent-Length: 00\r\n\r\n",
    "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
    "POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: b\r\nX: \x80\r\nContent-Length: 10\r\n\r\n",
};
static const char spice[] = "\r\n\r\n\t ,:\0\x7f\x80" "0aAHT1";

static uint64_t state = 0x9e3779b97f4a7c15;
static struct text kept[KEPT_MAX];
static size_t kept_count;

UNSEEN static uint64_t chance(uint64_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

/* add puts a text behind an input as far as there is room, and returns the size of both. */
UNSEEN static size_t add(char *out, size_t size, struct text more)
{
    size_t n = more.size < INPUT_MAX - size ? more.size : INPUT_MAX - size;
    memcpy(out + size, more.data, n);
    return size + n;
}

UNSEEN static size_t make_input(char *out)
{
    size_t size = 0;
    for (uint64_t n = 1 + chance(3); n > 0; n--) {
        const char *seed = seeds[chance(sizeof(seeds) / sizeof(seeds[0]))];
        bool fresh = kept_count == 0 || chance(3) == 0;
        size = add(out, size, fresh ? (struct text){seed, strlen(seed)} : kept[chance(kept_count)]);
    }
    if (chance(64) == 0) { /* beyond the limit of a head */
        size_t at = chance(size), more = INPUT_MAX - size;
        memmove(out + at + more, out + at, size - at);
        memset(out + at, spice[chance(sizeof(spice))], more);
        size = INPUT_MAX;
    }
    for (uint64_t n = chance(5); n > 0; n--) {
        size_t at = chance(size);
        if (chance(2) == 0 && size < INPUT_MAX) {
            memmove(out + at + 1, out + at, size - at);
            size++;
        }
        out[at] = spice[chance(sizeof(spice))];
    }
    return size;
}

/* answer_all reads an input as pull and flush do, and returns how many answers there are. Each is one of few constants. */
UNSEEN static size_t answer_all(const char *input, size_t size, bool cut, const struct text **out)
{
    struct conn c = {.fd = -1, .kept = &answers[0][PLAIN]};
    char *buffer = malloc(HEAD_MAX);
    size_t n = 0;
    if (buffer == NULL)
        die("fuzz: malloc");
    for (size_t at = 0; at < size && c.last == NULL;) {
        size_t room = HEAD_MAX - c.used, more = size - at < room ? size - at : room;
        if (cut)
            more = 1 + chance(chance(2) == 0 && more > 8 ? 8 : more);
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

/* try gives an input to the parser in one piece and in several. It returns false when that makes a difference. */
UNSEEN static bool try(const char *input, size_t size)
{
    static const struct text *whole[INPUT_MAX], *parts[INPUT_MAX];
    guide_begin();
    size_t n = answer_all(input, size, false, whole);
    if (answer_all(input, size, true, parts) != n || memcmp(whole, parts, n * sizeof(whole[0])) != 0)
        return false;
    if (!guide_new() || kept_count == KEPT_MAX)
        return true;
    char *copy = malloc(size);
    if (copy == NULL)
        die("fuzz: malloc");
    memcpy(copy, input, size);
    kept[kept_count++] = (struct text){copy, size};
    return true;
}

UNSEEN int main(int argc, char **argv)
{
    static char input[INPUT_MAX];
    time_t end = time(NULL) + (argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS);
    unsigned long runs = 0;
    for (; time(NULL) < end; runs++) {
        size_t size = make_input(input);
        if (!try(input, size)) {
            printf("FAIL fuzz: cut otherwise, it has other answers: ");
            for (size_t i = 0; i < size; i++)
                printf(input[i] >= ' ' && input[i] <= '~' ? "%c" : "\\x%02x", (unsigned char)input[i]);
            printf("\n");
            return 1;
        }
    }
    printf("epoll: fuzz: %lu inputs, with sanitizers; %zu of them went %zu ways through the parser\n", runs, kept_count, guide_ways());
    for (size_t i = 0; i < kept_count; i++)
        free((void *)(uintptr_t)kept[i].data);
    return kept_count == 0;
}
