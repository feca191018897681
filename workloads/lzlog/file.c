/* One file: made or recycled, filled, sealed, trimmed. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { WRITABLE_SECONDS = 5 };

static const char next_name[] = "next.tmp";

void lz_name(char name[LZ_NAME], uint64_t number)
{
    snprintf(name, LZ_NAME, "%012llu.lzlog", (unsigned long long)number);
}

void lz_take_identity(struct lz_file *file, const struct lz_identity *identity)
{
    file->number = identity->number;
    file->seed = identity->seed;
    memcpy(file->nonce, identity->nonce, LZ_NONCE);
}

/* describe makes a header with a fresh seed and nonce: a file without records, sealed until its turn comes. */
static bool describe(const struct lzlog *log, uint64_t number, struct lz_header *header, char why[LZLOG_WHY_SIZE])
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    memset(header, 0, sizeof(*header));
    struct lz_identity *id = &header->identity;
    lz_identity_begin(id);
    id->number = number;
    id->capacity = log->capacity;
    id->created = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    if (getrandom(&id->seed, sizeof(id->seed), 0) != sizeof(id->seed) || getrandom(id->nonce, LZ_NONCE, 0) != LZ_NONCE) {
        lz_say(why, "there are no random numbers for a new file: %s", strerror(errno));
        return false;
    }
    if (log->encrypted) {
        id->flags = LZ_ENCRYPTED;
        struct lz_cipher *cipher = lz_cipher_new(log->key);
        bool checked = cipher != NULL && lz_cipher_key_check(cipher, id, id->key_check);
        lz_cipher_free(cipher);
        if (!checked) {
            lz_say(why, "OpenSSL did not make a cipher for a new file");
            return false;
        }
    }
    lz_identity_finish(id);
    atomic_store_explicit(&header->cursor, LZ_SEALED | LZ_DATA, memory_order_relaxed);
    atomic_store_explicit(&header->seal, lz_seal_word(id->seed, LZ_DATA), memory_order_relaxed);
    if (!lz_session_here(&header->session))
        memset(&header->session, 0, sizeof(header->session)); /* then it is not valid: never trusted */
    return true;
}

/* give_room makes every byte of the file the file's own, so that a full disk is an error here and no signal later. */
static bool give_room(int fd, uint64_t capacity, char why[LZLOG_WHY_SIZE])
{
    struct stat st;
    if (fstat(fd, &st) != 0 || (st.st_size > (off_t)capacity && ftruncate(fd, (off_t)capacity) != 0)) {
        lz_say(why, "a file of the log cannot be cut to its size: %s", strerror(errno));
        return false;
    }
    int failed;
    do {
        failed = fallocate(fd, 0, 0, (off_t)capacity) == 0 ? 0 : errno;
        if (failed == EOPNOTSUPP)
            failed = posix_fallocate(fd, 0, (off_t)capacity);
    } while (failed == EINTR);
    if (failed != 0)
        lz_say(why, "there is no room for a log file of %llu bytes: %s", (unsigned long long)capacity, strerror(failed));
    return failed == 0;
}

/*
 * fill writes zeros to a new file, as much at a time as makes the kernel take large pieces of memory for it (folios). To map those takes a
 * fraction of what a fault for each page does: a file is ready three times as soon.
 */
static bool fill(int fd, uint64_t capacity, char why[LZLOG_WHY_SIZE])
{
    enum { PIECE = 64 * 1024, PIECES = 64 };
    static uint8_t zeros[PIECE];
    struct iovec pieces[PIECES];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = (struct iovec){zeros, PIECE};
    for (uint64_t done = 0; done < capacity;) {
        uint64_t left = capacity - done;
        ssize_t n = left < PIECE ? pwrite(fd, zeros, left, (off_t)done)
                                 : pwritev(fd, pieces, left / PIECE < PIECES ? (int)(left / PIECE) : PIECES, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            lz_say(why, "a new log file cannot be filled: %s", strerror(n < 0 ? errno : EIO));
            return false;
        }
        done += (uint64_t)n;
    }
    return true;
}

