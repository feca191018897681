/* A write: reserve, announce, copy, commit. */
#include <string.h>

#include "internal.h"

/*
 * The parts of a write that the benchmark leaves out, to say what each takes: it builds this file again under other names of lzlog_write
 * (LZ_LEFT_OUT). What such a build writes is no log. In the library nothing is left out.
 */
enum {
    LZ_FORK = 1,          /* the look for a fork */
    LZ_TURN = 2,          /* the writer's turn */
    LZ_ADDITION = 4,      /* that the addition to the cursor is atomic */
    LZ_AHEAD = 8,         /* the asking for lines ahead */
    LZ_ANNOUNCEMENT = 16, /* the word that announces the record */
    LZ_CHECKSUM = 32,
    LZ_COMMITMENT = 64, /* the word that commits it */
    /* What copies to places that an atomic addition finds do without. */
    LZ_ALL = LZ_FORK | LZ_TURN | LZ_AHEAD | LZ_ANNOUNCEMENT | LZ_CHECKSUM | LZ_COMMITMENT
};
#ifndef LZ_LEFT_OUT
#define LZ_LEFT_OUT 0
#endif

static inline bool has(int part)
{
    return (LZ_LEFT_OUT & part) == 0;
}

/*
 * AHEAD is how far before a record cache lines are asked for, to be written by the records to come. The reservation waits until all
 * earlier stores are done, so without this each record would wait for its lines to come from memory. Measured: 512 is too near.
 */
enum { AHEAD = 1024, LINE = 64 };

/* fetch_ahead asks for the lines that writes to come will need; it may point behind the mapping, which does no harm. */
static inline void fetch_ahead(const uint8_t *p)
{
#ifdef __x86_64__
    __asm__ volatile("prefetchw %0" : : "m"(*p)); /* the compiler would ask for them to be read */
#else
    __builtin_prefetch(p, 1);
#endif
}

static uint64_t reserve_cas(struct lz_header *head, uint64_t span, uint64_t capacity)
{
    uint64_t place = atomic_load_explicit(&head->cursor, memory_order_acquire);
    while (place + span <= capacity && !atomic_compare_exchange_weak_explicit(&head->cursor, &place, place + span, memory_order_acq_rel,
                                                                             memory_order_acquire))
        continue;
    return place;
}

static uint64_t reserve_mutex(struct lz_file *file, uint64_t span, uint64_t capacity)
{
    pthread_mutex_lock(&file->reserve);
    uint64_t place = atomic_load_explicit(&file->head->cursor, memory_order_relaxed);
    if (place + span <= capacity)
        atomic_store_explicit(&file->head->cursor, place + span, memory_order_relaxed);
    pthread_mutex_unlock(&file->reserve);
    return place;
}

/* reserve returns a place for span bytes in the file. There is none if it ends beyond the capacity, as it does when sealed. */
static inline uint64_t reserve(struct lz_file *file, uint64_t span, uint64_t capacity, enum lzlog_reservation how)
{
    switch (how) {
    case LZLOG_CAS:
        return reserve_cas(file->head, span, capacity);
    case LZLOG_MUTEX:
        return reserve_mutex(file, span, capacity);
    case LZLOG_FETCH_ADD:
        break;
    }
    if (has(LZ_ADDITION))
        return atomic_fetch_add_explicit(&file->head->cursor, span, memory_order_acq_rel);
    uint64_t place = atomic_load_explicit(&file->head->cursor, memory_order_relaxed);
    atomic_store_explicit(&file->head->cursor, place + span, memory_order_relaxed);
    return place;
}

/* turn_to tells how far a write of the writer is. */
static inline void turn_to(struct lzlog_writer *w, uint64_t turn)
{
    if (has(LZ_TURN))
        atomic_store_explicit(&w->turn, turn, memory_order_release);
}

/* copy is what crc32c_pass does but for the checksum: it is of writes that lack that. The compiler is kept from making a call of it. */
static inline __attribute__((always_inline)) void copy(uint8_t *to, const uint8_t *from, size_t size)
{
    const uint8_t *end = from + size;
    uint64_t last = size >= 8 ? crc32c_word(end - 8) >> (-8 * size & 63) : crc32c_last_word(from, size);
    for (; end - from >= 32; from += 32, to += 32) {
        memcpy(to, from, 16);
        memcpy(to + 16, from + 16, 16);
        __asm__ volatile("" : : : "memory");
    }
    if (end - from >= 16) {
        memcpy(to, from, 16);
        from += 16;
        to += 16;
    }
    if (end - from >= 8) {
        memcpy(to, from, 8);
        from += 8;
        to += 8;
    }
    if (end > from)
        memcpy(to, &last, 8);
}

/* stored is how many bytes a payload has in the file. */
static size_t stored(const struct lzlog_writer *w, size_t size)
{
    return w->cipher == NULL ? size : size + LZ_TAG;
}

