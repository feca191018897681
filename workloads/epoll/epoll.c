/*
 * epoll: the least that a correct HTTP/1.1 server can do on one CPU. One thread, one epoll set, one fixed answer.
 *
 * Every GET is answered 200 "helloworld". A connection's input is read only when all answers to what it sent before are on
 * their way, so that neither input nor output can grow: a client that does not read its answers is not read from.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    HEAD_MAX = 8192,        /* bytes of a request head */
    EVENTS = 256,           /* events taken from the kernel at once */
    BATCH = 64,             /* answers written at once */
    DRAIN_MAX = 1024 * 1024 /* bytes read and thrown away after a refusal */
};

struct text {
    const char *data;
    size_t size;
};

#define TEXT(s) { s, sizeof(s) - 1 }
#define REFUSAL(status, more) TEXT("HTTP/1.1 " status "\r\n" more "Content-Length: 0\r\nConnection: close\r\n\r\n")

#define ANSWER_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
#define BODY "helloworld"

static const struct text answer = TEXT(ANSWER_HEAD "\r\n" BODY);
static const struct text answer_keep = TEXT(ANSWER_HEAD "Connection: keep-alive\r\n\r\n" BODY);
static const struct text answer_close = TEXT(ANSWER_HEAD "Connection: close\r\n\r\n" BODY);
static const struct text bad_request = REFUSAL("400 Bad Request", "");
static const struct text bad_method = REFUSAL("405 Method Not Allowed", "Allow: GET\r\n");
static const struct text bad_body = REFUSAL("413 Content Too Large", "");
static const struct text bad_head = REFUSAL("431 Request Header Fields Too Large", "");

struct conn {
    int fd;
    uint32_t events;         /* what epoll watches for */
    size_t used;             /* bytes in head */
    size_t scanned;          /* bytes of head known not to hold the end of a request */
    size_t owed;             /* answers not yet written */
    const struct text *kept; /* the answer that is owed; answer_keep once the client has asked for it as HTTP/1.0 does */
    const struct text *last; /* the connection's last answer, after those owed; NULL while it is kept alive */
    size_t sent;             /* bytes written of the first of those */
    size_t drained;          /* bytes thrown away; the connection drains once this is not 0 */
    char head[HEAD_MAX];
};

static int epfd;

static void on_term(int sig)
{
    (void)sig;
    _exit(0);
}

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void conn_close(struct conn *c)
{
    close(c->fd); /* epoll forgets it by itself */
    free(c);
}

/* header_is compares a header line's name, without regard to case. */
static bool header_is(const char *line, size_t size, const char *name, size_t name_size)
{
    return size > name_size && line[name_size] == ':' && strncasecmp(line, name, name_size) == 0;
}

/* value_has looks for a word in a header line's value, without regard to case. */
static bool value_has(const char *value, size_t size, const char *word, size_t word_size)
{
    for (size_t i = 0; i + word_size <= size; i++) {
        if (strncasecmp(value + i, word, word_size) == 0)
            return true;
    }
    return false;
}

/* value_is_zero is true for a Content-Length of nothing. */
static bool value_is_zero(const char *value, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (value[i] != '0' && value[i] != ' ' && value[i] != '\t')
            return false;
    }
    return true;
}

#define HEADER_IS(line, size, name) header_is(line, size, name, sizeof(name) - 1)

/*
 * parse_head judges a complete request head, blank line included, and returns its answer. An HTTP/1.0 client is told that its
 * connection is kept alive, and must have asked for it; others take it for granted.
 */
