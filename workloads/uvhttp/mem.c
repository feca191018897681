#include "mem.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <uv.h>

#ifdef WITH_MIMALLOC
#include <mimalloc.h>
#define RAW_MALLOC mi_malloc
#define RAW_CALLOC mi_calloc
#define RAW_REALLOC mi_realloc
#define RAW_FREE mi_free
#else
#include <gnu/libc-version.h>
#define RAW_MALLOC malloc
#define RAW_CALLOC calloc
#define RAW_REALLOC realloc
#define RAW_FREE free
#endif

static _Atomic uint64_t allocations; /* of all threads */

void *mem_try(size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return RAW_MALLOC(size);
}

void *mem_alloc(size_t size)
{
    void *p = mem_try(size);
    if (p == NULL) {
        fprintf(stderr, "uvhttp: there is no memory left for %zu bytes\n", size);
        abort();
    }
    return p;
}

void mem_free(void *p)
{
    RAW_FREE(p);
}

/* libuv handles a lack of memory itself, so these may return NULL. */
static void *uv_side_malloc(size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return RAW_MALLOC(size);
}

static void *uv_side_calloc(size_t count, size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return RAW_CALLOC(count, size);
}

static void *uv_side_realloc(void *p, size_t size)
{
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    return RAW_REALLOC(p, size);
}

void mem_serve_libuv(void)
{
#ifdef WITH_MIMALLOC
    /* Otherwise it keeps what slow clients have cost until it is asked for memory again. Requests take none: what is freed is a burst's. */
    mi_option_set(mi_option_decommit_delay, 0);
#endif
    if (uv_replace_allocator(uv_side_malloc, uv_side_realloc, uv_side_calloc, RAW_FREE) != 0)
        abort();
}

uint64_t mem_allocations(void)
{
    return allocations;
}

const char *mem_name(void)
{
#ifdef WITH_MIMALLOC
    return "mimalloc";
#else
    return "glibc malloc";
#endif
}

const char *mem_version(void)
{
#ifdef WITH_MIMALLOC
    static char text[16];
    int v = mi_version(); /* 209 is 2.0.9 */
    snprintf(text, sizeof(text), "%d.%d.%d", v / 100, v / 10 % 10, v % 10);
    return text;
#else
    return gnu_get_libc_version();
#endif
}
