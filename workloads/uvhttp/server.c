#include "server.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn.h"
#include "mem.h"
#include "path.h"
#include "reply.h"

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
    void *block = s->held + pool->size <= HELD_MAX ? pool_take(pool) : NULL;
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
 * SIGTERM would then end by the signal a process that is about to exit with 0. Blocked, it is too late to matter.
 */
static void leave(struct server *s)
{
    if (uv_is_closing((uv_handle_t *)&s->tick))
        return;
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGINT);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    uv_close((uv_handle_t *)&s->tick, NULL);
    uv_close((uv_handle_t *)&s->term, NULL);
    uv_close((uv_handle_t *)&s->interrupt, NULL);
}

/* note_delay notes how much later than it was due the loop came to its clock: so long a request may have had to wait, too. */
static void note_delay(struct server *s, uint64_t now)
{
    uint64_t since = s->ticked == 0 || s->draining ? 0 : now - s->ticked;
    s->late_ms = since > TICK_MS ? since - TICK_MS : 0;
    if (s->late_ms > s->most_late_ms)
        s->most_late_ms = s->late_ms;
    s->ticked = now;
}

static void on_tick(uv_timer_t *timer)
{
    struct server *s = timer->data;
    uint64_t now = uv_now(&s->loop);
    note_delay(s, now);
    server_refresh(s);
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
static void drain(uv_signal_t *signal, int number)
{
    struct server *s = signal->data;
    (void)number;
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

static bool fail(const char *what, int error)
{
    fprintf(stderr, "uvhttp: %s: %s\n", what, strerror(error));
    return false;
}

/* raise_files lets the process have as many connections as it may, and fits their limit to that. */
static bool raise_files(struct server *s, unsigned wanted)
{
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return fail("getrlimit", errno);
    files.rlim_cur = files.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &files) < 0)
        return fail("setrlimit", errno);
    rlim_t most = files.rlim_cur > 2 * DESCRIPTORS_KEPT ? files.rlim_cur - DESCRIPTORS_KEPT : files.rlim_cur / 2;
    s->max = wanted > 0 ? wanted : CONNECTIONS_MAX;
    if (s->max > most) {
        s->max = (unsigned)most;
        if (wanted > 0)
            fprintf(stderr, "uvhttp: descriptors allow %u connections only\n", s->max);
    }
    return true;
}

static bool listen_on(struct server *s, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int one = 1;
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (s->listen_fd < 0)
        return fail("socket", errno);
    if (setsockopt(s->listen_fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address)) < 0 || listen(s->listen_fd, BACKLOG) < 0)
        return fail("listening", errno);
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
    if ((error = uv_signal_init(&s->loop, &s->term)) != 0 || (error = uv_signal_init(&s->loop, &s->interrupt)) != 0 ||
        (error = uv_signal_start(&s->term, drain, SIGTERM)) != 0 || (error = uv_signal_start(&s->interrupt, drain, SIGINT)) != 0)
        return fail_libuv("watching signals", error);
    return true;
}

static bool watch_listener(struct server *s)
{
    int error;
    s->listener.data = s->tick.data = s;
    if ((error = uv_poll_init(&s->loop, &s->listener, s->listen_fd)) != 0 || (error = uv_timer_init(&s->loop, &s->tick)) != 0 ||
        (error = uv_poll_start(&s->listener, UV_READABLE, on_connection)) != 0 ||
        (error = uv_timer_start(&s->tick, on_tick, TICK_MS, TICK_MS)) != 0)
        return fail_libuv("watching the listener", error);
    return true;
}

static bool set_up(struct server *s, const struct options *options)
{
    *s = (struct server){.conns.size = sizeof(struct conn), .inputs.size = HEAD_MAX, .outputs.size = OUT_MAX};
    s->listen_fd = s->spare_fd = -1;
    signal(SIGPIPE, SIG_IGN); /* sendfile has no MSG_NOSIGNAL */
    mem_serve_libuv();
    int error = uv_loop_init(&s->loop);
    if (error != 0)
        return fail_libuv("making the loop", error);
    server_refresh(s);
    lender_open(&s->lender);
    if (!raise_files(s, options->max_connections) || !files_open(&s->files, options->root) || !reply_routes(s))
        return false;
    s->live = mem_alloc((s->max + REFUSED_MAX + 1) * sizeof(struct conn *));
    return watch_signals(s) && listen_on(s, options->port) && watch_listener(s);
}

int server_run(const struct options *options)
{
    struct server *s = mem_alloc(sizeof(*s));
    if (!set_up(s, options))
        return 1; /* with everything that it holds: the process ends */
    printf("uvhttp: port %d, %u connections, %s %s, libuv %s\n", options->port, s->max, mem_name(), mem_version(), uv_version_string());
    fflush(stdout);
    int error = uv_run(&s->loop, UV_RUN_DEFAULT);
    if (error == 0)
        error = uv_loop_close(&s->loop);
    close(s->spare_fd);
    files_close(&s->files);
    pool_clear(&s->conns);
    pool_clear(&s->inputs);
    pool_clear(&s->outputs);
    mem_free(s->live);
    lend_unmap(s->page_room, s->page_size);
    lender_close(&s->lender);
    mem_free(s);
    uv_library_shutdown();
    return error == 0 ? 0 : 1;
}
