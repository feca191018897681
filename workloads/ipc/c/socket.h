/* Messages, open descriptors and credentials between two ends of a Unix socket pair: what ../socket does in Go. */
#ifndef IPC_SOCKET_H
#define IPC_SOCKET_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum {
    MAX_FDS = 253, /* what the kernel takes in a message */
    /* room for all that the kernel can deliver to a socket of ours in one message */
    CONTROL_ROOM = CMSG_SPACE(MAX_FDS * sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))
};

enum outcome {
    DONE,
    END,       /* the other side will send nothing more */
    EMPTY,     /* a message of no bytes, which its receiver could not tell from the end */
    TOO_MANY,  /* more than 253 descriptors in a message */
    TRUNCATED, /* the message did not fit in the buffer, and its rest is lost */
    LOST,      /* not all descriptors or credentials arrived */
    MALFORMED, /* control data that makes no sense, or that nobody asked for */
    FAILED     /* errno says why */
};

/* endpoint is an end of a pair. It is for one sender and one receiver at a time. */
struct endpoint {
    int fd;
    _Alignas(struct cmsghdr) char out[CONTROL_ROOM];
    _Alignas(64) char in[CONTROL_ROOM];
};

/* beside is what travels beside the bytes of a message. Sent descriptors stay the sender's, received ones are the receiver's. */
struct beside {
    size_t fd_count;
    bool has_cred;
    struct ucred cred;
    int fds[MAX_FDS];
};

enum outcome pair(int kind, struct endpoint *a, struct endpoint *b);
enum outcome pass_cred(struct endpoint *to);
/* send_message sends all of data. beside may be NULL. */
enum outcome send_message(struct endpoint *to, const void *data, size_t size, const struct beside *beside);
/* receive_message receives a message, or on a stream as many bytes as there are. It closes descriptors that it cannot deliver. */
enum outcome receive_message(struct endpoint *from, void *data, size_t size, size_t *received, struct beside *beside);
/* parse_control reads what the kernel wrote. If it is malformed, beside holds the descriptors found, for the caller to close. */
enum outcome parse_control(const char *control, size_t size, struct beside *beside);
const char *outcome_text(enum outcome outcome);

#endif
