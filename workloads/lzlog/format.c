#define _GNU_SOURCE
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "crc32c.h"
#include "lzlog.h"

static const char magic[8] = {'L', 'Z', 'L', 'O', 'G', '-', '1', '\n'};

static uint32_t identity_crc(const struct lz_identity *identity)
{
    return crc32c_portable(identity, offsetof(struct lz_identity, crc));
}

void lz_identity_begin(struct lz_identity *identity)
{
    memcpy(identity->magic, magic, sizeof(magic));
    identity->version = LZ_VERSION;
}

void lz_identity_finish(struct lz_identity *identity)
{
    identity->crc = identity_crc(identity);
}

const char *lz_identity_fault(const struct lz_identity *identity)
{
    static const uint8_t zero[sizeof(identity->zero1)];
    if (memcmp(identity->magic, magic, sizeof(magic)) != 0)
        return "it does not begin as a log file does";
    if (identity->crc != identity_crc(identity))
        return "its header is damaged";
    if (identity->version != LZ_VERSION || (identity->flags & ~(uint32_t)LZ_ENCRYPTED) != 0)
        return "it is of another version";
    if (identity->capacity < LZLOG_FILE_MIN || identity->capacity > LZLOG_FILE_MAX || identity->capacity % LZ_PAGE != 0 ||
        memcmp(identity->zero, zero, sizeof(identity->zero)) != 0 || memcmp(identity->zero1, zero, sizeof(zero)) != 0)
        return "its header makes no sense";
    return NULL;
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool lz_session_here(struct lz_session *session)
{
    char text[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = read(fd, text, sizeof(text));
    close(fd);
    memset(session, 0, sizeof(*session));
    int digits = 0;
    for (ssize_t i = 0; i < n && digits < 2 * LZ_BOOT; i++) {
        int value = hex(text[i]);
        if (value < 0)
            continue; /* a dash */
        session->boot[digits / 2] = (uint8_t)(session->boot[digits / 2] << 4 | value);
        digits++;
    }
    session->crc = crc32c_portable(session->boot, sizeof(session->boot));
    return digits == 2 * LZ_BOOT;
}

bool lz_session_valid(const struct lz_session *session)
{
    return session->zero == 0 && session->crc == crc32c_portable(session->boot, sizeof(session->boot));
}

static uint32_t end_crc(const struct lz_end *end)
{
    return crc32c_portable(&end->tag, sizeof(end->tag));
}

void lz_end_finish(struct lz_end *end)
{
    end->crc = end_crc(end);
}

bool lz_end_empty(const struct lz_end *end)
{
    return end->tag == 0 && end->crc == 0 && end->zero == 0;
}

bool lz_end_valid(const struct lz_end *end)
{
    return lz_end_empty(end) || (end->crc == end_crc(end) && end->zero == 0);
}
