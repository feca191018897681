/*
 * Routes. Paths are found in a hash table; a route whose path ends with '/' takes everything under it, and its path is one part long. Routes
 * with parameters, as "/users/:id", are compared one after the other once no other route was found.
 */
#ifndef UVHTTP_ROUTER_H
#define UVHTTP_ROUTER_H

#include <stdint.h>

#include "text.h"

enum { ROUTES_MAX = 128, ROUTE_SLOTS = 256, PARAMS_MAX = 8 };

struct route {
    struct text path;
    uint16_t methods; /* METHOD_* */
    uint8_t next;     /* another route of this path, with other methods: index into routes plus 1; the router's business */
    uint8_t params;   /* how many its path has; this, too */
    int handler;      /* what to do is the caller's business */
    const void *content;
};

struct router {
    struct route routes[ROUTES_MAX];
    unsigned count, pattern_count;
    unsigned char slots[ROUTE_SLOTS]; /* index into routes plus 1; 0 is free */
    unsigned char patterns[ROUTES_MAX]; /* indexes of the routes with parameters, in the order in which they were added */
};

uint64_t router_hash(struct text path);

/*
 * router_add returns false when the table is full, the path is there already with one of the methods, or the path cannot be a route's. The
 * path's text must live on.
 */
bool router_add(struct router *r, struct route route);

/* router_find returns a route without parameters of a path, or NULL. */
const struct route *router_find(const struct router *r, struct text path);

/* router_next returns another route of the same path, or NULL. */
const struct route *router_next(const struct router *r, const struct route *route);

/*
 * router_match returns the first route with parameters that fits the path and has one of the methods, and fills params; or NULL, and adds to
 * allowed what methods the path has.
 */
const struct route *router_match(const struct router *r, struct text path, unsigned methods, struct text params[PARAMS_MAX], unsigned *allowed);

/* route_param returns the place of a name among a route's parameters, or -1. */
int route_param(const struct route *route, struct text name);

#endif
