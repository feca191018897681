#include "server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn.h"
#include "mem.h"
#include "path.h"
#include "reply.h"
#include "request.h"

enum { BACKLOG = 4096, ACCEPT_MAX = 256 };

void *pool_take(struct pool *p)
{
    if (p->unused == NULL)
        return mem_try(p->size);
    struct block *block = p->unused;
    p->unused = block->next;
    p->kept -= p->size;
    return block;
}

void pool_give(struct pool *p, void *block)
{
    struct block *b = block;
    if (p->kept + p->size > POOL_MAX) {
        mem_free(b);
        return;
    }
    b->next = p->unused;
    p->unused = b;
    p->kept += p->size;
}

static void pool_clear(struct pool *p)
{
    while (p->unused != NULL) {
        struct block *b = p->unused;
        p->unused = b->next;
        mem_free(b);
    }
}

static struct pool *pool_for(struct server *s, size_t size)
{
    return size <= s->inputs.size ? &s->inputs : &s->outputs;
}

void *server_hold(struct server *s, size_t size)
{
    struct pool *pool = pool_for(s, size);
    void *block = s->held + pool->size <= s->held_max ? pool_take(pool) : NULL;
    if (block != NULL)
        s->held += pool->size;
    return block;
}

void server_let_go(struct server *s, void *block, size_t size)
{
    struct pool *pool = pool_for(s, size);
    pool_give(pool, block);
    s->held -= pool->size;
}

void server_refresh(struct server *s)
{
    time_t now = time(NULL);
    if (now == s->date)
        return;
    static const char begin[] = "HTTP/1.1 200 OK\r\nDate: ";
    const size_t size = sizeof(begin) - 1;
    memcpy(s->ok_line, begin, size);
    date_write(s->ok_line + size, now);
    memcpy(s->ok_line + size + DATE_SIZE, "\r\n", 2);
    s->ok_size = size + DATE_SIZE + 2;
    s->date = now;
    _Static_assert(sizeof(begin) + DATE_SIZE + 2 <= OK_LINE_MAX, "the line has room");
}

/* admit makes a connection of a socket, or refuses it when there are too many. */
static void admit(struct server *s, int fd)
{
    int one = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)); /* slower without, not wrong */
    if (s->count - s->refusing < s->max) {
        s->counters.accepted++;
        conn_open(s, fd, false);
        return;
    }
    s->counters.refused++;
    if (s->refusing < REFUSED_MAX) {
        conn_open(s, fd, true);
        return;
    }
    conn_turn_away(fd);
}