static const struct text *parse_head(const char *head, size_t size)
{
    static const char version[] = " HTTP/1.";
    const size_t version_size = sizeof(version) - 1;
    const char *end = head + size - 2; /* the blank line */
    const char *eol = memmem(head, size, "\r\n", 2);
    size_t line_size = (size_t)(eol - head);

    if (line_size < 5 + version_size + 1 || memcmp(eol - 1 - version_size, version, version_size) != 0)
        return &bad_request;
    if (eol[-1] != '1' && eol[-1] != '0')
        return &bad_request;
    if (memcmp(head, "GET ", 4) != 0)
        return &bad_method;

    bool old = eol[-1] == '0', keep = !old, close = false;
    for (const char *line = eol + 2; line < end; line = eol + 2) {
        eol = memmem(line, (size_t)(end + 2 - line), "\r\n", 2);
        line_size = (size_t)(eol - line);
        if (HEADER_IS(line, line_size, "connection")) {
            close = close || value_has(line + 11, line_size - 11, "close", 5);
            keep = keep || value_has(line + 11, line_size - 11, "keep-alive", 10);
        }
        if (HEADER_IS(line, line_size, "transfer-encoding"))
            return &bad_body;
        if (HEADER_IS(line, line_size, "content-length") && !value_is_zero(line + 15, line_size - 15))
            return &bad_body;
    }
    if (close || !keep)
        return &answer_close;
    return old ? &answer_keep : &answer;
}

/* parse_input turns the complete requests in the buffer into answers owed, and keeps the incomplete rest. */
static void parse_input(struct conn *c)
{
    size_t begin = 0;
    while (c->last == NULL) {
        size_t from = c->scanned > begin + 3 ? c->scanned - 3 : begin; /* the end may lie across two reads */
        const char *end = memmem(c->head + from, c->used - from, "\r\n\r\n", 4);
        c->scanned = c->used;
        if (end == NULL)
            break;
        size_t next = (size_t)(end - c->head) + 4;
        const struct text *reply = parse_head(c->head + begin, next - begin);
        if (reply == &answer || reply == &answer_keep)
            c->owed++;
        else
            c->last = reply;
        if (reply == &answer_keep)
            c->kept = reply; /* nothing is half sent: input is read only when nothing is owed */
        begin = next;
        c->scanned = next;
    }
    c->used -= begin;
    memmove(c->head, c->head + begin, c->used);
    c->scanned = c->used;
    if (c->last == NULL && c->used == HEAD_MAX)
        c->last = &bad_head;
}

/* gather lists the next answers for one write. */
static size_t gather(const struct conn *c, struct iovec *out)
{
    size_t n = 0;
    for (; n < c->owed && n < BATCH; n++)
        out[n] = (struct iovec){(void *)(uintptr_t)c->kept->data, c->kept->size};
    if (n == c->owed && n < BATCH && c->last != NULL)
        out[n++] = (struct iovec){(void *)(uintptr_t)c->last->data, c->last->size};
    if (n > 0) {
        out[0].iov_base = (char *)out[0].iov_base + c->sent;
        out[0].iov_len -= c->sent;
    }
    return n;
}

enum flushed { ALL, BLOCKED, LAST, BROKEN };

