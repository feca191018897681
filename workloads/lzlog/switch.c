/* From one file to the next: the preparer thread, and the writers that wait for it. */
#define _GNU_SOURCE
#include <string.h>
#include <time.h>

#include "internal.h"

/*
 * lz_note_turns notes who may still be writing to a file that has just been sealed. A write makes its turn odd before it reserves a
 * place, and the reservation and the seal change the same word: so whoever got a place there is seen here, or was before. It is
 * called with the lock.
 */
void lz_note_turns(struct lzlog *log, const struct lz_file *sealed)
{
    for (struct lzlog_writer *w = log->writers; w != NULL; w = w->next) {
        uint64_t turn = atomic_load_explicit(&w->turn, memory_order_acquire);
        if (turn != w->seen)
            w->inside = sealed->number;
        w->seen = turn;
    }
}

/* lz_is_idle tells whether all writes to a file that was sealed have ended. */
bool lz_is_idle(struct lzlog *log, const struct lz_file *file)
{
    bool busy = false;
    pthread_mutex_lock(&log->lock);
    for (struct lzlog_writer *w = log->writers; w != NULL; w = w->next)
        busy |= w->seen % 2 == 1 && w->inside == file->number && atomic_load_explicit(&w->turn, memory_order_acquire) == w->seen;
    pthread_mutex_unlock(&log->lock);
    return !busy;
}

/* lz_await_idle waits for that, a while: a thread that was stopped in the middle of a write may never come back. */
bool lz_await_idle(struct lzlog *log, const struct lz_file *file, unsigned milliseconds)
{
    const struct timespec nap = {.tv_nsec = 50 * 1000};
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    while (!lz_is_idle(log, file)) {
        clock_gettime(CLOCK_MONOTONIC, &now);
        if ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 >= (long)milliseconds)
            return false;
        nanosleep(&nap, NULL);
    }
    return true;
}

void *lz_preparer(void *argument)
{
    struct lzlog *log = argument;
    char why[LZLOG_WHY_SIZE];
    pthread_mutex_lock(&log->lock);
    for (;;) {
        while (!log->closing && (!log->wanted || log->ready != NULL))
            pthread_cond_wait(&log->work, &log->lock);
        if (log->closing)
            break;
        log->wanted = false;
        struct lz_file *full = log->full;
        log->full = NULL;
        pthread_mutex_unlock(&log->lock);
        if (full != NULL)
            lz_file_note_time(full);
        struct lz_file *next = lz_store_next(log, why);
        pthread_mutex_lock(&log->lock);
        log->ready = next;
        if (next == NULL)
            memcpy(log->why, why, sizeof(why));
        log->attempts++;
        pthread_cond_broadcast(&log->news);
    }
    pthread_mutex_unlock(&log->lock);
    return NULL;
}

/*
 * await waits until there is a next file, or an attempt to make one has failed, or somebody else has switched. It is called with
 * the lock. Switches are counted because the current file is no sign: a place that was full may be the current one again.
 */
static void await(struct lzlog *log)
{
    uint64_t attempts = log->attempts, switches = log->switches;
    while (log->ready == NULL && log->attempts == attempts && log->switches == switches && !log->closing) {
        log->wanted = true;
        pthread_cond_signal(&log->work);
        pthread_cond_wait(&log->news, &log->lock);
    }
}

/*
 * is_full is true of a file that was cut, too. It is false for a file that the caller found sealed in an earlier life and that has become the current one since: its
 * place was recycled while the caller was held up.
 */
static bool is_full(const struct lzlog *log, const struct lz_file *file, uint64_t span)
{
    return log->current == file &&
           (lz_cut(&file->mapping) || atomic_load_explicit(&file->head->cursor, memory_order_acquire) + span > log->capacity);
}

static void replace(struct lzlog *log, struct lz_file *full, struct lz_cipher *cipher)
{
    lz_file_seal(log, full, cipher);
    lz_note_turns(log, full);
    lz_file_activate(log->ready);
    atomic_store_explicit(&log->current, log->ready, memory_order_release);
    log->ready = NULL;
    log->full = full;
    log->switches++;
    log->wanted = true;
    pthread_cond_signal(&log->work);
    pthread_cond_broadcast(&log->news);
}

/*
 * lz_switch replaces a full file. When it returns LZLOG_OK the caller may try again, with whatever file is current then.
 */
enum lzlog_status lz_switch(struct lzlog_writer *writer, struct lz_file *full, uint64_t span)
{
    struct lzlog *log = writer->log;
    enum lzlog_status status = LZLOG_OK;
    pthread_mutex_lock(&log->lock);
    uint64_t switches = log->switches;
    bool due = is_full(log, full, span);
    if (due)
        await(log);
    due = due && switches == log->switches;
    if (log->closing) {
        status = LZLOG_CLOSED;
    } else if (due && log->ready != NULL) {
        replace(log, full, writer->cipher);
    } else if (due) {
        status = LZLOG_NO_FILE;
        /* Each refused fetch_add moves the cursor on; it must not come near the seal bit, however long the disk stays full. */
        if (log->reservation == LZLOG_FETCH_ADD)
            atomic_store_explicit(&full->head->cursor, log->capacity + LZ_WORD, memory_order_release);
    }
    pthread_mutex_unlock(&log->lock);
    return status;
}