/* admit_spare answers one connection although descriptors have run out, lest the loop report it for ever. */
static void admit_spare(struct server *s)
{
    close(s->spare_fd);
    int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        s->counters.refused++;
        conn_turn_away(fd);
    }
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void accept_waiting(struct server *s, unsigned most)
{
    for (unsigned i = 0; i < most; i++) {
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0)
            admit(s, fd);
        else if ((errno == EMFILE || errno == ENFILE) && s->spare_fd >= 0)
            admit_spare(s);
        else if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

static void on_connection(uv_poll_t *poll, int status, int events)
{
    (void)status, (void)events; /* what is wrong with the listener, accept will say */
    accept_waiting(poll->data, ACCEPT_MAX);
}

/*
 * leave lets the loop end once there is nothing more to wait for. libuv gives a signal that nobody watches its default back: another
 * SIGTERM would then end by the signal a process that is about to exit with 0. Blocked, it is too late to matter. The threads of other
 * instances have it blocked from the beginning.
 */
static void leave(struct server *s)
{
    if (uv_is_closing((uv_handle_t *)&s->tick))
        return;
    uv_close((uv_handle_t *)&s->tick, NULL);
    uv_mutex_lock(&s->owner->lock);
    uv_close((uv_handle_t *)&s->wake, NULL);
    uv_mutex_unlock(&s->owner->lock);
    if (s->index > 0 || !s->owner->config.end_by_signal)
        return;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
}

/* note_delay notes how much later than it was due the loop came to its clock: so long a request may have had to wait, too. */
static void note_delay(struct server *s, uint64_t now)
{
    uint64_t since = s->ticked == 0 || s->draining ? 0 : now - s->ticked;
    s->late_ms = since > TICK_MS ? since - TICK_MS : 0;
    if (since > 0)
        times_add(&s->delay, s->late_ms * 1000000);
    if (s->late_ms > s->most_late_ms)
        s->most_late_ms = s->late_ms;
    s->ticked = now;
}

void server_account(struct server *s)
{
    const struct cache *c = &s->files.cache;
    struct account account = {
        .counters = s->counters,
        .open = s->count,
        .waiting = s->waiting,
        .held = s->held,
        .unused = s->inputs.kept + s->outputs.kept,
        .cache_files = c->files,
        .cache_bytes = c->bytes,
        .hits = c->hits,
        .misses = c->misses,
        .evictions = c->evictions,
        .reloads = c->changes,
        .late_ms = s->late_ms,
        .most_late_ms = s->most_late_ms,
        .latency = s->latency,
        .delay = s->delay,
    };
    uv_mutex_lock(&s->owner->lock);
    s->owner->accounts[s->index] = account;
    uv_mutex_unlock(&s->owner->lock);
}

void server_answered(struct server *s, struct uvhttp_request *request)
{
    request->state = REQUEST_QUEUED;
    *s->answered_end = request;
    s->answered_end = &request->next;
    uv_async_send(&s->wake);
}

/* send_answered sends what handlers have answered since, but not what they answer meanwhile. */
static void send_answered(struct server *s)
{
    struct uvhttp_request *next, *r = s->answered;
    s->answered = NULL;
    s->answered_end = &s->answered;
    for (; r != NULL; r = next) {
        next = r->next;
        r->next = NULL;
        r->state = REQUEST_ANSWERED;
        if (r->conn == NULL)
            request_free(r);
        else
            conn_resume(r->conn);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct server *s = timer->data;
    uint64_t now = uv_now(&s->loop);
    note_delay(s, now);
    server_refresh(s);
    server_account(s);
    send_answered(s); /* before the time of those who wait for it is over */
    for (unsigned i = s->count; i-- > 0;) {
        if (s->draining && now >= s->drain_by)
            conn_close(s->live[i]);
        else
            conn_look(s->live[i], now);
    }
    if (s->draining && s->count == 0)
        leave(s);
}

/*
 * drain stops listening. Who has sent a request gets its answer, but for no longer than DRAIN_MS; who has not is closed. The
 * connections that wait to be accepted are taken first, since closing the listener would reset them.
 */
static void drain(struct server *s)
{
    if (s->draining)
        return;
    s->draining = true;
    uv_update_time(&s->loop);
    s->drain_by = uv_now(&s->loop) + DRAIN_MS;
    accept_waiting(s, BACKLOG);
    uv_close((uv_handle_t *)&s->listener, NULL);
    close(s->listen_fd);
    for (unsigned i = s->count; i-- > 0;)
        conn_drain(s->live[i]);
    uv_timer_start(&s->tick, on_tick, 0, 10);
}

static void on_signal(uv_signal_t *signal, int number)
{
    struct server *s = signal->data;
    (void)number;
    uvhttp_stop(s->owner);
    drain(s); /* at once, lest a signal that follows find the server as it was */
}

static void on_wake(uv_async_t *wake)
{
    struct server *s = wake->data;
    send_answered(s);
    uv_mutex_lock(&s->owner->lock);
    bool ending = s->owner->ending;
    uv_mutex_unlock(&s->owner->lock);
    if (ending)
        drain(s);
}

static bool fail(const char *what, int error)
{
    fprintf(stderr, "uvhttp: %s: %s\n", what, strerror(error));
    return false;
}

/*
 * bind_to binds the socket that listens. Several instances share the port by SO_REUSEPORT, with which nobody would notice that another
 * server has it: the first of them tries without.
 */
static bool bind_to(struct server *s, const struct uvhttp_config *config)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)config->port)};
    int one = 1;
    if (config->address != NULL && inet_pton(AF_INET, config->address, &address.sin_addr) != 1)
        return fail(config->address, EADDRNOTAVAIL);
    for (bool probe = config->instances > 1 && s->index == 0;; probe = false) {
        s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (s->listen_fd < 0)
            return fail("socket", errno);
        if (setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
            (config->instances > 1 && !probe && setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof(one)) < 0) ||
            bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0)
            return fail("listening", errno);
        if (!probe)
            break;
        close(s->listen_fd);
    }
    s->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return s->spare_fd >= 0 || fail("opening /dev/null", errno);
}

