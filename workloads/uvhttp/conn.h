/* One connection: it reads requests, has them answered, and sends the answers, in this order, until one side has enough. */
#ifndef UVHTTP_CONN_H
#define UVHTTP_CONN_H

#include "reply.h"
#include "request.h"
#include "server.h"

enum phase { READ_HEAD, READ_BODY, LINGER };

struct conn {
    uv_poll_t poll;
    struct server *server;
    int fd;
    int events;        /* what the loop watches for */
    unsigned place;    /* in the server's list */
    uint64_t deadline; /* in the loop's milliseconds */
    enum phase phase;
    bool timed;        /* the deadline is that of a request which has begun to come */
    bool blocked;      /* answers wait for the client; nothing is read meanwhile */
    bool last;         /* no request after the answers under way */
    bool unread;       /* the client may have sent more than was read: closing at once could take the last answer from it */
    bool waiting;      /* for an answer of a handler that has returned; nothing is read meanwhile */
    bool refused;      /* it was above the limit of connections */

    char *in;          /* an incomplete request, or what follows an answer that is blocked; NULL when there is none */
    size_t in_used;
    char *left;        /* gathered answers that could not be sent at once */
    size_t left_at, left_size;
    const struct content *sending; /* the body behind them that is sent from where it is */
    size_t sent;
    size_t discarded;

    struct head head;
    struct body body;
    struct reply reply;
};

/* conn_open takes over an accepted socket. A refused one is told so and then waited for. */
void conn_open(struct server *s, int fd, bool refused);

/* conn_look ends a connection whose deadline has passed. */
void conn_look(struct conn *c, uint64_t now);

/* conn_write writes the answer that a handler has given. */
void conn_write(struct conn *c);

/* conn_resume goes on with a connection whose handler has answered. */
void conn_resume(struct conn *c);

/* conn_drain ends a connection that has nothing to do, and lets the others end after their answer. */
void conn_drain(struct conn *c);

void conn_close(struct conn *c);

/* conn_turn_away refuses a socket at once. What has come is read first, for else closing it would reset the connection. */
void conn_turn_away(int fd);

#endif
