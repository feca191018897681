/*
 * epoll: the least that a correct HTTP/1.1 server can do on one CPU. One thread, one epoll set, one fixed answer.
 *
 * Every GET is answered 200 "helloworld", and every HEAD without the body. A connection's input is read only when all answers to
 * what it sent before are on their way, so that neither input nor output can grow: a client that does not read its answers is not
 * read from. All read into one buffer and are answered out of constants, so that both stay in the processor's caches however many
 * connections there are; one has a buffer of its own only while it has sent half a request, or more than it takes answers to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum {
    HEAD_MAX = 8192,        /* bytes of a request head */
    EVENTS = 256,           /* events taken from the kernel at once */
    BATCH = 4 * 4 * 4,      /* answers written at once */
    DRAIN_MAX = 1024 * 1024 /* bytes read and thrown away after a refusal */
};

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

enum { TOKEN = 1, VISIBLE = 2, VALUE = 4 };

struct text {
    const char *data;
    size_t size;
};

#define TEXT(s) { s, sizeof(s) - 1 }
#define FOUR(s) s s s s
/* MANY is a text, and as many copies of it behind it as are sent at once. */
#define MANY(s) { FOUR(FOUR(FOUR(s))), sizeof(s) - 1 }
#define REFUSAL(status, more) TEXT("HTTP/1.1 " status "\r\n" more "Content-Length: 0\r\nConnection: close\r\n\r\n")

#define ANSWER_HEAD "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n"
#define ANSWERS(body)                                                                                                               \
    {                                                                                                                                \
        MANY(ANSWER_HEAD "\r\n" body), MANY(ANSWER_HEAD "Connection: keep-alive\r\n\r\n" body),                                    \
            TEXT(ANSWER_HEAD "Connection: close\r\n\r\n" body)                                                                      \
    }

enum { PLAIN, KEEP, CLOSE };
/* The answers to GET, and those to HEAD. */
static const struct text answers[2][3] = {ANSWERS("helloworld"), ANSWERS("")};
static const struct text bad_request = REFUSAL("400 Bad Request", "");
static const struct text bad_method = REFUSAL("405 Method Not Allowed", "Allow: GET, HEAD\r\n");
static const struct text too_late = REFUSAL("408 Request Timeout", "");
static const struct text bad_body = REFUSAL("413 Content Too Large", "");
static const struct text bad_head = REFUSAL("431 Request Header Fields Too Large", "");

