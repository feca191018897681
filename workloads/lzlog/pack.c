/*
 * Full files, compressed in the preparer's time, a piece after the other: it looks after each whether a next file is wanted. What is
 * compressed takes the name of what it was made of in one step, so that a kill meanwhile leaves the one or the other, whole.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "internal.h"

enum { LEVEL = 1, PIECE = 128 * 1024 };

/* The file that is being compressed. */
struct lz_pack {
    ZSTD_CCtx *stream;
    struct lz_file *place; /* its place; NULL: it has none, since an earlier process wrote it */
    int from;              /* -1: there is no such file now */
    int to;
    uint64_t number;
    uint64_t at, end; /* bytes compressed, bytes in all */
    uint64_t looked;  /* the highest number of a file without a place that was looked at */
    uint8_t piece[PIECE], packed[PIECE];
};

bool lz_pack_new(struct lzlog *log, char why[LZLOG_WHY_SIZE])
{
    struct lz_pack *pack = calloc(1, sizeof(*pack));
    ZSTD_CCtx *stream = pack == NULL ? NULL : ZSTD_createCCtx();
    if (stream == NULL || ZSTD_isError(ZSTD_CCtx_setParameter(stream, ZSTD_c_compressionLevel, LEVEL))) {
        lz_say(why, "there is no memory to compress files");
        ZSTD_freeCCtx(stream);
        free(pack);
        return false;
    }
    pack->stream = stream;
    pack->from = -1;
    log->pack = pack;
    return true;
}

void lz_pack_free(struct lzlog *log)
{
    if (log->pack != NULL)
        ZSTD_freeCCtx(log->pack->stream);
    free(log->pack);
}

/* let_go ends the work on a file, done or not. That of a place stays open if it still is the log's. */
static void let_go(struct lz_pack *pack)
{
    if (pack->place == NULL)
        close(pack->from);
    close(pack->to);
    pack->from = -1;
}

void lz_pack_drop(struct lzlog *log, uint64_t number)
{
    struct lz_pack *pack = log->pack;
    if (pack == NULL || pack->from < 0 || (number != 0 && number != pack->number))
        return;
    unlinkat(log->dir, LZ_PACKED_NAME, 0);
    let_go(pack);
}

