/*
 * epoll: the least that a correct HTTP/1.1 server can do on one CPU by epoll. One thread, one epoll set, one fixed answer.
 *
 * Every GET is answered 200 "helloworld", and every HEAD without the body. A connection's input is read only when all answers to
 * what it sent before are on their way, so that neither input nor output can grow: a client that does not read its answers is not
 * read from. All read into one buffer and are answered out of constants, so that both stay in the processor's caches however many
 * connections there are; one has a buffer of its own only while it has sent half a request, or more than it takes answers to.
 */
#define _GNU_SOURCE
#define PROGRAM "epoll"
#include <sys/epoll.h>

#include "conn.h"
#include "process.h"

enum { EVENTS = 256 /* events taken from the kernel at once */ };

static int epfd;
static char shared[HEAD_MAX]; /* what is read goes here first */
static struct conn signals, timer; /* stand in events for the signals that end the server, and for the clock */

static void conn_close(struct conn *c)
{
    close(c->fd); /* epoll forgets it by itself */
    part(c);
    free(c);
}

enum flushed { ALL, BLOCKED, LAST, BROKEN };

/* flush writes what is owed: ALL of it, or until the socket is BLOCKED or BROKEN, or the connection's LAST answer is out. */
static enum flushed flush(struct conn *c, char *input)
{
    for (;;) {
        if (c->owed == 0 && c->last == NULL && c->scanned < c->used)
            parse_input(c, input);
        struct text next = due(c);
        if (next.size == 0)
            return ALL;
        ssize_t n = send(c->fd, next.data, next.size, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? BLOCKED : BROKEN;
        if (wrote(c, (size_t)n))
            return LAST;
    }
}

/* hold keeps input that has to wait, in HEAD_MAX bytes. It returns false when there is no memory. */
static bool hold(struct conn *c, const char *input)
{
    if (c->used == 0) {
        free(c->held);
        c->held = NULL;
    } else if (c->held == NULL) {
        c->held = malloc(HEAD_MAX);
        if (c->held == NULL)
            return false;
        memcpy(c->held, input, c->used);
    }
    return true;
}

/* watch makes epoll wait for one kind of event. It returns false when the connection is to be closed. */
static bool watch(struct conn *c, uint32_t events)
{
    if (c->events == events)
        return true;
    struct epoll_event event = {.events = events, .data.ptr = c};
    c->events = events;
    return epoll_ctl(epfd, EPOLL_CTL_MOD, c->fd, &event) == 0;
}

/* push writes and decides what comes next. It returns false when the connection is to be closed. */
static bool push(struct conn *c, char *input)
{
    switch (flush(c, input)) {
    case BLOCKED:
        allow(c, ANSWER_TICKS);
        return hold(c, input) && watch(c, EPOLLOUT);
    case ALL:
        await_input(c);
        return hold(c, input) && watch(c, EPOLLIN);
    case LAST:
        if (closes(c->last) && c->used == 0)
            return false;
        /* Closing with unread input would reset the connection and might take the answer away from the client. */
        c->drained = 1;
        allow(c, REQUEST_TICKS);
        return shutdown(c->fd, SHUT_WR) == 0 && watch(c, EPOLLIN);
    case BROKEN:
        break;
    }
    return false;
}

/* pull reads once. It returns false when the connection is to be closed. */
static bool pull(struct conn *c)
{
    if (c->drained > 0) {
        ssize_t n = recv(c->fd, shared, HEAD_MAX, 0);
        if (n > 0)
            c->drained += (size_t)n;
        return c->drained < DRAIN_MAX && (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
    }
    char *input = c->held != NULL ? c->held : shared;
    ssize_t n = recv(c->fd, input + c->used, HEAD_MAX - c->used, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0)
        return false;
    c->used += (size_t)n;
    parse_input(c, input);
    return push(c, input);
}

/* admit takes all waiting connections. Out of descriptors, it turns one away. */
static void admit(int listener)
{
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            if (errno == EMFILE || errno == ENFILE)
                turn_away(listener);
            return;
        }
        struct conn *c = malloc(sizeof(*c));
        if (c == NULL) {
            close(fd);
            continue;
        }
        join(c, fd);
        c->events = EPOLLIN;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0)
            conn_close(c);
    }
}

/* watch_new makes epoll report what a new descriptor has to read under a name. */
static void watch_new(int fd, void *name)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = name};
    if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0)
        die("epoll_ctl");
}

/* tick lets go of the clients whose time is up. One that has sent half a request is told so. */
static void tick(int clock)
{
    uint64_t seconds;
    if (read(clock, &seconds, sizeof(seconds)) != sizeof(seconds))
        return;
    ticks++;
    for (struct conn *c = conns.next, *next; c != &conns; c = next) {
        next = c->next;
        if (c->deadline > ticks)
            continue;
        if (!late(c) || !push(c, c->held))
            conn_close(c);
    }
}

/* serve answers until a signal ends it. */
static void serve(int listener, int clock)
{
    for (;;) {
        bool ticked = false;
        struct epoll_event events[EVENTS];
        int n = epoll_wait(epfd, events, EVENTS, -1);
        if (n < 0 && errno != EINTR)
            die("epoll_wait");
        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;
            if (c == &signals)
                return;
            if (c == &conns)
                admit(listener);
            else if (c == &timer)
                ticked = true; /* what it closes may be among the other events */
            else if (!(c->events == EPOLLOUT ? push(c, c->held) : pull(c)))
                conn_close(c);
        }
        if (ticked)
            tick(clock);
    }
}

int main(int argc, char **argv)
{
    uint16_t port = port_from(argc, argv);
    int ending = open_signals(), clock = open_clock();

    raise_files();
    int listener = listen_on(port);
    epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0)
        die("epoll_create1");
    watch_new(listener, &conns);
    watch_new(ending, &signals);
    watch_new(clock, &timer);
    serve(listener, clock);
    while (conns.next != &conns)
        conn_close(conns.next);
    return 0;
}