struct conn {
    struct conn *next, *previous; /* all connections, in a ring */
    int fd;
    uint32_t events;         /* what epoll watches for */
    char *held;              /* HEAD_MAX bytes for input that has to wait; NULL when there is none */
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

static int epfd;
static char shared[HEAD_MAX]; /* what is read goes here first */
static struct conn conns = {.next = &conns, .previous = &conns}; /* the head of the ring */
static struct conn signals, timer; /* stand in events for the signals that end the server, and for the clock */
static uint64_t ticks;             /* of the clock */

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void conn_close(struct conn *c)
{
    close(c->fd); /* epoll forgets it by itself */
    c->next->previous = c->previous;
    c->previous->next = c->next;
    free(c->held);
    free(c);
}

#define V (VISIBLE | VALUE)
#define T (TOKEN | VISIBLE | VALUE)
/* What each byte may be: part of a token (a name), of a target (visible ASCII), of a header's value. */
static const unsigned char kind[256] = {
    ['\t'] = VALUE, [' '] = VALUE, ['!'] = T, ['"'] = V, ['#' ... '\''] = T, ['('] = V, [')'] = V, ['*'] = T, ['+'] = T,
    [','] = V, ['-'] = T, ['.'] = T, ['/'] = V, ['0' ... '9'] = T, [':' ... '@'] = V, ['A' ... 'Z'] = T, ['['] = V, ['\\'] = V,
    [']'] = V, ['^' ... 'z'] = T, ['{'] = V, ['|'] = T, ['}'] = V, ['~'] = T, [0x80 ... 0xff] = VALUE,
};
#undef V
#undef T

/* allow gives the client so many ticks, and the rest of the one that has begun. */
static void allow(struct conn *c, unsigned n)
{
    c->deadline = ticks + n + 1;
}

/* skip is the first place from p on where a byte is not what it may be. */
static const char *skip(const char *p, const char *end, int what)
{
    while (p < end && (kind[(unsigned char)*p] & what) != 0)
        p++;
    return p;
}

static bool is(const char *name, size_t size, const char *word)
{
    return size == strlen(word) && strncasecmp(name, word, size) == 0;
}

/* lists looks for a word among those that commas separate, without regard to case. */
static bool lists(const char *value, const char *end, const char *word)
{
    while (value < end) {
        const char *comma = memchr(value, ',', (size_t)(end - value)), *last = comma != NULL ? comma : end;
        const char *next = last + (comma != NULL);
        while (value < last && (*value == ' ' || *value == '\t'))
            value++;
        while (last > value && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (is(value, (size_t)(last - value), word))
            return true;
        value = next;
    }
    return false;
}

/* What a request says, as far as its answer depends on it. */
struct request {
    bool old; /* HTTP/1.0 */
    bool head, host, length, keep, close;
};

/* read_request_line returns the refusal that the line deserves, or NULL. */
static const struct text *read_request_line(struct request *r, const char *line, const char *end)
{
    static const char version[] = "HTTP/1.";
    const char *blank = skip(line, end, TOKEN);
    if (blank == line || blank == end || *blank != ' ')
        return &bad_request;
    const char *last = skip(blank + 1, end, VISIBLE);
    if (last == blank + 1 || end - last != sizeof(" HTTP/1.1") - 1 || *last != ' ' || memcmp(last + 1, version, sizeof(version) - 1) != 0)
        return &bad_request;
    if (end[-1] != '1' && end[-1] != '0')
        return &bad_request;
    r->old = end[-1] == '0';
    r->head = is(line, (size_t)(blank - line), "HEAD");
    return memcmp(line, r->head ? "HEAD " : "GET ", r->head ? 5 : 4) == 0 ? NULL : &bad_method;
}

/* read_length takes a Content-Length, which there can be once and which must be nothing. */
static const struct text *read_length(struct request *r, const char *value, const char *end)
{
    bool zero = true;
    if (r->length || value == end)
        return &bad_request;
    r->length = true;
    for (; value < end; value++) {
        if (*value < '0' || *value > '9')
            return &bad_request;
        zero = zero && *value == '0';
    }
    return zero ? NULL : &bad_body;
}

/* read_header returns the refusal that a header line makes the request deserve, or NULL. */
static const struct text *read_header(struct request *r, const char *line, const char *end)
{
    const char *colon = skip(line, end, TOKEN), *value = colon + 1;
    size_t size = (size_t)(colon - line);
    if (colon == line || colon == end || *colon != ':' || skip(value, end, VALUE) != end)
        return &bad_request; /* a folded line, which begins with a blank, too */
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    if (is(line, size, "host")) {
        if (r->host)
            return &bad_request;
        r->host = true;
    } else if (is(line, size, "connection")) {
        r->close = r->close || lists(value, end, "close");
        r->keep = r->keep || lists(value, end, "keep-alive");
    } else if (is(line, size, "content-length")) {
        return read_length(r, value, end);
    } else if (is(line, size, "transfer-encoding")) {
        return &bad_body;
    }
    return NULL;
}

/*
 * parse_head judges a complete request head, blank line included, and returns its answer. What two servers could understand
 * differently is refused. An HTTP/1.0 client is told that its connection is kept alive, and must have asked for it; others take it for
 * granted.
 */
static const struct text *parse_head(const char *head, size_t size)
{
    struct request r = {0};
    const char *blank = head + size - 2, *next;
    for (const char *line = head; line == head || line < blank; line = next) {
        const char *feed = memchr(line, '\n', (size_t)(blank + 2 - line)), *end = feed - 1;
        next = feed + 1;
        if (end < line || *end != '\r')
            return &bad_request;
        const struct text *refusal = (line == head ? read_request_line : read_header)(&r, line, end);
        if (refusal != NULL)
            return refusal;
    }
    if (!r.old && !r.host)
        return &bad_request;
    if (r.close || (r.old && !r.keep))
        return &answers[r.head][CLOSE];
    return &answers[r.head][r.old ? KEEP : PLAIN];
}

/* closes is true for the answer to a good request after which the connection ends. */
static bool closes(const struct text *reply)
{
    return reply == &answers[0][CLOSE] || reply == &answers[1][CLOSE];
}

static bool keeps(const struct text *reply)
{
    return reply == &answers[0][PLAIN] || reply == &answers[0][KEEP] || reply == &answers[1][PLAIN] || reply == &answers[1][KEEP];
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
        const struct text *reply = parse_head(input + begin, next - begin);
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
    if (c->last == NULL && c->used == HEAD_MAX)
        c->last = &bad_head;
}

enum flushed { ALL, BLOCKED, LAST, BROKEN };

/* flush writes what is owed: ALL of it, or until the socket is BLOCKED or BROKEN, or the connection's LAST answer is out. */
static enum flushed flush(struct conn *c, char *input)
{
    for (;;) {
        if (c->owed == 0 && c->last == NULL && c->scanned < c->used)
            parse_input(c, input);
        const struct text *reply = c->owed > 0 ? c->kept : c->last;
        if (reply == NULL)
            return ALL;
        size_t count = c->owed == 0 ? 1 : c->owed < BATCH ? c->owed : BATCH;
        ssize_t wrote = send(c->fd, reply->data + c->sent, count * reply->size - c->sent, MSG_NOSIGNAL);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? BLOCKED : BROKEN;
        c->sent += (size_t)wrote;
        if (c->owed == 0 && c->sent == reply->size)
            return LAST;
        while (c->owed > 0 && c->sent >= reply->size) {
            c->sent -= reply->size;
            c->owed--;
        }
    }
}

/* hold keeps input that has to wait. It returns false when there is no memory. */
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

/* await_input gives the client the time for what it has to send next. That of a request begins once, however many pieces it comes in. */
static void await_input(struct conn *c)
{
    if (c->used == 0)
        allow(c, IDLE_TICKS);
    else if (!c->begun)
        allow(c, REQUEST_TICKS);
    c->begun = c->used > 0;
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
        *c = (struct conn){.next = conns.next, .previous = &conns, .fd = fd, .events = EPOLLIN, .kept = &answers[0][PLAIN]};
        conns.next = c->next->previous = c;
        allow(c, REQUEST_TICKS);
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

/* watch_new makes epoll report what a new descriptor has to read under a name. */
static void watch_new(int fd, void *name)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = name};
    if (epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0)
        die("epoll: epoll_ctl");
}

/* open_signals makes SIGTERM and SIGINT something to read. */
static int open_signals(void)
{
    sigset_t end;
    sigemptyset(&end);
    sigaddset(&end, SIGTERM);
    sigaddset(&end, SIGINT);
    sigprocmask(SIG_BLOCK, &end, NULL);
    int fd = signalfd(-1, &end, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        die("epoll: signalfd");
    return fd;
}

/* open_clock makes each second something to read. */
static int open_clock(void)
{
    const struct itimerspec second = {.it_interval = {.tv_sec = 1}, .it_value = {.tv_sec = 1}};
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (fd < 0 || timerfd_settime(fd, 0, &second, NULL) < 0)
        die("epoll: timerfd");
    return fd;
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
        bool told = c->begun && c->last == NULL;
        if (told)
            c->last = &too_late;
        if (!told || !push(c, c->held))
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
            die("epoll: epoll_wait");
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
        die("epoll: epoll_create1");
    watch_new(listener, &conns);
    watch_new(ending, &signals);
    watch_new(clock, &timer);
    serve(listener, clock);
    while (conns.next != &conns)
        conn_close(conns.next);
    return 0;
}
