/* An instance of the server: one loop, one thread, and everything that its connections share. And what all instances share. */
#ifndef UVHTTP_SERVER_H
#define UVHTTP_SERVER_H

#include <uv.h>

#include "body.h"
#include "cache.h"
#include "files.h"
#include "head.h"
#include "lend.h"
#include "limits.h"
#include "metrics.h"
#include "router.h"
#include "uvhttp.h"

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

enum { OK_LINE_MAX = 64 };

struct server {
    struct uvhttp *owner;
    unsigned index; /* among the instances */
    uv_thread_t thread;
    uv_loop_t loop;
    uv_async_t wake; /* answers wait to be sent, or the server is to end */
    uv_poll_t listener;
    uv_timer_t tick;
    uv_signal_t term, interrupt;
    int listen_fd, spare_fd; /* the spare is given up to accept, and refuse, a connection when descriptors have run out */

    struct conn **live; /* in no order; each knows its place */
    unsigned count, max, refusing;
    struct pool conns, inputs, outputs, requests;
    size_t held, held_max; /* bytes that connections have of inputs and outputs */

    unsigned waiting; /* requests that handlers have */
    struct uvhttp_request *answered, **answered_end; /* by handlers that had returned before; in this order */

    struct router router; /* a copy of the owner's */
    struct files files;
    struct lender lender;

    char in[HEAD_MAX]; /* input is read here, and stays nowhere else unless a request is incomplete */
    char out[OUT_MAX]; /* answers of the connection whose turn it is */
    size_t out_used;
    char ok_line[OK_LINE_MAX]; /* "HTTP/1.1 200 OK" and the Date */
    size_t ok_size;
    time_t date;

    struct counters counters;
    struct times latency, delay;
    unsigned until_timed; /* reads that are not timed */
    uint64_t began;       /* when the turn began, in nanoseconds; 0 when it is not timed */
    uint64_t ticked;                /* when the clock was last looked at */
    uint64_t late_ms, most_late_ms; /* how much later than it was due, and the most */
    bool draining;
    uint64_t drain_by;
};

/* page is what uvhttp_page was given. */
struct page {
    const char *type, *bytes;
    size_t size;
    struct content content;
};

/* target is what uvhttp_handle was given. */
struct target {
    uvhttp_handler handler;
    void *data;
};

struct uvhttp {
    struct uvhttp_config config;
    struct router router;
    struct page pages[ROUTES_MAX];
    struct target targets[ROUTES_MAX];
    unsigned page_count;
    char *page_room;
    size_t page_size; /* of the room */

    unsigned count, max; /* instances; connections */
    struct server *instances[UVHTTP_INSTANCES_MAX];
    uv_mutex_t lock; /* of what follows */
    bool ending;
    struct account accounts[UVHTTP_INSTANCES_MAX]; /* as of the last tick */
};

/* server_open makes an instance; server_listen has it listen; server_run serves; server_close frees what it has. */
bool server_open(struct server *s, struct uvhttp *owner, unsigned index);
bool server_listen(struct server *s);
bool server_run(struct server *s);
void server_close(struct server *s);

/* server_account publishes what the instance has counted. */
void server_account(struct server *s);

/* server_answered puts a request whose handler answered later among those that are to be sent. */
void server_answered(struct server *s, struct uvhttp_request *request);

/* server_refresh writes the Date anew when the second has changed. */
void server_refresh(struct server *s);

/* pool_take returns NULL when there is no memory. */
void *pool_take(struct pool *p);
void pool_give(struct pool *p, void *block);

/* server_hold takes up to OUT_MAX bytes for what a connection has to keep. It returns NULL when all keep too much, or there is no memory. */
void *server_hold(struct server *s, size_t size);
void server_let_go(struct server *s, void *block, size_t size);

/* stats_write writes the answer to /stats as JSON and returns its size. */
size_t stats_write(struct server *s, char *out, size_t room);

#endif
