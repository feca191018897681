/* Blocks are cut from one array in powers of two, and a freed one waits for the next request of its size. */
#include "arena.h"

#include <stdalign.h>

enum { SMALLEST = 32, CLASSES = 12, ARENA_BYTES = 64 * 1024 * 1024 };

/* Before each block stands its class, and while it is free the next free one. */
union head {
    struct {
        size_t class;
        union head *next;
    };
    max_align_t align;
};

static alignas(max_align_t) unsigned char arena[ARENA_BYTES];
static size_t used;
static union head *freed[CLASSES];

void *arena_malloc(size_t size)
{
    size_t class = 0, bytes = SMALLEST;
    union head *block;

    while (bytes < size && class < CLASSES) {
        bytes *= 2;
        class++;
    }
    if (class == CLASSES)
        return NULL;
    block = freed[class];
    if (block != NULL) {
        freed[class] = block->next;
        return block + 1;
    }
    if (ARENA_BYTES - used < sizeof(*block) + bytes)
        return NULL;
    block = (union head *)(arena + used);
    used += sizeof(*block) + bytes;
    block->class = class;
    return block + 1;
}

void arena_free(void *p)
{
    union head *block = p;
    if (block == NULL)
        return;
    block--;
    block->next = freed[block->class];
    freed[block->class] = block;
}
