/* A log opened, closed and flushed, and its writers. */
#define _GNU_SOURCE
#include <errno.h>
#include <openssl/crypto.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum { FILE_BYTES = 64 * 1024 * 1024, FILES = 4, CLOSING_MS = 1000 };

void lz_say(char why[LZLOG_WHY_SIZE], const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, LZLOG_WHY_SIZE, format, arguments);
    va_end(arguments);
}

const char *lzlog_status_text(enum lzlog_status status)
{
    switch (status) {
    case LZLOG_OK:
        return "done";
    case LZLOG_CLOSED:
        return "the log is closed";
    case LZLOG_BAD_SIZE:
        return "a record has 1 to 65527 bytes";
    case LZLOG_NO_FILE:
        return "there is no next file";
    case LZLOG_FAILED:
        return "the system refused";
    }
    return "unknown";
}

/* destroy_locks is not for a child: there, threads that it does not have may hold them, or wait. */
static void destroy_locks(struct lzlog *log)
{
    for (unsigned i = 0; i < log->files && log->places != NULL; i++)
        pthread_mutex_destroy(&log->places[i].reserve);
    pthread_mutex_destroy(&log->lock);
    pthread_cond_destroy(&log->work);
    pthread_cond_destroy(&log->news);
}

static void close_files(struct lzlog *log)
{
    for (unsigned i = 0; i < log->files && log->places != NULL; i++) {
        if (log->places[i].fd >= 0)
            close(log->places[i].fd);
        log->places[i].fd = -1;
    }
}

/* log_free ends what is left when neither the opener nor a writer uses the log any more. */
static void log_free(struct lzlog *log)
{
    close_files(log);
    for (unsigned i = 0; i < log->files && log->places != NULL; i++) {
        if (log->places[i].head == NULL)
            continue;
        lz_forget(&log->places[i].mapping);
        munmap(log->places[i].head, log->capacity);
    }
    if (log->ours != NULL && !lz_forked(log))
        destroy_locks(log);
    lz_folder_unlock(&log->folder);
    if (log->ours != NULL)
        munmap((void *)(uintptr_t)log->ours, LZ_PAGE);
    OPENSSL_cleanse(log->key, sizeof(log->key));
    free(log->places);
    free(log->older);
    free(log);
}

static void drop_user(struct lzlog *log)
{
    if (atomic_fetch_sub_explicit(&log->users, 1, memory_order_acq_rel) == 1)
        log_free(log);
}

