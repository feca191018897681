/*
 * The limits: copying into a mapped file without any logger, with its pages there (memcpy), or not yet (memcpy-fresh); and the time
 * of day for each record, alone (clock).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

enum { RING = 256 * 1024 * 1024, SLACK = 4096 }; /* as many bytes as lzlog's files have, undivided; a record may end in the slack */

enum { PREFAULTED, FRESH };

struct memory {
    _Alignas(64) _Atomic uint64_t cursor;
    _Alignas(64) char *base;
    uint64_t ring; /* bytes, a power of two */
    int variant;
    bool shared; /* by several threads */
    char path[4200];
};

static void *memory_open(const struct peer *peer, const char *dir)
{
    struct memory *m = aligned_alloc(64, sizeof(*m));
    if (m == NULL)
        return NULL;
    memset(m, 0, sizeof(*m));
    m->ring = RING / divisor;
    m->variant = peer->variant;
    m->shared = peer->threads > 1;
    snprintf(m->path, sizeof(m->path), "%s/mapped", dir);
    return m;
}

/* memory_begin maps a new file; the one of memcpy stays from round to round. */
static bool memory_begin(void *self)
{
    struct memory *m = self;
    if (m->base != NULL && m->variant == PREFAULTED)
        return true;
    if (m->base != NULL)
        munmap(m->base, m->ring + SLACK);
    m->base = NULL;
    unlink(m->path);
    int fd = open(m->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int failed = fd < 0 ? errno : posix_fallocate(fd, 0, (off_t)m->ring + SLACK);
    int populate = m->variant == PREFAULTED ? MAP_POPULATE : 0;
    void *base = failed != 0 ? MAP_FAILED : mmap(NULL, m->ring + SLACK, PROT_READ | PROT_WRITE, MAP_SHARED | populate, fd, 0);
    if (fd >= 0)
        close(fd);
    if (base == MAP_FAILED) {
        fprintf(stderr, "lzlog-bench: %s: %s\n", m->path, strerror(failed != 0 ? failed : errno));
        return false;
    }
    m->base = base;
    if (m->variant == PREFAULTED)
        memset(base, 0, m->ring + SLACK);
    atomic_store_explicit(&m->cursor, 0, memory_order_relaxed);
    return true;
}

static void *memory_enter(void *self)
{
    return self;
}

static void memory_leave(void *self)
{
    (void)self;
}

/* copy keeps the compiler from writing fixed records in a fixed loop by other means than the call that is measured. */
static inline void copy(char *to, unsigned i)
{
    const char *from = messages[i].data;
    size_t size = messages[i].size;
    __asm__ volatile("" : "+r"(from), "+r"(size), "+r"(to) : : "memory");
    memcpy(to, from, size);
}

static bool memory_batch(void *self, uint64_t records)
{
    struct memory *m = self;
    char *base = m->base;
    uint64_t cursor = atomic_load_explicit(&m->cursor, memory_order_relaxed), mask = m->ring - 1;
    for (uint64_t n = 0; n < records; n += MESSAGES) {
        for (unsigned i = 0; i < MESSAGES; i++) {
            copy(base + (cursor & mask), i);
            cursor += messages[i].size;
        }
    }
    atomic_store_explicit(&m->cursor, cursor, memory_order_relaxed);
    return true;
}

static bool clock_batch(void *self, uint64_t records)
{
    (void)self;
    for (uint64_t n = 0; n < records; n++)
        ask_the_time();
    return true;
}

static bool fetchadd_batch(void *self, uint64_t records)
{
    struct memory *m = self;
    char *base = m->base;
    uint64_t mask = m->ring - 1;
    for (uint64_t n = 0; n < records; n += MESSAGES) {
        for (unsigned i = 0; i < MESSAGES; i++)
            copy(base + (atomic_fetch_add_explicit(&m->cursor, messages[i].size, memory_order_acq_rel) & mask), i);
    }
    return true;
}

static bool memory_finish(void *self)
{
    (void)self;
    return true; /* it is in the page cache */
}

/*
 * lap_fault checks the last lap: from the first record that begins behind the cursor to the end, then on to the cursor. Nothing
 * keeps a thread that was held up from writing into the next lap, so from several threads a few broken records are let pass: that
 * is what this limit lacks to be a logger.
 */
static const char *lap_fault(const struct memory *m, uint64_t cursor)
{
    uint64_t seam = cursor % m->ring, at = seam, broken = 0;
    for (uint64_t done = 0; done < m->ring;) {
        int i = message_at(m->base + at, m->ring + SLACK - at);
        broken += i < 0;
        at = (at + (i < 0 ? 1 : messages[i].size)) % m->ring;
        done += i < 0 ? 1 : messages[i].size;
    }
    /* In bytes; at the seam the rest of one record of the lap before is always left. */
    return broken <= (m->shared ? 1000 : 1) * (uint64_t)MESSAGE_MAX ? NULL : "something lies there that nobody wrote";
}

static const char *memory_fault(void *self, uint64_t records, bool last)
{
    const struct memory *m = self;
    uint64_t cursor = atomic_load_explicit(&m->cursor, memory_order_relaxed);
    (void)last;
    if (cursor > m->ring)
        return lap_fault(m, cursor);
    return messages_fault(m->base, cursor, m->variant == FRESH ? records : cursor / MESSAGE_BYTES * MESSAGES, !m->shared);
}

static void memory_close(void *self)
{
    struct memory *m = self;
    if (m->base != NULL)
        munmap(m->base, m->ring + SLACK);
    free(m);
}

#define MEMORY                                                                                                                     \
    .open = memory_open, .begin = memory_begin, .enter = memory_enter, .leave = memory_leave, .fault = memory_fault,                \
    .close = memory_close, .finish = memory_finish

const struct peer peer_memcpy = {"memcpy", 1, 0, ROUND, PREFAULTED, MEMORY, .batch = memory_batch};
const struct peer peer_memcpy_fresh = {"memcpy-fresh", 1, ROUND, WARM_UP, FRESH, MEMORY, .batch = memory_batch};
/* It writes nothing, and what is checked is that nothing is there. */
const struct peer peer_clock = {"clock", 1, 0, WARM_UP, PREFAULTED, MEMORY, .batch = clock_batch};
const struct peer peer_fetchadd_10 = {"fetchadd-memcpy-10", 10, 0, ROUND, PREFAULTED, MEMORY, .batch = fetchadd_batch};