static time_t seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* prefault lets the kernel make all pages writable now, in the preparer's time. */
static bool prefault(struct lz_file *file, uint64_t size, char why[LZLOG_WHY_SIZE])
{
    void *base = file->head;
    int failed;
    file->prefaulted = seconds_now();
    do
        failed = madvise(base, size, MADV_POPULATE_WRITE) == 0 ? 0 : errno;
    while (failed == EINTR);
    if (failed == EINVAL) { /* an older kernel: touch them */
        for (uint64_t i = 0; i < size; i += LZ_PAGE)
            atomic_fetch_or_explicit((_Atomic uint8_t *)base + i, 0, memory_order_relaxed);
        return true;
    }
    if (failed != 0)
        lz_say(why, "the pages of a log file cannot be had: %s", strerror(failed));
    return failed == 0;
}

static bool write_header(int fd, const struct lz_header *header, char why[LZLOG_WHY_SIZE])
{
    size_t done = 0;
    while (done < sizeof(*header)) {
        ssize_t n = pwrite(fd, (const uint8_t *)header + done, sizeof(*header) - done, (off_t)done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            lz_say(why, "the header of a log file cannot be written: %s", strerror(n < 0 ? errno : EIO));
            return false;
        }
        done += (size_t)n;
    }
    return true;
}

