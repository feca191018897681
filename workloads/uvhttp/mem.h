/* The program's only way to memory, its own and libuv's: it counts, so that a test can see that a request takes none. */
#ifndef UVHTTP_MEM_H
#define UVHTTP_MEM_H

#include <stddef.h>
#include <stdint.h>

/* mem_alloc never returns NULL: it is for what a server cannot begin without, and ends one that cannot have it. */
void *mem_alloc(size_t size);

/* mem_try returns NULL when there is no memory. */
void *mem_try(size_t size);
void mem_free(void *p);

/* mem_serve_libuv makes libuv take its memory here too, and lets the kernel have what is freed at once. It is called before any other function of libuv. */
void mem_serve_libuv(void);

uint64_t mem_allocations(void);

/* mem_name and mem_version are asked from the allocator itself. */
const char *mem_name(void);
const char *mem_version(void);

#endif
