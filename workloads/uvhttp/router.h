/* A hash table from paths to routes. A route whose path ends with '/' takes everything under it; its path is one part long. */
#ifndef UVHTTP_ROUTER_H
#define UVHTTP_ROUTER_H

#include <stdint.h>

#include "text.h"

enum { ROUTES_MAX = 128, ROUTE_SLOTS = 256 };

struct route {
    struct text path;
    unsigned methods; /* METHOD_* */
    int handler;      /* what to do is the caller's business */
    const void *content;
};

struct router {
    struct route routes[ROUTES_MAX];
    unsigned count;
    unsigned char slots[ROUTE_SLOTS]; /* index into routes plus 1; 0 is free */
};

uint64_t router_hash(struct text path);

/* router_add returns false when the table is full or the path is there already. The path's text must live on. */
bool router_add(struct router *r, struct route route);

/* router_find returns the route of a path, or NULL. */
const struct route *router_find(const struct router *r, struct text path);

#endif
