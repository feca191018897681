/* One write system call for each record. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

struct writing {
    int fd;
    char path[4200];
};

static void *writing_open(const struct peer *peer, const char *dir)
{
    (void)peer;
    struct writing *w = calloc(1, sizeof(*w));
    if (w == NULL)
        return NULL;
    snprintf(w->path, sizeof(w->path), "%s/written", dir);
    w->fd = open(w->path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (w->fd >= 0)
        return w;
    fprintf(stderr, "lzlog-bench: %s: %s\n", w->path, strerror(errno));
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

static bool writing_finish(void *self)
{
    (void)self;
    return true; /* the kernel has it */
}

static const char *writing_fault(void *self, uint64_t records, bool last)
{
    (void)last;
    return file_fault(((struct writing *)self)->path, records, true);
}

static void writing_close(void *self)
{
    close(((struct writing *)self)->fd);
    free(self);
}

const struct peer peer_write_1 = {"write-1",
                                  1,
                                  ROUND,
                                  WARM_UP,
                                  0,
                                  .open = writing_open,
                                  .begin = writing_begin,
                                  .enter = writing_enter,
                                  .leave = writing_leave,
                                  .fault = writing_fault,
                                  .close = writing_close,
                                  .batch = writing_batch,
                                  .finish = writing_finish};
