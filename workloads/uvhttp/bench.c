/*
 * Micro-benchmarks: what one step of a request costs. `cases` lists them; `cell CASE [--seconds S]` runs one and prints a line
 * of JSON. route-hash is the router as it is served; route-hot puts a cache of the 16 most asked-for routes before it, and is
 * here so that leaving it out of the server stays a decision by figures.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cache.h"
#include "head.h"
#include "mem.h"
#include "router.h"

enum { PATHS = 64, REQUESTS = 4096, HOT = 16, BATCH = 20000 };

struct bench {
    struct router router;
    struct text hot[HOT]; /* most recently used first */
    const struct route *hot_route[HOT];
    char names[PATHS][32];
    unsigned char asked[REQUESTS]; /* which path each request is for: the first half of the paths get most */
    struct cache cache;
    uint64_t sink;
};

static const char plain[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n";
static const char browser[] =
    "GET /static/10k.bin?v=3 HTTP/1.1\r\nHost: bench.example:8080\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 "
    "Firefox/128.0\r\nAccept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\nAccept-Language: en-GB,en;q=0.5\r\n"
    "Accept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\nIf-None-Match: \"1-2-3\"\r\nCache-Control: max-age=0\r\n\r\n";

static void parse(struct bench *b, const char *text, size_t size)
{
    for (int i = 0; i < BATCH; i++) {
        struct head h;
        head_begin(&h);
        b->sink += (uint64_t)head_read(&h, text, size) + h.path.size;
    }
}

static void parse_plain(struct bench *b)
{
    parse(b, plain, sizeof(plain) - 1);
}

static void parse_browser(struct bench *b)
{
    parse(b, browser, sizeof(browser) - 1);
}

static struct text path_of(struct bench *b, unsigned request)
{
    const char *name = b->names[b->asked[request % REQUESTS]];
    return (struct text){name, strlen(name)};
}

static void route_one(struct bench *b)
{
    for (int i = 0; i < BATCH; i++)
        b->sink += (uintptr_t)router_find(&b->router, TEXT("/"));
}

static void route_hash(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++)
        b->sink += (uintptr_t)router_find(&b->router, path_of(b, i));
}

/* find_hot looks among the latest routes first, and moves what it finds one place forward. */
static const struct route *find_hot(struct bench *b, struct text path)
{
    for (int i = 0; i < HOT; i++) {
        if (!text_same(b->hot[i], path))
            continue;
        const struct route *route = b->hot_route[i];
        if (i > 0) {
            struct text t = b->hot[i - 1];
            b->hot[i - 1] = b->hot[i], b->hot[i] = t;
            b->hot_route[i] = b->hot_route[i - 1], b->hot_route[i - 1] = route;
        }
        return route;
    }
    const struct route *route = router_find(&b->router, path);
    if (route != NULL)
        b->hot[HOT - 1] = route->path, b->hot_route[HOT - 1] = route;
    return route;
}

static void route_hot(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++)
        b->sink += (uintptr_t)find_hot(b, path_of(b, i));
}

static void route_hot_one(struct bench *b)
{
    for (int i = 0; i < BATCH; i++)
        b->sink += (uintptr_t)find_hot(b, TEXT("/"));
}

static void cache_hit(struct bench *b)
{
    for (unsigned i = 0; i < BATCH; i++)
        b->sink += (uintptr_t)cache_find(&b->cache, path_of(b, i));
}

static const struct {
    const char *name;
    void (*run)(struct bench *b);
} cases[] = {
    {"parse-plain", parse_plain}, {"parse-browser", parse_browser}, {"route-one", route_one}, {"route-hot-one", route_hot_one},
    {"route-hash", route_hash},   {"route-hot", route_hot},         {"cache-hit", cache_hit},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void fail(const char *what)
{
    fprintf(stderr, "uvhttp-bench: %s\n", what);
    exit(1);
}

/* set_up fills router and cache, and checks that both ways to a route find the same. */
static struct bench *set_up(void)
{
    struct bench *b = mem_alloc(sizeof(*b));
    memset(b, 0, sizeof(*b));
    cache_init(&b->cache, 1 << 20, PATHS);
    for (int i = 0; i < PATHS; i++) {
        snprintf(b->names[i], sizeof(b->names[i]), i == 0 ? "/" : "/api/v1/things/%d", i);
        struct text name = {b->names[i], strlen(b->names[i])};
        struct file *f = mem_alloc(sizeof(*f));
        *f = (struct file){.name = name, .content = {.fd = -1}, .users = 1};
        cache_put(&b->cache, f);
        if (!router_add(&b->router, (struct route){.path = name, .handler = i}))
            fail("the router is full");
    }
    uint64_t x = 88172645463325252;
    for (int i = 0; i < REQUESTS; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        unsigned a = (unsigned)(x >> 8) % PATHS, c = (unsigned)(x >> 32) % PATHS;
        b->asked[i] = (unsigned char)((x & 1) != 0 ? a * c / PATHS * a / PATHS : a * c / PATHS);
    }
    for (unsigned i = 0; i < REQUESTS; i++) {
        if (find_hot(b, path_of(b, i)) != router_find(&b->router, path_of(b, i)) || cache_find(&b->cache, path_of(b, i)) == NULL)
            fail("a path is not found");
    }
    struct head h;
    head_begin(&h);
    if (head_read(&h, browser, sizeof(browser) - 1) != HEAD_DONE || h.path.size != 15)
        fail("a request is not understood");
    return b;
}

static int run_cell(const char *name, double least)
{
    for (size_t i = 0; i < CASES; i++) {
        if (strcmp(cases[i].name, name) != 0)
            continue;
        struct bench *b = set_up();
        for (double until = seconds(CLOCK_MONOTONIC) + 0.1; seconds(CLOCK_MONOTONIC) < until;)
            cases[i].run(b);
        unsigned long long operations = 0;
        double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID), now;
        do {
            cases[i].run(b);
            operations += BATCH;
            now = seconds(CLOCK_MONOTONIC);
        } while (now - wall < least);
        cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        if (b->sink == 0)
            fail("nothing was found");
        printf("{\"case\":\"%s\",\"operations\":%llu,\"wallSeconds\":%.6f,\"cpuSeconds\":%.6f}\n", name, operations, now - wall, cpu);
        cache_clear(&b->cache);
        mem_free(b);
        return 0;
    }
    fprintf(stderr, "uvhttp-bench: there is no case %s\n", name);
    return 2;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "cases") == 0) {
        for (size_t i = 0; i < CASES; i++)
            puts(cases[i].name);
        return 0;
    }
    char *end = NULL;
    double least = argc == 5 ? strtod(argv[4], &end) : 1.0;
    bool good = argc == 3 || (argc == 5 && strcmp(argv[3], "--seconds") == 0 && end != argv[4] && *end == '\0' && least > 0 && least < 3600);
    if (good && strcmp(argv[1], "cell") == 0)
        return run_cell(argv[2], least);
    fprintf(stderr, "usage: uvhttp-bench cases | cell CASE [--seconds S]\n");
    return 2;
}