/* fill puts the payload into its place, with zeros up to whole words, and makes the checksum of what lies there then. */
static bool fill(struct lzlog_writer *w, const struct lz_file *file, uint64_t place, const void *data, size_t size, uint32_t *crc)
{
    uint8_t *payload = (uint8_t *)file->head + place + LZ_WORD;
    size_t all = stored(w, size);
    memset(payload + all, 0, lz_span(all) - LZ_WORD - all);
    if (w->cipher == NULL)
        memcpy(payload, data, size);
    else if (!lz_cipher_apply(w->cipher, file->nonce, place + LZ_WORD, data, payload, size) ||
             !lz_cipher_tag(w->cipher, file->nonce, place, payload, size, payload + size))
        return false;
    *crc = w->log->crc(payload, all);
    return true;
}

/* put writes a record into its place. The word goes last, released: who sees it sees the payload. */
static inline __attribute__((always_inline)) bool put(struct lzlog_writer *w, const struct lz_file *file, uint64_t place,
                                                      const void *data, size_t size, bool plain)
{
    uint8_t *at = (uint8_t *)file->head + place;
    size_t all = plain ? size : stored(w, size);
    uint64_t mix = lz_mix(file->seed, place, all);
    uint32_t crc = 0;
    for (uint64_t i = 0; has(LZ_AHEAD) && i < lz_span(all); i += LINE)
        fetch_ahead(at + AHEAD + i);
    /* Announced, so that the next reader can step over it if this process dies here. */
    if (has(LZ_ANNOUNCEMENT))
        atomic_store_explicit((_Atomic uint64_t *)(void *)at, lz_word(LZ_BEGUN, mix, all, 0), memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (plain && has(LZ_CHECKSUM))
        crc = crc32c_pass(at + LZ_WORD, data, size);
    else if (plain)
        copy(at + LZ_WORD, data, size);
    else if (!fill(w, file, place, data, size, &crc))
        return false;
    if (has(LZ_COMMITMENT))
        atomic_store_explicit((_Atomic uint64_t *)(void *)at, lz_word(LZ_COMMITTED, mix, all, crc), memory_order_release);
    return true;
}

/* write_on goes on with a write that got a place behind the end of a file, or one in a file that was cut. */
static __attribute__((noinline)) enum lzlog_status write_on(struct lzlog_writer *w, const void *data, size_t size, struct lz_file *file,
                                                            uint64_t place)
{
    lz_file_note_end(w->log, file, place, w->cipher);
    turn_to(w, atomic_load_explicit(&w->turn, memory_order_relaxed) + 1);
    enum lzlog_status status = lz_switch(w, file, lz_span(stored(w, size)));
    w->closed = status == LZLOG_CLOSED;
    return status == LZLOG_OK ? lzlog_write(w, data, size) : status;
}

/*
 * write_as is inlined twice. The usual way calls nothing that it has to come back from, and copies and makes the checksum in one
 * pass. Measured: without either a record takes a seventh longer, and on a busy machine a third.
 */
static inline __attribute__((always_inline)) enum lzlog_status write_as(struct lzlog_writer *w, const void *data, size_t size,
                                                                       enum lzlog_reservation how, bool plain)
{
    const struct lzlog *log = w->log;
    uint64_t span = lz_span(plain ? size : stored(w, size)), turn = atomic_load_explicit(&w->turn, memory_order_relaxed);
    turn_to(w, turn + 1);
    struct lz_file *file = atomic_load_explicit(&log->current, memory_order_acquire);
    uint64_t place = reserve(file, span, log->capacity, how);
    if (place + span > log->capacity)
        return write_on(w, data, size, file, place);
    bool done = put(w, file, place, data, size, plain);
    if (lz_cut(&file->mapping))
        return write_on(w, data, size, file, log->capacity + 1);
    turn_to(w, turn + 2);
    return done ? LZLOG_OK : LZLOG_FAILED;
}

static __attribute__((noinline)) enum lzlog_status write_unusual(struct lzlog_writer *w, const void *data, size_t size)
{
    return write_as(w, data, size, w->log->reservation, w->plain);
}

enum lzlog_status lzlog_write(struct lzlog_writer *w, const void *data, size_t size)
{
    /* Once told, it does not touch the cursor again, which every attempt would move on; a child must not touch it at all. */
    if (w->closed || (has(LZ_FORK) && lz_forked(w->log)))
        return LZLOG_CLOSED;
    if (size == 0 || size > LZLOG_RECORD_MAX)
        return LZLOG_BAD_SIZE;
    if (w->plain && w->log->reservation == LZLOG_FETCH_ADD)
        return write_as(w, data, size, LZLOG_FETCH_ADD, true);
    return write_unusual(w, data, size);
}