static bool fail_libuv(const char *what, int error)
{
    fprintf(stderr, "uvhttp: %s: %s\n", what, uv_strerror(error));
    return false;
}

/* watch_signals comes before listening: whoever can connect may also ask for the end, and gets it once the loop runs. */
static bool watch_signals(struct server *s)
{
    int error;
    s->term.data = s->interrupt.data = s;
    if (s->index > 0 || !s->owner->config.end_by_signal)
        return true;
    if ((error = uv_signal_init(&s->loop, &s->term)) != 0 || (error = uv_signal_init(&s->loop, &s->interrupt)) != 0 ||
        (error = uv_signal_start(&s->term, on_signal, SIGTERM)) != 0 || (error = uv_signal_start(&s->interrupt, on_signal, SIGINT)) != 0)
        return fail_libuv("watching signals", error);
    return true;
}

static bool watch_listener(struct server *s)
{
    int error;
    s->listener.data = s->tick.data = s->wake.data = s;
    if ((error = uv_async_init(&s->loop, &s->wake, on_wake)) != 0 ||
        (error = uv_poll_init(&s->loop, &s->listener, s->listen_fd)) != 0 || (error = uv_timer_init(&s->loop, &s->tick)) != 0 ||
        (error = uv_poll_start(&s->listener, UV_READABLE, on_connection)) != 0 ||
        (error = uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS)) != 0)
        return fail_libuv("watching the listener", error);
    return true;
}

bool server_open(struct server *s, struct uvhttp *owner, unsigned index)
{
    const struct uvhttp_config *config = &owner->config;
    memset(s, 0, sizeof(*s));
    s->conns.size = sizeof(struct conn);
    s->inputs.size = HEAD_MAX;
    s->outputs.size = OUT_MAX;
    s->requests.size = sizeof(struct uvhttp_request);
    s->owner = owner;
    s->index = index;
    s->answered_end = &s->answered;
    s->until_timed = config->time_every;
    s->max = (owner->max + config->instances - 1) / config->instances;
    s->held_max = HELD_MAX / config->instances;
    s->router = owner->router;
    s->listen_fd = s->spare_fd = -1;
    int error = uv_loop_init(&s->loop);
    if (error != 0)
        return fail_libuv("making the loop", error);
    server_refresh(s);
    lender_open(&s->lender);
    if (!files_open(&s->files, config->root, CACHE_BYTES / config->instances))
        return false;
    if (config->warm)
        files_warm(&s->files, uv_now(&s->loop));
    s->live = mem_alloc((s->max + REFUSED_MAX + 1) * sizeof(struct conn *));
    return watch_signals(s) && bind_to(s, config) && watch_listener(s);
}

bool server_listen(struct server *s)
{
    return listen(s->listen_fd, BACKLOG) == 0 || fail("listening", errno);
}

bool server_run(struct server *s)
{
    int error = uv_run(&s->loop, UV_RUN_DEFAULT);
    send_answered(s); /* of connections that had ended */
    return error == 0;
}

void server_close(struct server *s)
{
    int error = uv_loop_close(&s->loop);
    if (error != 0)
        (void)fail_libuv("closing the loop", error);
    close(s->spare_fd);
    files_close(&s->files);
    pool_clear(&s->conns);
    pool_clear(&s->inputs);
    pool_clear(&s->outputs);
    pool_clear(&s->requests);
    mem_free(s->live);
    lender_close(&s->lender);
}
