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

bool router_add(struct router *r, struct route route)
{
    unsigned slot = slot_of(r, route.path);
    if (r->count == ROUTES_MAX || r->slots[slot] != 0)
        return false;
    r->routes[r->count++] = route;
    r->slots[slot] = (unsigned char)r->count;
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
