#include "router.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

_Static_assert(ROUTES_MAX < ROUTE_SLOTS && ROUTES_MAX <= 255, "a slot is a byte, and one slot stays free");

uint64_t router_hash(struct text path)
{
    return XXH3_64bits(path.data, path.size);
}

/* slot_of is the path's slot, or the free one where it would be. */
static unsigned slot_of(const struct router *r, struct text path)
{
    unsigned slot = (unsigned)router_hash(path) % ROUTE_SLOTS;
    while (r->slots[slot] != 0 && !text_same(r->routes[r->slots[slot] - 1].path, path))
        slot = (slot + 1) % ROUTE_SLOTS;
    return slot;
}

/* cut cuts the next part off a path, which begins with a slash. */
static struct text cut(struct text *path)
{
    const char *begin = path->data + 1, *slash = memchr(begin, '/', path->size - 1);
    size_t size = slash == NULL ? path->size - 1 : (size_t)(slash - begin);
    *path = (struct text){begin + size, path->size - 1 - size};
    return (struct text){begin, size};
}

static bool is_param(struct text part)
{
    return part.size > 0 && part.data[0] == ':';
}

/* judge tells how many parameters a path has, or -1 when no route can have it. */
static int judge(struct text path)
{
    int params = 0, parts = 0;
    bool open = path.size > 1 && path.data[path.size - 1] == '/';
    if (path.size == 0 || path.data[0] != '/')
        return -1;
    while (path.size > 0) {
        struct text part = cut(&path);
        params += is_param(part);
        if (is_param(part) && part.size == 1)
            return -1;
        parts++;
    }
    /* The last part of a path that ends with a slash is empty. */
    return params > PARAMS_MAX || (open && (params > 0 || parts != 2)) ? -1 : params;
}

/* same_shape is true for two paths that differ in the names of their parameters at most. */
static bool same_shape(struct text a, struct text b)
{
    while (a.size > 0 && b.size > 0) {
        struct text x = cut(&a), y = cut(&b);
        if (is_param(x) != is_param(y) || (!is_param(x) && !text_same(x, y)))
            return false;
    }
    return a.size == b.size;
}

static bool overlap(const struct route *a, const struct route *b)
{
    return (a->methods & b->methods) != 0 || a->methods == 0;
}

static bool add_pattern(struct router *r, const struct route *route)
{
    for (unsigned i = 0; i < r->pattern_count; i++) {
        const struct route *other = &r->routes[r->patterns[i]];
        if (same_shape(other->path, route->path) && overlap(other, route))
            return false;
    }
    r->patterns[r->pattern_count++] = (unsigned char)r->count;
    r->routes[r->count++] = *route;
    return true;
}

bool router_add(struct router *r, struct route route)
{
    int params = judge(route.path);
    if (r->count == ROUTES_MAX || params < 0)
        return false;
    route.next = 0;
    route.params = (uint8_t)params;
    if (params > 0)
        return add_pattern(r, &route);
    unsigned char *link = &r->slots[slot_of(r, route.path)];
    for (; *link != 0; link = &r->routes[*link - 1].next) {
        if (overlap(&r->routes[*link - 1], &route))
            return false;
    }
    r->routes[r->count++] = route;
    *link = (unsigned char)r->count;
    return true;
}

const struct route *router_find(const struct router *r, struct text path)
{
    unsigned found = r->slots[slot_of(r, path)];
    if (found == 0 && path.size > 1) {
        const char *slash = memchr(path.data + 1, '/', path.size - 1);
        if (slash != NULL)
            found = r->slots[slot_of(r, (struct text){path.data, (size_t)(slash - path.data) + 1})];
    }
    return found == 0 ? NULL : &r->routes[found - 1];
}

const struct route *router_next(const struct router *r, const struct route *route)
{
    return route->next == 0 ? NULL : &r->routes[route->next - 1];
}

/* fits compares a path with one that has parameters, and takes these out of it. */
static bool fits(struct text pattern, struct text path, struct text *params)
{
    while (pattern.size > 0 && path.size > 0) {
        struct text want = cut(&pattern), part = cut(&path);
        if (is_param(want) ? part.size == 0 : !text_same(want, part))
            return false;
        if (is_param(want))
            *params++ = part;
    }
    return pattern.size == path.size;
}

const struct route *router_match(const struct router *r, struct text path, unsigned methods, struct text params[PARAMS_MAX], unsigned *allowed)
{
    if (path.size == 0 || path.data[0] != '/') /* "*" */
        return NULL;
    for (unsigned i = 0; i < r->pattern_count; i++) {
        const struct route *route = &r->routes[r->patterns[i]];
        if (!fits(route->path, path, params))
            continue;
        if ((route->methods & methods) != 0)
            return route;
        *allowed |= route->methods;
    }
    return NULL;
}

int route_param(const struct route *route, struct text name)
{
    struct text path = route->path;
    for (int i = 0; path.size > 0;) {
        struct text part = cut(&path);
        if (!is_param(part))
            continue;
        if (text_same((struct text){part.data + 1, part.size - 1}, name))
            return i;
        i++;
    }
    return -1;
}
