#include "socket.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum outcome pair(int kind, struct endpoint *a, struct endpoint *b)
{
    int fds[2];
    if (socketpair(AF_UNIX, kind | SOCK_CLOEXEC, 0, fds) < 0)
        return FAILED;
    a->fd = fds[0];
    b->fd = fds[1];
    return DONE;
}

enum outcome pass_cred(struct endpoint *to)
{
    int one = 1;
    return setsockopt(to->fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) < 0 ? FAILED : DONE;
}

/* add_control appends one control message and returns the new size of all. */
static size_t add_control(char *control, size_t size, int type, const void *data, size_t data_size)
{
    struct cmsghdr header = {.cmsg_len = CMSG_LEN(data_size), .cmsg_level = SOL_SOCKET, .cmsg_type = type};
    memset(control + size, 0, CMSG_SPACE(data_size));
    memcpy(control + size, &header, sizeof(header));
    memcpy(control + size + CMSG_LEN(0), data, data_size);
    return size + CMSG_SPACE(data_size);
}

enum outcome send_message(struct endpoint *to, const void *data, size_t size, const struct beside *beside)
{
    if (size == 0)
        return EMPTY;
    if (beside != NULL && beside->fd_count > MAX_FDS)
        return TOO_MANY;
    size_t control = 0;
    if (beside != NULL && beside->fd_count > 0)
        control = add_control(to->out, control, SCM_RIGHTS, beside->fds, beside->fd_count * sizeof(int));
    if (beside != NULL && beside->has_cred)
        control = add_control(to->out, control, SCM_CREDENTIALS, &beside->cred, sizeof(beside->cred));
    const char *next = data;
    while (size > 0) {
        struct iovec vector = {(void *)(size_t)next, size};
        struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = to->out, .msg_controllen = control};
        ssize_t n = sendmsg(to->fd, &header, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return FAILED;
        next += n; /* a stream may take a part; what travels beside it has gone with the first */
        size -= (size_t)n;
        control = 0;
    }
    return DONE;
}

static void drop(struct beside *beside)
{
    for (size_t i = 0; i < beside->fd_count; i++)
        close(beside->fds[i]);
    beside->fd_count = 0;
    beside->has_cred = false;
}

enum outcome receive_message(struct endpoint *from, void *data, size_t size, size_t *received, struct beside *beside)
{
    *received = 0;
    beside->fd_count = 0;
    beside->has_cred = false;
    if (size == 0)
        return EMPTY;
    struct iovec vector = {data, size};
    struct msghdr header = {.msg_iov = &vector, .msg_iovlen = 1, .msg_control = from->in, .msg_controllen = sizeof(from->in)};
    ssize_t n;
    do
        n = recvmsg(from->fd, &header, MSG_CMSG_CLOEXEC);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return FAILED;
    enum outcome outcome = DONE;
    if (header.msg_controllen > 0)
        outcome = parse_control(from->in, header.msg_controllen, beside);
    if (header.msg_flags & MSG_CTRUNC)
        outcome = LOST; /* it also explains control data that ends in its middle */
    else if (outcome == DONE && header.msg_flags & MSG_TRUNC)
        outcome = TRUNCATED;
    if (outcome != DONE) {
        drop(beside);
        return outcome;
    }
    if (n == 0 && beside->fd_count == 0)
        return END;
    *received = (size_t)n;
    return DONE;
}

enum outcome parse_control(const char *control, size_t size, struct beside *beside)
{
    beside->fd_count = 0;
    beside->has_cred = false;
    while (size > 0) {
        struct cmsghdr header;
        if (size < sizeof(header))
            return MALFORMED;
        memcpy(&header, control, sizeof(header));
        if (header.cmsg_len < CMSG_LEN(0) || header.cmsg_len > size || header.cmsg_level != SOL_SOCKET)
            return MALFORMED;
        const char *data = control + CMSG_LEN(0);
        size_t data_size = header.cmsg_len - CMSG_LEN(0);
        if (header.cmsg_type == SCM_RIGHTS) {
            size_t count = data_size / sizeof(int);
            if (data_size % sizeof(int) != 0 || count > MAX_FDS - beside->fd_count)
                return MALFORMED;
            memcpy(beside->fds + beside->fd_count, data, data_size);
            beside->fd_count += count;
        } else if (header.cmsg_type == SCM_CREDENTIALS && data_size == sizeof(beside->cred) && !beside->has_cred) {
            memcpy(&beside->cred, data, data_size);
            beside->has_cred = true;
        } else {
            return MALFORMED;
        }
        size_t whole = CMSG_SPACE(data_size);
        if (whole >= size)
            return DONE;
        control += whole;
        size -= whole;
    }
    return DONE;
}

const char *outcome_text(enum outcome outcome)
{
    static const char *const texts[] = {
        [DONE] = "done",
        [END] = "the other side has ended",
        [EMPTY] = "a message needs at least one byte",
        [TOO_MANY] = "more than 253 descriptors in a message",
        [TRUNCATED] = "the message does not fit in the buffer",
        [LOST] = "the message lost descriptors or credentials on its way",
        [MALFORMED] = "the message's control data is malformed",
    };
    return outcome == FAILED ? strerror(errno) : texts[outcome];
}
