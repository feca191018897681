/* An allocator that nobody can watch from outside. */
#ifndef ARENA_H
#define ARENA_H

#include <stddef.h>

/* arena_malloc returns SIZE bytes, or NULL when none are left. */
void *arena_malloc(size_t size);
/* arena_free takes back what arena_malloc returned, which may be NULL. */
void arena_free(void *p);

#endif