/* flush writes what is owed: ALL of it, or until the socket is BLOCKED or BROKEN, or the connection's LAST answer is out. */
static enum flushed flush(struct conn *c)
{
    struct iovec out[BATCH];
    size_t n;
    while ((n = gather(c, out)) > 0) {
        struct msghdr message = {.msg_iov = out, .msg_iovlen = n};
        ssize_t wrote = sendmsg(c->fd, &message, MSG_NOSIGNAL);
        if (wrote < 0) {
            if (errno == EINTR)
                continue;
            return errno == EAGAIN || errno == EWOULDBLOCK ? BLOCKED : BROKEN;
        }
        c->sent += (size_t)wrote;
        while (c->owed > 0 && c->sent >= c->kept->size) {
            c->sent -= c->kept->size;
            c->owed--;
        }
        if (c->owed == 0 && c->last != NULL && c->sent == c->last->size)
            return LAST;
    }
    return ALL;
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
static bool push(struct conn *c)
{
    switch (flush(c)) {
    case BLOCKED:
        return watch(c, EPOLLOUT);
    case ALL:
        return watch(c, EPOLLIN);
    case LAST:
        if (c->last == &answer_close && c->used == 0)
            return false;
        /* Closing with unread input would reset the connection and might take the answer away from the client. */
        c->drained = 1;
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
        ssize_t n = recv(c->fd, c->head, HEAD_MAX, 0);
        if (n > 0)
            c->drained += (size_t)n;
        return c->drained < DRAIN_MAX && (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
    }
    ssize_t n = recv(c->fd, c->head + c->used, HEAD_MAX - c->used, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
    if (n == 0)
        return false;
    c->used += (size_t)n;
    parse_input(c);
    return push(c);
}

/* admit takes all waiting connections. Out of descriptors, it answers one by closing it, lest epoll report it for ever. */
static void admit(int listener)
{
    static int reserve = -1;
    if (reserve < 0)
        reserve = dup(listener);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0 && (errno == EMFILE || errno == ENFILE) && reserve >= 0) {
            close(reserve);
            fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
            if (fd >= 0)
                close(fd);
            reserve = dup(listener);
            return;
        }
        if (fd < 0) {
            if (errno == EINTR || errno == ECONNABORTED)
                continue;
            return;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        struct conn *c = malloc(sizeof(*c));
        if (c == NULL) {
            close(fd);
            continue;
        }
        memset(c, 0, offsetof(struct conn, head));
        c->fd = fd;
        c->events = EPOLLIN;
        c->kept = &answer;
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0)
            conn_close(c);
    }
}

/* open_listener listens on an address. It returns -1 with errno set when it cannot. */
static int open_listener(const struct sockaddr *address, socklen_t size)
{
    int one = 1, zero = 0;
    int fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (address->sa_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof(zero));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, address, size) == 0 && listen(fd, 4096) == 0)
        return fd;
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* listen_on listens for IPv6 and IPv4 where there is IPv6, else for IPv4. */
static int listen_on(uint16_t port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    int fd = open_listener((const struct sockaddr *)&six, sizeof(six));
    if (fd < 0)
        fd = open_listener((const struct sockaddr *)&four, sizeof(four));
    if (fd < 0)
        die("epoll: listen");
    return fd;
}

/* raise_files lets the process have as many connections as it may. */
static void raise_files(void)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        die("epoll: getrlimit");
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        die("epoll: setrlimit");
}

/* port_from reads "--port N" or "--port=N"; 8080 without. */
static uint16_t port_from(int argc, char **argv)
{
    const char *text = "8080";
    if (argc == 3 && strcmp(argv[1], "--port") == 0)
        text = argv[2];
    else if (argc == 2 && strncmp(argv[1], "--port=", 7) == 0)
        text = argv[1] + 7;
    else if (argc != 1)
        text = "";
    char *end;
    long port = strtol(text, &end, 10);
    if (end == text || *end != '\0' || port < 1 || port > 65535) {
        fprintf(stderr, "usage: epoll [--port PORT]\n");
        exit(2);
    }
    return (uint16_t)port;
}

int main(int argc, char **argv)
{
    uint16_t port = port_from(argc, argv);
    struct sigaction term = {.sa_handler = on_term};
    sigaction(SIGTERM, &term, NULL);
    sigaction(SIGINT, &term, NULL);

    raise_files();
    int listener = listen_on(port);
    epfd = epoll_create1(EPOLL_CLOEXEC);
    if (epfd < 0)
        die("epoll: epoll_create1");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    if (epoll_ctl(epfd, EPOLL_CTL_ADD, listener, &event) < 0)
        die("epoll: epoll_ctl");

    for (;;) {
        struct epoll_event events[EVENTS];
        int n = epoll_wait(epfd, events, EVENTS, -1);
        if (n < 0 && errno != EINTR)
            die("epoll: epoll_wait");
        for (int i = 0; i < n; i++) {
            struct conn *c = events[i].data.ptr;
            if (c == NULL)
                admit(listener);
            else if (!(c->events == EPOLLOUT ? push(c) : pull(c)))
                conn_close(c);
        }
    }
}
