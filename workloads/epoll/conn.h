/* What ../epoll and ../uring know of a connection: what it has sent, what it is owed, and how long it may take. */
#ifndef CONN_H
#define CONN_H

#include <stdint.h>
#include <stdlib.h>

#include "http.h"

enum { DRAIN_MAX = 1024 * 1024 /* bytes read and thrown away after a refusal */ };

/*
 * How long a client may take, in ticks of a second. A tick in which the server itself was kept from running is one, however long it took: no
 * client is blamed for it.
 */
enum {
    REQUEST_TICKS = 10, /* for the first byte of all, for the rest of a request that has begun, and for the end after a refusal */
    IDLE_TICKS = 120,   /* between two requests */
    ANSWER_TICKS = 30   /* to take something of its answers */
};

/* ON_REQUEST is what a good request costs beyond its answer: nothing. A program that includes this file may have defined another. */
#ifndef ON_REQUEST
#define ON_REQUEST() ((void)0)
#endif

struct conn {
    struct conn *next, *previous; /* all connections, in a ring */
    int fd;
    uint32_t events;         /* what epoll watches for; io_uring has no use for it */
    char *held;              /* input that has to wait; NULL when there is none */
    size_t used;             /* bytes of input */
    size_t scanned;          /* bytes of input known not to hold the end of a request */
    size_t owed;             /* answers not yet written */
    const struct text *kept; /* the answer that is owed */
    const struct text *last; /* the connection's last answer, after those owed; NULL while it is kept alive */
    size_t sent;             /* bytes written of the first of those */
    size_t drained;          /* bytes thrown away; the connection drains once this is not 0 */
    uint64_t deadline;       /* the tick with which the client's time is up */
    bool begun;              /* its time is that for the rest of a request */
};

static struct conn conns = {.next = &conns, .previous = &conns}; /* the head of the ring */
static uint64_t ticks;                                          /* of the clock */

/* allow gives the client so many ticks, and the rest of the one that has begun. */
static void allow(struct conn *c, unsigned n)
{
    c->deadline = ticks + n + 1;
}

/* parse_input turns the complete requests of the input into answers owed, as long as these are alike, and keeps the rest. */
static void parse_input(struct conn *c, char *input)
{
    size_t begin = 0;
    while (c->last == NULL) {
        size_t from = c->scanned > begin + 3 ? c->scanned - 3 : begin; /* the end may lie across two reads */
        const char *end = memmem(input + from, c->used - from, "\r\n\r\n", 4);
        c->scanned = c->used;
        if (end == NULL)
            break;
        size_t next = (size_t)(end - input) + 4;
        const struct text *reply = next - begin > HEAD_MAX ? &bad_head : parse_head(input + begin, next - begin);
        if (c->owed > 0 && keeps(reply) && reply != c->kept) {
            c->scanned = begin; /* it comes again when those before are written */
            break;
        }
        if (keeps(reply)) {
            c->kept = reply;
            c->owed++;
            ON_REQUEST();
        } else {
            c->last = reply;
            if (closes(reply))
                ON_REQUEST();
        }
        c->begun = false;
        begin = c->scanned = next;
    }
    c->used -= begin;
    c->scanned -= begin;
    memmove(input, input + begin, c->used);
    if (c->last == NULL && c->scanned == c->used && c->used >= HEAD_MAX)
        c->last = &bad_head;
}

/* due is what is to be written next: nothing when all is. */
static struct text due(const struct conn *c)
{
    const struct text *reply = c->owed > 0 ? c->kept : c->last;
    if (reply == NULL)
        return (struct text){0};
    size_t count = c->owed == 0 ? 1 : c->owed < BATCH ? c->owed : BATCH;
    return (struct text){reply->data + c->sent, count * reply->size - c->sent};
}

/* wrote counts what was written of it. It returns true when that was the end of the connection's last answer. */
static bool wrote(struct conn *c, size_t size)
{
    c->sent += size;
    if (c->owed == 0)
        return c->sent == c->last->size;
    while (c->owed > 0 && c->sent >= c->kept->size) {
        c->sent -= c->kept->size;
        c->owed--;
    }
    return false;
}

/* await_input gives the client the time for what it has to send next. That of a request begins once, however many pieces it comes in. */
static void await_input(struct conn *c)
{
    if (c->used == 0)
        allow(c, IDLE_TICKS);
    else if (!c->begun)
        allow(c, REQUEST_TICKS);
    c->begun = c->used > 0;
}

/* late is for a client whose time is up. One that has sent half a request is owed a word, for which it returns true. */
static bool late(struct conn *c)
{
    bool told = c->begun && c->last == NULL;
    if (told)
        c->last = &too_late;
    return told;
}

/* join puts a new connection into the ring. */
static void join(struct conn *c, int fd)
{
    *c = (struct conn){.next = conns.next, .previous = &conns, .fd = fd, .kept = &answers[0][PLAIN]};
    conns.next = c->next->previous = c;
    allow(c, REQUEST_TICKS);
}

/* part takes one out again, and frees what it holds. */
static void part(struct conn *c)
{
    c->next->previous = c->previous;
    c->previous->next = c->next;
    free(c->held);
}

#endif
