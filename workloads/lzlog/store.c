/* The folder of a log: its lock, its files by age, and where the next one comes from. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum { PATIENCE_MS = 100 }; /* for a writer that is in the middle of a write */

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* number_of reads a file's number from its name; 0 for any other name. */
static uint64_t number_of(const char *name)
{
    char again[LZ_NAME];
    uint64_t number = strtoull(name, NULL, 10);
    lz_name(again, number);
    return strcmp(name, again) == 0 ? number : 0;
}

static bool list(struct lzlog *log, char why[LZLOG_WHY_SIZE])
{
    int fd = openat(log->folder.fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    if (dir == NULL) {
        lz_say(why, "the log's folder cannot be listed: %s", strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    size_t room = 0;
    const struct dirent *entry;
    while ((errno = 0, entry = readdir(dir)) != NULL) {
        uint64_t number = number_of(entry->d_name);
        if (number == 0)
            continue;
        if (log->olders == room) {
            room = 2 * room + 16;
            uint64_t *more = realloc(log->older, room * sizeof(*more));
            if (more == NULL)
                break;
            log->older = more;
        }
        log->older[log->olders++] = number;
    }
    int failed = errno;
    closedir(dir);
    if (failed != 0) {
        lz_say(why, "the log's folder cannot be listed: %s", strerror(failed));
        return false;
    }
    if (log->olders > 0)
        qsort(log->older, log->olders, sizeof(*log->older), compare);
    log->newest = log->olders > 0 ? log->older[log->olders - 1] : 0;
    return true;
}

bool lz_store_open(struct lzlog *log, const char *dir, char why[LZLOG_WHY_SIZE])
{
    if (mkdir(dir, 0750) != 0 && errno != EEXIST) {
        lz_say(why, "%s cannot be made: %s", dir, strerror(errno));
        return false;
    }
    int failed = lz_folder_lock(&log->folder, dir);
    if (failed == EWOULDBLOCK) {
        lz_say(why, "the log in %s is already open, here or in another process", dir);
        return false;
    }
    if (failed != 0) {
        lz_say(why, "%s cannot be opened and locked: %s", dir, strerror(failed));
        return false;
    }
    /* Left by a process that was killed. */
    if (unlinkat(log->folder.fd, "next.tmp", 0) != 0 && errno != ENOENT) {
        lz_say(why, "an unfinished file in %s cannot be removed: %s", dir, strerror(errno));
        return false;
    }
    if (!list(log, why))
        return false;
    return true;
}

/* stranger says why a file cannot be of the log: it is plain and the log is not, or the other way round, or it has another key. */
static bool stranger(const struct lzlog *log, struct lz_cipher *cipher, const struct lz_identity *id, char why[LZLOG_WHY_SIZE])
{
    char name[LZ_NAME];
    uint8_t check[LZ_TAG];
    bool encrypted = (id->flags & LZ_ENCRYPTED) != 0;
    lz_name(name, id->number);
    if (encrypted != log->encrypted)
        lz_say(why, "%s is %s, and the log is to be %s: use another folder", name, encrypted ? "encrypted" : "not encrypted",
               encrypted ? "without a key" : "encrypted");
    else if (encrypted && (!lz_cipher_key_check(cipher, id, check) || memcmp(check, id->key_check, LZ_TAG) != 0))
        lz_say(why, "%s was not written with this key, or its header was changed", name);
    else
        return false;
    return true;
}

/* check_files refuses a folder with a file that is not of this log. A file that is damaged is nobody's, and stays. */
static bool check_files(struct lzlog *log, char why[LZLOG_WHY_SIZE])
{
    struct lz_header header;
    struct lz_cipher *cipher = log->encrypted ? lz_cipher_new(log->key) : NULL;
    bool refused = log->encrypted && cipher == NULL;
    if (refused)
        lz_say(why, "OpenSSL did not make a cipher");
    for (size_t i = log->olders; i > 0 && !refused; i--) {
        int fd = lz_store_read(log, log->older[i - 1], &header);
        refused = fd >= 0 && stranger(log, cipher, &header.identity, why);
        if (fd >= 0)
            close(fd);
    }
    lz_cipher_free(cipher);
    return !refused;
}

/* resumable is the end of the records of a file that can be added to; 0 when it must be left as it is. */
static uint64_t resumable(const struct lzlog *log, const struct lz_header *header)
{
    struct lz_session here;
    const struct lz_identity *id = &header->identity;
    /*
     * An encrypted file is never added to. There may be a copy of it, or it may have been put back to what it was: nothing in it would
     * say so, and its key stream would be used twice from here on.
     */
    if (log->encrypted || (id->flags & LZ_ENCRYPTED) != 0 || id->capacity != log->capacity)
        return 0;
    uint64_t end = lz_seal_end(id->seed, atomic_load_explicit(&header->seal, memory_order_relaxed));
    /*
     * Without a seal, its writer was killed. Under the kernel that it ran under, the cursor is where it left it. If the machine went
     * down, what reached the disk is anybody's guess: there may be records behind the cursor, and to write over them would lose them.
     */
    bool same = lz_session_here(&here) && lz_session_valid(&header->session) && memcmp(&here, &header->session, sizeof(here)) == 0;
    if (end == 0 && same)
        end = atomic_load_explicit(&header->cursor, memory_order_relaxed);
    return end >= LZ_DATA && end % LZ_WORD == 0 && end + lz_span(1) <= log->capacity ? end : 0;
}

int lz_store_read(const struct lzlog *log, uint64_t number, struct lz_header *header)
{
    char name[LZ_NAME];
    lz_name(name, number);
    int fd = openat(log->folder.fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -1;
    if (pread(fd, header, sizeof(*header), 0) == sizeof(*header) && lz_identity_fault(&header->identity) == NULL &&
        header->identity.number == number)
        return fd;
    close(fd);
    return -1;
}

/* drop_unused removes the newest file if it never had its turn. */
static bool drop_unused(struct lzlog *log, const struct lz_header *header)
{
    char name[LZ_NAME];
    lz_name(name, header->identity.number);
    uint64_t seal = atomic_load_explicit(&header->seal, memory_order_relaxed);
    if (lz_seal_end(header->identity.seed, seal) != LZ_DATA || unlinkat(log->folder.fd, name, 0) != 0)
        return false;
    log->olders--;
    log->newest--;
    return true;
}

bool lz_store_resume(struct lzlog *log, struct lz_file **file, char why[LZLOG_WHY_SIZE])
{
    struct lz_header header;
    int fd = -1;
    *file = NULL;
    if (!check_files(log, why))
        return false;
    while (log->olders > 0) {
        fd = lz_store_read(log, log->older[log->olders - 1], &header);
        if (fd < 0 || !drop_unused(log, &header))
            break;
        close(fd);
        fd = -1;
    }
    uint64_t end = fd < 0 ? 0 : resumable(log, &header);
    if (end == 0) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    if (!lz_file_resume(log, &log->places[0], fd, &header, end, why)) {
        close(fd);
        return false;
    }
    log->olders--;
    *file = &log->places[0];
    return true;
}

struct lz_file *lz_store_oldest(const struct lzlog *log)
{
    struct lz_file *oldest = NULL;
    for (unsigned i = 0; i < log->files; i++) {
        struct lz_file *file = &log->places[i];
        if (file->fd >= 0 && (oldest == NULL || file->number < oldest->number))
            oldest = file;
    }
    return oldest;
}

/* free_place is a place for a file; NULL if writers that were stopped in the middle of a write keep all that are left. */
static struct lz_file *free_place(struct lzlog *log)
{
    for (unsigned i = 0; i < log->files; i++) {
        struct lz_file *file = &log->places[i];
        if (file->fd < 0 && lz_is_idle(log, file))
            return file;
    }
    return NULL;
}

/* usable is how many files the log can have: a place whose file has gone, and to which somebody may still write, takes none. */
static unsigned usable(struct lzlog *log)
{
    unsigned n = 0;
    for (unsigned i = 0; i < log->files; i++)
        n += log->places[i].fd >= 0 || lz_is_idle(log, &log->places[i]);
    return n;
}

static size_t count(const struct lzlog *log)
{
    size_t n = log->olders - log->oldest;
    for (unsigned i = 0; i < log->files; i++)
        n += log->places[i].fd >= 0;
    return n;
}

/*
 * take_oldest takes the oldest file out of the log: under the name next.tmp if it may be recycled, else it is gone. The place of one that
 * somebody may still write to stays mapped, and is not free until that has ended.
 */
static bool take_oldest(struct lzlog *log, struct lz_file **place, int *fd, bool recycle)
{
    char name[LZ_NAME];
    bool own = log->oldest == log->olders;
    if (!own) {
        lz_name(name, log->older[log->oldest++]);
        *place = free_place(log);
        *fd = openat(log->folder.fd, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    } else {
        *place = lz_store_oldest(log);
        *fd = (*place)->fd;
        lz_name(name, (*place)->number);
        recycle = lz_await_idle(log, *place, PATIENCE_MS) && recycle;
        pthread_mutex_lock(&log->lock);
        (*place)->unsynced = false;
        (*place)->lost = 0;
        pthread_mutex_unlock(&log->lock);
    }
    struct stat st;
    if (recycle && *fd >= 0 && fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && flock(*fd, LOCK_EX | LOCK_NB) == 0 &&
        renameat(log->folder.fd, name, log->folder.fd, "next.tmp") == 0)
        return true;
    unlinkat(log->folder.fd, name, 0); /* if it is not there, all the better */
    if (*fd >= 0)
        close(*fd);
    if (own)
        (*place)->fd = -1;
    return false;
}

/* lz_store_cut removes the oldest files of a log that may have fewer than it had. */
void lz_store_cut(struct lzlog *log)
{
    struct lz_file *place;
    int fd;
    while (log->oldest < log->olders && count(log) > log->files)
        take_oldest(log, &place, &fd, false);
}

/* next_number is the next one that no file in the folder has. */
static uint64_t next_number(const struct lzlog *log)
{
    char name[LZ_NAME];
    uint64_t number = log->newest;
    do
        lz_name(name, ++number);
    while (number <= LZ_NUMBER_MAX && faccessat(log->folder.fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0);
    return number;
}

struct lz_file *lz_store_next(struct lzlog *log, char why[LZLOG_WHY_SIZE])
{
    struct lz_file *place = NULL;
    int fd = -1;
    bool recycled = false;
    unsigned room = usable(log);
    while (!recycled && room > 1 && count(log) >= room) {
        recycled = take_oldest(log, &place, &fd, count(log) == room);
        room = usable(log);
    }
    if (!recycled)
        place = free_place(log);
    if (place == NULL) {
        lz_say(why, "there is no place for a next file: writers were stopped in the middle of writes to %u of %u files", log->files - room,
               log->files);
        return NULL;
    }
    uint64_t number = next_number(log);
    if (number > LZ_NUMBER_MAX) {
        lz_say(why, "the log's folder has a file with the highest number, %llu: move that file away", (unsigned long long)LZ_NUMBER_MAX);
        return NULL;
    }
    if (!(recycled ? lz_file_recycle(log, place, fd, number, why) : lz_file_fresh(log, place, number, why)))
        return NULL;
    log->newest = number;
    return place;
}
