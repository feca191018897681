/* The server: one loop, one thread, and everything that its connections share. */
#ifndef UVHTTP_SERVER_H
#define UVHTTP_SERVER_H

#include <uv.h>

#include "body.h"
#include "cache.h"
#include "files.h"
#include "head.h"
#include "lend.h"
#include "limits.h"
#include "router.h"

struct conn;

/* block is a piece of memory that is not in use. */
struct block {
    struct block *next;
};

/* pool hands out pieces of one size and takes them back. Of those that are not in use it keeps POOL_MAX bytes at most. */
struct pool {
    struct block *unused;
    size_t size, kept; /* bytes */
};

struct counters {
    uint64_t accepted, refused, timeouts, requests, body_bytes, sent_bytes, answers[6]; /* by the status's first digit */
};

enum { PAGES = 6, OK_LINE_MAX = 64 };

struct server {
    uv_loop_t loop;
    uv_poll_t listener;
    uv_timer_t tick;
    uv_signal_t term, interrupt;
    int listen_fd, spare_fd; /* the spare is given up to accept, and refuse, a connection when descriptors have run out */

    struct conn **live; /* in no order; each knows its place */
    unsigned count, max, refusing;
    struct pool conns, inputs, outputs;
    size_t held; /* bytes that connections have of the last two */

    struct router router;
    struct content pages[PAGES];
    char *page_room;
    size_t page_size; /* of the room */
    struct files files;
    struct lender lender;

    char in[HEAD_MAX]; /* input is read here, and stays nowhere else unless a request is incomplete */
    char out[OUT_MAX]; /* answers of the connection whose turn it is */
    size_t out_used;
    char ok_line[OK_LINE_MAX]; /* "HTTP/1.1 200 OK" and the Date */
    size_t ok_size;
    time_t date;

    struct counters counters;
    uint64_t ticked;                /* when the clock was last looked at */
    uint64_t late_ms, most_late_ms; /* how much later than it was due, and the most */
    bool draining;
    uint64_t drain_by;
};

struct options {
    int port;
    unsigned max_connections; /* 0: as many as CONNECTIONS_MAX and the descriptors allow */
    const char *root;         /* NULL: files that the server makes itself */
};

/* server_run serves until SIGTERM or SIGINT. It returns the exit status. */
int server_run(const struct options *options);

/* server_refresh writes the Date anew when the second has changed. */
void server_refresh(struct server *s);

/* pool_take returns NULL when there is no memory. */
void *pool_take(struct pool *p);
void pool_give(struct pool *p, void *block);

/* server_hold takes up to OUT_MAX bytes for what a connection has to keep. It returns NULL when all keep too much, or there is no memory. */
void *server_hold(struct server *s, size_t size);
void server_let_go(struct server *s, void *block, size_t size);

/* stats_write writes the answer to /stats as JSON and returns its size. */
size_t stats_write(const struct server *s, char *out, size_t room);

#endif