/* make_ours makes the page by which a process knows the log for its own. */
static bool make_ours(struct lzlog *log, char why[LZLOG_WHY_SIZE])
{
    bool *ours = mmap(NULL, LZ_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (ours == MAP_FAILED) {
        lz_say(why, "there is no memory for a log: %s", strerror(errno));
        return false;
    }
    *ours = true;
    log->ours = ours;
    if (madvise(ours, LZ_PAGE, MADV_WIPEONFORK) == 0)
        return true;
    lz_say(why, "the kernel does not let a process be told from its children: %s", strerror(errno));
    return false;
}

static const char *options_fault(const struct lzlog_options *options)
{
    if (options->dir == NULL || options->dir[0] == '\0')
        return "a log needs a folder";
    if (options->file_bytes != 0 && (options->file_bytes < LZLOG_FILE_MIN || options->file_bytes > LZLOG_FILE_MAX))
        return "a log file has 128 KiB to 1 GiB";
    if (options->files != 0 && (options->files < LZLOG_FILES_MIN || options->files > LZLOG_FILES_MAX))
        return "a log has 3 to 1000 files";
    if (options->reservation > LZLOG_MUTEX)
        return "there is no such way to reserve";
    return NULL;
}

static struct lzlog *log_new(const struct lzlog_options *options)
{
    struct lzlog *log = aligned_alloc(64, sizeof(*log));
    if (log == NULL)
        return NULL;
    memset(log, 0, sizeof(*log));
    size_t bytes = options->file_bytes != 0 ? options->file_bytes : FILE_BYTES;
    log->capacity = (bytes + LZ_PAGE - 1) / LZ_PAGE * LZ_PAGE;
    log->files = options->files != 0 ? options->files : FILES;
    log->reservation = options->reservation;
    log->encrypted = options->key != NULL;
    if (log->encrypted)
        memcpy(log->key, options->key, LZLOG_KEY_SIZE);
    log->crc = crc32c_best();
    log->folder.fd = -1;
    log->users = 1;
    pthread_mutex_init(&log->lock, NULL);
    pthread_cond_init(&log->work, NULL);
    pthread_cond_init(&log->news, NULL);
    log->places = calloc(log->files, sizeof(*log->places));
    for (unsigned i = 0; i < log->files && log->places != NULL; i++) {
        log->places[i].fd = -1;
        pthread_mutex_init(&log->places[i].reserve, NULL);
    }
    return log;
}

/* prepare_first finds or makes the first file and lets the preparer make the second. */
static bool prepare_first(struct lzlog *log, char why[LZLOG_WHY_SIZE])
{
    struct lz_file *file;
    if (!lz_store_resume(log, &file, why))
        return false;
    lz_store_cut(log);
    if (file == NULL) {
        file = lz_store_next(log, why);
        if (file == NULL)
            return false;
        lz_file_activate(file);
    }
    atomic_store_explicit(&log->current, file, memory_order_release);
    log->wanted = true;
    int failed = pthread_create(&log->preparer, NULL, lz_preparer, log);
    if (failed != 0) {
        lz_file_seal(log, file, NULL);
        lz_say(why, "there is no thread for the preparer: %s", strerror(failed));
    }
    return failed == 0;
}

struct lzlog *lzlog_open(const struct lzlog_options *options, char why[LZLOG_WHY_SIZE])
{
    const char *fault = options_fault(options);
    struct lzlog *log = fault == NULL ? log_new(options) : NULL;
    if (log == NULL || log->places == NULL) {
        lz_say(why, "%s", fault != NULL ? fault : "there is no memory for a log");
        if (log != NULL)
            log_free(log);
        return NULL;
    }
    /*
     * A limit on the size of files is an error for us, no reason to die: its signal goes to the thread that allocates, so it is
     * blocked here, and in the preparer, which inherits the mask together with that of all other signals: they are the program's.
     */
    sigset_t all, before;
    sigfillset(&all);
    sigdelset(&all, SIGBUS); /* of a file that was cut: the handler must run (process.h) */
    pthread_sigmask(SIG_BLOCK, &all, &before);
    bool opened = make_ours(log, why) && lz_store_open(log, options->dir, why) &&
                  prepare_first(log, why);
    sigset_t limit;
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    while (!sigismember(&before, SIGXFSZ) && sigtimedwait(&limit, NULL, &(struct timespec){0}) > 0)
        continue; /* take what was ours before the mask goes */
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (opened)
        return log;
    log_free(log);
    return NULL;
}

void lzlog_close(struct lzlog *log)
{
    char name[LZ_NAME];
    if (lz_forked(log)) {
        close_files(log);
        drop_user(log);
        return;
    }
    struct lz_cipher *cipher = log->encrypted ? lz_cipher_new(log->key) : NULL;
    pthread_mutex_lock(&log->lock);
    log->closing = true;
    struct lz_file *last = log->current;
    lz_file_seal(log, last, cipher);
    lz_note_turns(log, last);
    pthread_cond_broadcast(&log->work);
    pthread_cond_broadcast(&log->news);
    pthread_mutex_unlock(&log->lock);
    lz_cipher_free(cipher);
    pthread_join(log->preparer, NULL);
    lz_file_note_time(last);
    if (lz_await_idle(log, last, CLOSING_MS))
        lz_file_trim(log, last); /* else it keeps its room: somebody may still write there */
    if (log->ready != NULL) { /* it never had its turn */
        lz_name(name, log->ready->number);
        unlinkat(log->folder.fd, name, 0);
    }
    /*
     * The mappings stay for late writers, see struct lz_file, and so does the folder's lock: else another log could go on in the
     * same file, and a late writer would find it open.
     */
    close_files(log);
    drop_user(log);
}

struct lzlog_writer *lzlog_writer_open(struct lzlog *log)
{
    struct lzlog_writer *w = lz_forked(log) ? NULL : aligned_alloc(64, sizeof(*w));
    if (w == NULL)
        return NULL;
    memset(w, 0, sizeof(*w));
    w->log = log;
    w->least = LZLOG_INFO;
    w->cipher = log->encrypted ? lz_cipher_new(log->key) : NULL;
    if (log->encrypted && w->cipher == NULL) {
        free(w);
        return NULL;
    }
    w->plain = w->cipher == NULL && crc32c_has_instruction();
    pthread_mutex_lock(&log->lock);
    bool closing = log->closing;
    if (!closing) {
        w->next = log->writers;
        log->writers = w;
        log->users++;
    }
    pthread_mutex_unlock(&log->lock);
    if (!closing)
        return w;
    lz_cipher_free(w->cipher);
    free(w);
    return NULL;
}

void lzlog_writer_close(struct lzlog_writer *writer)
{
    struct lzlog *log = writer->log;
    if (!lz_forked(log)) {
        pthread_mutex_lock(&log->lock);
        struct lzlog_writer **link = &log->writers;
        while (*link != writer)
            link = &(*link)->next;
        *link = writer->next;
        pthread_mutex_unlock(&log->lock);
    }
    lz_cipher_free(writer->cipher);
    free(writer);
    drop_user(log);
}

void lzlog_reason(struct lzlog_writer *writer, char why[LZLOG_WHY_SIZE])
{
    if (lz_forked(writer->log)) {
        lz_say(why, "the log is that of the process that this one was forked from");
        return;
    }
    pthread_mutex_lock(&writer->log->lock);
    memcpy(why, writer->log->why, LZLOG_WHY_SIZE);
    pthread_mutex_unlock(&writer->log->lock);
}

/*
 * A failure to put something on the disk stays with it, for the kernel tells of it once: it takes pages that it could not write for
 * written, and the next attempt succeeds without them. So the first one is noted.
 */
int lz_keep(struct lzlog *log, int *lost, int failed)
{
    pthread_mutex_lock(&log->lock);
    if (*lost == 0)
        *lost = failed;
    failed = *lost;
    pthread_mutex_unlock(&log->lock);
    return failed;
}

/*
 * sync_file puts one file on the disk, in the place of which another may lie by then; then there is nothing left to sync. It returns 0,
 * or what failed, now or before.
 */
static int sync_file(struct lzlog *log, unsigned i)
{
    struct lz_file *file = &log->places[i];
    pthread_mutex_lock(&log->lock);
    struct stat st;
    bool due = file->unsynced;
    if (due && file->lost == 0 && (lz_cut(&file->mapping) || fstat(file->fd, &st) != 0 || (uint64_t)st.st_size < log->capacity))
        file->lost = EIO; /* somebody has cut it */
    int lost = file->lost;
    file->unsynced = file == log->current; /* it goes on changing */
    pthread_mutex_unlock(&log->lock);
    if (lost != 0 || !due || msync(file->head, log->capacity, MS_SYNC) == 0)
        return lost;
    return lz_keep(log, &file->lost, errno);
}

/* sync_dir puts the names of the files on the disk. */
static int sync_dir(struct lzlog *log)
{
    pthread_mutex_lock(&log->lock);
    int dir = dup(log->folder.fd), failed = dir < 0 ? errno : log->lost;
    pthread_mutex_unlock(&log->lock);
    if (failed == 0 && fsync(dir) != 0)
        failed = lz_keep(log, &log->lost, errno);
    if (dir >= 0)
        close(dir);
    return failed;
}

enum lzlog_status lzlog_flush(struct lzlog_writer *writer)
{
    struct lzlog *log = writer->log;
    if (lz_forked(log))
        return LZLOG_CLOSED;
    pthread_mutex_lock(&log->lock);
    bool closing = log->closing;
    pthread_mutex_unlock(&log->lock);
    if (closing)
        return LZLOG_CLOSED;
    int failed = sync_dir(log);
    for (unsigned i = 0; failed == 0 && i < log->files; i++)
        failed = sync_file(log, i);
    if (failed == 0)
        return LZLOG_OK;
    pthread_mutex_lock(&log->lock);
    lz_say(log->why, "the log cannot be put on the disk: %s", strerror(failed));
    pthread_mutex_unlock(&log->lock);
    return LZLOG_FAILED;
}
