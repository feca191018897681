/*
 * uvhttp's routes: a path finds the one that a simpler search finds, with the same parameters. An input is lines: the paths of routes, and
 * the path that is asked for.
 */
#include <stdlib.h>

#include "../uvhttp/router.h"
#include "fuzz.h"

enum { INPUT_MAX = 256, LINES_MAX = 8, METHODS = 3 };

static const struct fuzz_text seeds[] = {
    FUZZ_TEXT("/users/:id\n/users/:id/posts/:post\n/users\n/users/7"),
    FUZZ_TEXT("/static/\n/static\n/:a/b:c/:d\n/:a/:b/:c\n/static/b:c/y"),
    FUZZ_TEXT("/\n/x\n/:x\n/x"),
};
static const struct fuzz_text words[] = {
    FUZZ_TEXT("/:\nax*"), FUZZ_TEXT("\n/"), FUZZ_TEXT("/:id"), FUZZ_TEXT("//"), FUZZ_TEXT("/static/"), FUZZ_TEXT("\n/users/:id"), FUZZ_TEXT("/7"),
};

/* part_at is the part of a path that begins with the slash at a place. */
static struct text part_at(struct text path, size_t at)
{
    size_t end = at + 1;
    while (end < path.size && path.data[end] != '/')
        end++;
    return (struct text){path.data + at, end - at};
}

/* fits compares part by part. */
static bool fits(struct text pattern, struct text path, struct text *params)
{
    size_t i = 0, k = 0;
    while (i < pattern.size && k < path.size && path.data[k] == '/') {
        struct text want = part_at(pattern, i), part = part_at(path, k);
        bool param = want.size > 1 && want.data[1] == ':';
        if (param ? part.size == 1 : !text_same(want, part))
            return false;
        if (param)
            *params++ = (struct text){part.data + 1, part.size - 1};
        i += want.size;
        k += part.size;
    }
    return i == pattern.size && k == path.size;
}

/* match is router_match, told otherwise. */
static void match(const struct router *r, struct text path, unsigned method)
{
    struct text got[PARAMS_MAX], params[PARAMS_MAX];
    unsigned allowed = 0, others = 0;
    const struct route *found = router_match(r, path, method, got, &allowed), *want = NULL;
    for (unsigned i = 0; i < r->count && want == NULL; i++) {
        const struct route *route = &r->routes[i];
        if (route->params == 0 || !fits(route->path, path, params))
            continue;
        if ((route->methods & method) != 0)
            want = route;
        else
            others |= route->methods;
    }
    if (found != want || allowed != others)
        fuzz_fail("a path with parameters finds another route");
    for (unsigned i = 0; found != NULL && i < found->params; i++) {
        if (!text_same(got[i], params[i]))
            fuzz_fail("a parameter is not what the path has in its place");
    }
}

/* is_there tells whether a route without parameters has just this path. */
static bool is_there(const struct router *r, struct text path)
{
    for (unsigned i = 0; i < r->count; i++) {
        if (r->routes[i].params == 0 && text_same(r->routes[i].path, path))
            return true;
    }
    return false;
}

/* find is router_find, told otherwise. */
static void find(const struct router *r, struct text path)
{
    const struct route *found = router_find(r, path);
    const char *slash = path.size > 1 ? memchr(path.data + 1, '/', path.size - 1) : NULL;
    struct text under = {path.data, slash == NULL ? 0 : (size_t)(slash - path.data) + 1};
    struct text want = is_there(r, path) ? path : slash != NULL && is_there(r, under) ? under : (struct text){NULL, 0};
    if ((found != NULL) != (want.data != NULL) || (found != NULL && !text_same(found->path, want)))
        fuzz_fail("a path finds another route");
    for (unsigned methods = 0; found != NULL; found = router_next(r, found)) {
        if (!text_same(found->path, want) || (found->methods & methods) != 0)
            fuzz_fail("another route of the path is none, or has its methods");
        methods |= found->methods;
    }
}

static void attempt(const char *input, size_t size)
{
    struct router *r = calloc(1, sizeof(*r));
    struct text line = {input, 0};
    unsigned lines = 0;
    if (r == NULL)
        fuzz_fail("there is no memory");
    for (const char *end; (end = memchr(line.data, '\n', size - (size_t)(line.data - input))) != NULL && lines < LINES_MAX; line.data = end + 1, lines++) {
        struct route route = {.path = {line.data, (size_t)(end - line.data)}, .methods = (uint16_t)(1U << fuzz_chance(METHODS))};
        if (router_add(r, route) && router_add(r, route))
            fuzz_fail("a route is added twice");
    }
    char *path = fuzz_exact(line.data, size - (size_t)(line.data - input));
    struct text asked = {path, size - (size_t)(line.data - input)};
    match(r, asked, 1U << fuzz_chance(METHODS));
    find(r, asked);
    free(path);
    free(r);
}

const struct fuzz_target fuzz_target = {
    .seeds = seeds,
    .seed_count = sizeof(seeds) / sizeof(seeds[0]),
    .words = words,
    .word_count = sizeof(words) / sizeof(words[0]),
    .most = INPUT_MAX,
    .attempt = attempt,
};