/* map maps a file into a place, in one step where another was: see struct lz_file. */
static bool map(struct lz_file *file, int fd, uint64_t capacity, char why[LZLOG_WHY_SIZE])
{
    int fixed = file->head != NULL ? MAP_FIXED : 0;
    void *base = mmap(file->head, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
    if (base == MAP_FAILED) {
        lz_say(why, "a log file cannot be mapped: %s", strerror(errno));
        return false;
    }
    if (file->head != NULL) { /* it is where it was, and a flush may be reading that */
        atomic_store(&file->mapping.cut, false);
        return true;
    }
    int failed = lz_watch(&file->mapping, base, capacity);
    if (failed != 0) {
        munmap(base, capacity);
        lz_say(why, "a log file cannot be watched: %s", strerror(failed));
        return false;
    }
    file->head = base;
    return true;
}

/* take_name gives the next file its name. Another file that has the name keeps it. */
static bool take_name(const struct lzlog *log, const char *name)
{
    int dir = log->folder.fd;
    if (renameat2(dir, next_name, dir, name, RENAME_NOREPLACE) == 0)
        return true;
    /* EINVAL: the file system cannot do that; lz_store_next has looked, and the folder is locked. */
    return errno == EINVAL && renameat(dir, next_name, dir, name) == 0;
}

/* install makes the nameless file of fd ready to be activated, and then gives it its name. */
static bool install(struct lzlog *log, struct lz_file *file, int fd, uint64_t number, bool fresh, char why[LZLOG_WHY_SIZE])
{
    /*
     * To look at all pages costs as much as a quarter of the writes that fill them. Where they were writable a moment ago they still are,
     * but for some that the kernel has written since, which it does half a minute after they changed.
     */
    bool mapped = file->fd == fd && !lz_cut(&file->mapping), writable = mapped && seconds_now() - file->prefaulted < WRITABLE_SECONDS;
    struct lz_header header;
    char name[LZ_NAME];
    lz_name(name, number);
    if (!describe(log, number, &header, why) || !give_room(fd, log->capacity, why) || (fresh && !fill(fd, log->capacity, why)) ||
        !write_header(fd, &header, why))
        return false;
    if (!mapped && !map(file, fd, log->capacity, why))
        return false;
    if (!writable && !prefault(file, log->capacity, why))
        return false;
    if (!take_name(log, name)) {
        lz_say(why, "%s cannot get its name: %s", name, strerror(errno));
        return false;
    }
    file->fd = fd;
    lz_take_identity(file, &header.identity);
    return true;
}

static void forget(struct lzlog *log, struct lz_file *file, int fd)
{
    unlinkat(log->folder.fd, next_name, 0);
    close(fd);
    file->fd = -1;
}

bool lz_file_fresh(struct lzlog *log, struct lz_file *file, uint64_t number, char why[LZLOG_WHY_SIZE])
{
    int fd = openat(log->folder.fd, next_name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0) {
        lz_say(why, "a new log file cannot be made: %s", strerror(errno));
        return false;
    }
    bool done = install(log, file, fd, number, true, why);
    if (!done)
        forget(log, file, fd);
    return done;
}

/*
 * lz_file_recycle makes the oldest file the next one, as if it had been deleted: its pages are in memory and mapped already, and
 * to fault new ones in costs more than to write them. Its name goes first, so a kill in between leaves no half-changed file. The
 * caller holds the file's exclusive lock, which readers respect.
 */
bool lz_file_recycle(struct lzlog *log, struct lz_file *file, int fd, uint64_t number, char why[LZLOG_WHY_SIZE])
{
    bool done = install(log, file, fd, number, false, why);
    if (done && flock(fd, LOCK_UN) != 0)
        lz_say(why, "a log file cannot be unlocked: %s", strerror(errno)); /* cannot happen; readers would wait for us */
    if (!done)
        forget(log, file, fd);
    return done;
}

void lz_file_activate(struct lz_file *file)
{
    file->unsynced = true;
    atomic_store_explicit(&file->head->seal, 0, memory_order_relaxed);
    atomic_store_explicit(&file->head->cursor, LZ_DATA, memory_order_release);
}

/* write_end notes where the records of a file end. Without memory for a cipher its readers will not be sure of it. */
static void write_end(struct lz_file *file, uint64_t place, struct lz_cipher *cipher)
{
    struct lz_end end;
    if (cipher != NULL && lz_cipher_end(cipher, file->nonce, place, &end))
        file->head->end = end;
    atomic_store_explicit(&file->head->seal, lz_seal_word(file->seed, place), memory_order_release);
}

void lz_file_note_end(struct lzlog *log, struct lz_file *file, uint64_t place, struct lz_cipher *cipher)
{
    /* With fetch_add one writer's place straddles the end, and only it knows where the records end. */
    if (log->reservation == LZLOG_FETCH_ADD && place <= log->capacity)
        write_end(file, place, cipher);
}

void lz_file_seal(struct lzlog *log, struct lz_file *file, struct lz_cipher *cipher)
{
    if (log->reservation == LZLOG_MUTEX)
        pthread_mutex_lock(&file->reserve);
    uint64_t place = atomic_fetch_or_explicit(&file->head->cursor, LZ_SEALED, memory_order_acq_rel);
    if (log->reservation == LZLOG_MUTEX)
        pthread_mutex_unlock(&file->reserve);
    if (place <= log->capacity)
        write_end(file, place, cipher);
}

/* lz_file_note_time gives a file that was sealed the time of its last record: writes to mapped pages do not always. */
void lz_file_note_time(struct lz_file *file)
{
    if (futimens(file->fd, NULL) != 0)
        return; /* it keeps the time that it has */
}

/* lz_file_trim gives back the room behind the last record, unless somebody is reading the file. */
void lz_file_trim(struct lzlog *log, struct lz_file *file)
{
    uint64_t end = lz_seal_end(file->seed, atomic_load_explicit(&file->head->seal, memory_order_acquire));
    if (lz_cut(&file->mapping) || end < LZ_DATA || end > log->capacity || flock(file->fd, LOCK_EX | LOCK_NB) != 0)
        return;
    bool cut = ftruncate(file->fd, (off_t)end) == 0;
    (void)cut; /* else only room is lost */
    flock(file->fd, LOCK_UN); /* a child has the file open, too, and would keep readers out */
}

bool lz_file_resume(struct lzlog *log, struct lz_file *file, int fd, const struct lz_header *header, uint64_t end,
                    char why[LZLOG_WHY_SIZE])
{
    if (!give_room(fd, log->capacity, why) || !map(file, fd, log->capacity, why) || !prefault(file, log->capacity, why))
        return false;
    file->fd = fd;
    file->unsynced = true;
    lz_take_identity(file, &header->identity);
    struct lz_session here;
    if (!lz_session_here(&here))
        memset(&here, 0, sizeof(here));
    /* Killed between these, the file is still sealed where it was. */
    file->head->session = here;
    atomic_store_explicit(&file->head->cursor, end, memory_order_release);
    atomic_store_explicit(&file->head->seal, 0, memory_order_release);
    return true;
}