/* begin begins to compress a file of so many bytes. */
static bool begin(struct lzlog *log, struct lz_file *place, int from, uint64_t number, uint64_t end)
{
    struct lz_pack *pack = log->pack;
    int to = openat(log->dir, LZ_PACKED_NAME, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (to < 0)
        return false;
    ZSTD_CCtx_reset(pack->stream, ZSTD_reset_session_only);
    ZSTD_CCtx_setPledgedSrcSize(pack->stream, end); /* can only fail within a frame */
    pack->place = place;
    pack->from = from;
    pack->to = to;
    pack->number = number;
    pack->at = 0;
    pack->end = end;
    return true;
}

/* begin_named begins with a file that an earlier process wrote, if that is plain and not compressed. */
static bool begin_named(struct lzlog *log, uint64_t number)
{
    struct lz_header header;
    struct stat st;
    int from = lz_store_read(log, number, &header);
    if (from < 0)
        return false;
    uint64_t end = lz_seal_end(header.identity.seed, atomic_load_explicit(&header.seal, memory_order_relaxed));
    bool plain = (header.identity.flags & LZ_ENCRYPTED) == 0 && fstat(from, &st) == 0 && st.st_size <= LZLOG_FILE_MAX;
    if (plain && (end < LZ_DATA || end > (uint64_t)st.st_size))
        end = (uint64_t)st.st_size; /* its writer was killed: all of it may matter */
    if (plain && begin(log, NULL, from, number, end))
        return true;
    close(from);
    return false;
}

static bool begin_older(struct lzlog *log)
{
    struct lz_pack *pack = log->pack;
    for (size_t i = log->oldest; i < log->olders; i++) {
        if (log->older[i] <= pack->looked)
            continue;
        pack->looked = log->older[i];
        if (begin_named(log, log->older[i]))
            return true;
    }
    return false;
}

/* is_noted is false of a file that the preparer has not given its time yet: what is made of it would keep the wrong one. */
static bool is_noted(struct lzlog *log, const struct lz_file *file)
{
    pthread_mutex_lock(&log->lock);
    bool noted = log->full != file;
    pthread_mutex_unlock(&log->lock);
    return noted;
}

/* begin_place begins with the oldest file that this process has filled, if nobody writes to it any more. */
static bool begin_place(struct lzlog *log)
{
    struct lz_file *file = lz_store_oldest(log);
    const struct lz_file *current = atomic_load_explicit(&log->current, memory_order_acquire);
    if (file == NULL || file->number >= current->number || !is_noted(log, file) || !lz_is_idle(log, file))
        return false;
    uint64_t end = lz_seal_end(file->seed, atomic_load_explicit(&file->head->seal, memory_order_acquire));
    return end >= LZ_DATA && end <= log->capacity && begin(log, file, file->fd, file->number, end);
}

static bool read_all(int fd, uint8_t *to, size_t size, uint64_t at)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = pread(fd, to + done, size - done, (off_t)(at + done));
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

static bool write_all(int fd, const uint8_t *from, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = write(fd, from + done, size - done);
        if (n <= 0 && !(n < 0 && errno == EINTR))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* squeeze compresses the next piece. */
static bool squeeze(struct lz_pack *pack)
{
    uint64_t left = pack->end - pack->at;
    size_t size = left < PIECE ? left : PIECE, more;
    if (!read_all(pack->from, pack->piece, size, pack->at))
        return false;
    pack->at += size;
    ZSTD_EndDirective how = pack->at == pack->end ? ZSTD_e_end : ZSTD_e_continue;
    ZSTD_inBuffer in = {pack->piece, size, 0};
    do {
        ZSTD_outBuffer out = {pack->packed, sizeof(pack->packed), 0};
        more = ZSTD_compressStream2(pack->stream, &out, &in, how);
        if (ZSTD_isError(more) || !write_all(pack->to, pack->packed, out.pos))
            return false;
    } while (how == ZSTD_e_end ? more != 0 : in.pos < in.size);
    return true;
}

/* publish gives what was compressed the name of what it was made of, and its time, by which the log forgets. It is on the disk then. */
static bool publish(struct lzlog *log)
{
    const struct lz_pack *pack = log->pack;
    struct stat st;
    char name[LZ_NAME];
    lz_store_name(log, name, pack->number);
    if (fstat(pack->from, &st) != 0 || fchmod(pack->to, st.st_mode & 0777) != 0 ||
        futimens(pack->to, (struct timespec[]){st.st_atim, st.st_mtim}) != 0 || fsync(pack->to) != 0)
        return false;
    pthread_mutex_lock(&log->lock);
    bool lost = pack->place != NULL && pack->place->lost != 0; /* what a flush failed for is not to be forgotten */
    pthread_mutex_unlock(&log->lock);
    return !lost && lz_store_expect(log) && renameat(log->dir, LZ_PACKED_NAME, log->dir, name) == 0;
}

/*
 * leave_place gives up the place of a file that is compressed. Its mapping stays, see struct lz_file, and its header with it; the rest
 * is given back, unless somebody is reading it, and not before the disk has the other file under its name.
 */
static void leave_place(struct lzlog *log, struct lz_file *place, bool named)
{
    if (named && flock(place->fd, LOCK_EX | LOCK_NB) == 0) {
        bool cut = ftruncate(place->fd, LZ_PAGE) == 0;
        (void)cut; /* else only room is lost, for a while */
        flock(place->fd, LOCK_UN); /* as in lz_file_trim */
    }
    pthread_mutex_lock(&log->lock);
    place->unsynced = false;
    pthread_mutex_unlock(&log->lock);
    close(place->fd);
    place->fd = -1;
    lz_store_remember(log, place->number);
}

/* finish ends with a file that is whole. */
static bool finish(struct lzlog *log)
{
    struct lz_pack *pack = log->pack;
    if (!publish(log))
        return false;
    bool named = fsync(log->dir) == 0;
    if (!named)
        lz_keep(log, &log->lost, errno);
    if (pack->place != NULL)
        leave_place(log, pack->place, named);
    pack->looked = pack->number;
    let_go(pack);
    return true;
}

bool lz_pack_some(struct lzlog *log)
{
    struct lz_pack *pack = log->pack;
    if (pack == NULL || (pack->from < 0 && !begin_older(log) && !begin_place(log)))
        return false;
    bool done = squeeze(pack) && (pack->at < pack->end || finish(log));
    if (!done)
        lz_pack_drop(log, 0);
    return done;
}
