/*
 * One write system call for each record. Or, with the time of day for each, blocks of them: the cheapest way that is known here to have the
 * kernel take records into new pages, and so the limit of logs that do spdlog's work.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

enum { BLOCK = 4 * 1024 * 1024 };

struct writing {
    int fd;
    size_t size; /* bytes in the block */
    char *block;
    char path[4200];
};

static void *writing_open(const struct peer *peer, const char *dir)
{
    struct writing *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return NULL;
    snprintf(w->path, sizeof(w->path), "%s/written", dir);
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    w->block = peer->variant == BLOCK ? malloc(BLOCK) : NULL;
    if (w->fd >= 0 && (w->block != NULL || peer->variant != BLOCK))
        return w;
    fprintf(stderr, "lzlog-bench: %s: %s\n", w->path, strerror(errno));
    free(w->block);
    free(w);
    return NULL;
}

static bool writing_begin(void *self)
{
    return ftruncate(((struct writing *)self)->fd, 0) == 0;
}

static void *writing_enter(void *self)
{
    return self;
}

static void writing_leave(void *self)
{
    (void)self;
}

static bool writing_batch(void *self, uint64_t records)
{
    int fd = ((struct writing *)self)->fd;
    for (uint64_t n = 0; n < records; n += MESSAGES) {
        for (unsigned i = 0; i < MESSAGES; i++) {
            if (write(fd, messages[i].data, messages[i].size) != (ssize_t)messages[i].size)
                return false;
        }
    }
    return true;
}

/* writing_finish writes what the block has, unless the kernel has everything. */
static bool writing_finish(void *self)
{
    struct writing *w = self;
    size_t size = w->size;
    w->size = 0;
    return size == 0 || write(w->fd, w->block, size) == (ssize_t)size;
}

static bool blocks_batch(void *self, uint64_t records)
{
    struct writing *w = self;
    for (uint64_t n = 0; n < records; n += MESSAGES) {
        for (unsigned i = 0; i < MESSAGES; i++) {
            ask_the_time();
            if (w->size + messages[i].size > BLOCK && !writing_finish(w))
                return false;
            memcpy(w->block + w->size, messages[i].data, messages[i].size);
            w->size += messages[i].size;
        }
    }
    return true;
}

static const char *writing_fault(void *self, uint64_t records, bool last)
{
    (void)last;
    return file_fault(((struct writing *)self)->path, records, true);
}

static void writing_close(void *self)
{
    struct writing *w = self;
    close(w->fd);
    free(w->block);
    free(w);
}

#define WRITING                                                                                                                    \
    .open = writing_open, .begin = writing_begin, .enter = writing_enter, .leave = writing_leave, .fault = writing_fault,           \
    .close = writing_close, .finish = writing_finish

const struct peer peer_write_1 = {"write-1", 1, ROUND, WARM_UP, 0, WRITING, .batch = writing_batch};
const struct peer peer_write_blocks = {"write-blocks-clock", 1, ROUND, WARM_UP, BLOCK, WRITING, .batch = blocks_batch};
