#include "lend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "limits.h"

enum { HUGE = 2 << 20, PIPE_ROOM = 1 << 20 };

/* mapped is how much is mapped for a size: enough to begin at a huge page, if it is large. */
static size_t mapped(size_t size)
{
    return size < HUGE ? size : (size + 2 * (size_t)HUGE - 1) / HUGE * HUGE;
}

char *lend_memory(size_t size)
{
    char *memory = mmap(NULL, mapped(size), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        fprintf(stderr, "uvhttp: there is no memory left for %zu bytes\n", size);
        abort();
    }
    if (size < HUGE)
        return memory;
    char *aligned = (char *)(((uintptr_t)memory + HUGE - 1) / HUGE * HUGE);
    size_t before = (size_t)(aligned - memory);
    if (before > 0)
        munmap(memory, before);
    if (before < HUGE)
        munmap(aligned + mapped(size) - HUGE, HUGE - before);
    (void)madvise(aligned, mapped(size) - HUGE, MADV_HUGEPAGE); /* slower without, not wrong */
    return aligned;
}

void lend_unmap(char *memory, size_t size)
{
    munmap(memory, size < HUGE ? size : mapped(size) - HUGE);
}

void lender_open(struct lender *l)
{
    int ends[2];
    *l = (struct lender){.in = -1, .out = -1, .sink = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    if (!LEND || l->sink < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return;
    l->out = ends[0];
    l->in = ends[1];
    int room = fcntl(l->in, F_SETPIPE_SZ, PIPE_ROOM);
    if (room < 0)
        room = fcntl(l->in, F_GETPIPE_SZ); /* the user's pipes have had their share */
    l->room = room < 0 ? 0 : (size_t)room;
}

void lender_close(struct lender *l)
{
    if (l->sink >= 0)
        close(l->sink);
    if (l->in >= 0) {
        close(l->in);
        close(l->out);
    }
    l->room = 0;
}

/* empty throws away what the socket did not take. Without an empty pipe there is no more lending. */
static void empty(struct lender *l, size_t rest)
{
    while (rest > 0) {
        ssize_t n = splice(l->out, NULL, l->sink, NULL, rest, 0);
        if (n <= 0) {
            l->room = 0;
            return;
        }
        rest -= (size_t)n;
    }
}

ssize_t lender_send(struct lender *l, int socket, const char *bytes, size_t size, size_t *asked)
{
    struct iovec part = {(void *)(uintptr_t)bytes, size < l->room ? size : l->room};
    ssize_t lent = vmsplice(l->in, &part, 1, SPLICE_F_NONBLOCK);
    if (lent <= 0) {
        l->room = 0; /* not on this kernel: the caller finds the socket writable again, and copies */
        errno = EAGAIN;
        return -1;
    }
    *asked = (size_t)lent;
    ssize_t sent = splice(l->out, NULL, socket, NULL, (size_t)lent, SPLICE_F_NONBLOCK | ((size_t)lent < size ? SPLICE_F_MORE : 0));
    int error = errno;
    empty(l, (size_t)(lent - (sent > 0 ? sent : 0)));
    errno = error;
    return sent;
}
