#define _GNU_SOURCE
#include "unpack.h"

#include <string.h>
#include <sys/mman.h>
#include <zstd.h>

#include "format.h"
#include "lzlog.h"

enum {
    WINDOW_LOG_MAX = 23, /* what a frame may ask of memory for itself: 8 MiB; those of a log ask for less */
    BLOCK_HEADER = 3     /* bytes */
};

bool lz_is_packed(const uint8_t *bytes, uint64_t size)
{
    const uint32_t magic = ZSTD_MAGICNUMBER; /* little-endian, as we are */
    return size >= sizeof(magic) && memcmp(bytes, &magic, sizeof(magic)) == 0;
}

/*
 * decompress returns how far it got. What was damaged is for who reads the records to find: each has a checksum. The library is given a
 * block at a time, without the header of the next one that it asks for, too: when it fails, it does not tell what it gave in the same
 * call before.
 */
static uint64_t decompress(ZSTD_DCtx *stream, const uint8_t *bytes, uint64_t size, uint8_t *base, uint64_t room)
{
    ZSTD_inBuffer in = {bytes, 0, 0};
    ZSTD_outBuffer out = {base, room, 0};
    size_t wanted = 1; /* 0 at the end of the frame */
    while (wanted != 0 && !ZSTD_isError(wanted)) {
        size_t taken = in.pos, given = out.pos;
        size_t next = wanted > BLOCK_HEADER ? wanted - BLOCK_HEADER : wanted;
        in.size = next < size - in.pos ? in.pos + next : size;
        wanted = ZSTD_decompressStream(stream, &out, &in);
        if (in.pos == taken && out.pos == given)
            break; /* it was cut, or holds more than it says */
    }
    return out.pos;
}

const char *lz_unpack(const uint8_t *bytes, uint64_t size, struct lz_unpacked *to)
{
    unsigned long long room = ZSTD_getFrameContentSize(bytes, size);
    if (room == ZSTD_CONTENTSIZE_UNKNOWN || room == ZSTD_CONTENTSIZE_ERROR || room < LZ_PAGE || room > LZLOG_FILE_MAX)
        return "it is compressed, but it does not begin as a log does that compresses a file";
    ZSTD_DCtx *stream = ZSTD_createDCtx();
    void *base = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stream == NULL || base == MAP_FAILED || ZSTD_isError(ZSTD_DCtx_setParameter(stream, ZSTD_d_windowLogMax, WINDOW_LOG_MAX))) {
        ZSTD_freeDCtx(stream);
        if (base != MAP_FAILED)
            munmap(base, room);
        return "there is no memory to decompress it";
    }
    *to = (struct lz_unpacked){.base = base, .room = room, .size = decompress(stream, bytes, size, base, room)};
    ZSTD_freeDCtx(stream);
    return NULL;
}
