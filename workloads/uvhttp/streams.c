/*
 * A server on libuv's own streams, as uvhttp was described, to measure uvhttp against: libuv reads into a buffer that it is given, and writes by
 * uv_try_write, and by uv_write what the socket does not take at once. The parser and the answer are uvhttp's, of `GET` for anything; what else
 * comes ends the connection. It has no time-outs, no routes and no limits.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <uv.h>

#include "head.h"
#include "limits.h"

enum { AT_ONCE = 64, ANSWER_MAX = 256, BACKLOG_MAX = 4096 };

struct client {
    uv_tcp_t tcp;
    struct head head;
    size_t used;
    char in[HEAD_MAX];
};

struct rest {
    uv_write_t write;
    char bytes[];
};

static char answers[AT_ONCE * ANSWER_MAX]; /* the same one, again and again */
static size_t answer_size;

/* date makes the answers anew, each second. */
static void date(uv_timer_t *timer)
{
    char answer[ANSWER_MAX];
    struct tm now;
    time_t seconds = time(NULL);
    (void)timer;
    answer_size = strftime(answer, sizeof(answer),
                           "HTTP/1.1 200 OK\r\nDate: %a, %d %b %Y %H:%M:%S GMT\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nhelloworld",
                           gmtime_r(&seconds, &now));
    for (size_t i = 0; i < AT_ONCE; i++)
        memcpy(answers + i * answer_size, answer, answer_size);
}

static void on_closed(uv_handle_t *handle)
{
    free(handle);
}

static void end(struct client *c)
{
    if (!uv_is_closing((uv_handle_t *)&c->tcp))
        uv_close((uv_handle_t *)&c->tcp, on_closed);
}

static void on_room(uv_handle_t *handle, size_t wanted, uv_buf_t *buffer)
{
    struct client *c = (struct client *)handle;
    (void)wanted;
    *buffer = uv_buf_init(c->in + c->used, (unsigned)(sizeof(c->in) - c->used));
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer);

static void on_written(uv_write_t *write, int status)
{
    struct client *c = (struct client *)write->handle;
    free(write);
    if (status < 0 || uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read) < 0)
        end(c);
}

/* wait_to_write keeps what the socket does not take, and reads no more meanwhile. */
static bool wait_to_write(struct client *c, const char *bytes, size_t size)
{
    struct rest *rest = malloc(sizeof(*rest) + size);
    if (rest == NULL)
        return false;
    memcpy(rest->bytes, bytes, size);
    uv_buf_t buffer = uv_buf_init(rest->bytes, (unsigned)size);
    uv_read_stop((uv_stream_t *)&c->tcp);
    if (uv_write(&rest->write, (uv_stream_t *)&c->tcp, &buffer, 1, on_written) == 0)
        return true;
    free(rest);
    return false;
}

/* answer writes n answers, AT_ONCE at most. */
static bool answer(struct client *c, size_t n)
{
    uv_buf_t buffer = uv_buf_init(answers, (unsigned)(n * answer_size));
    int taken = n == 0 ? 0 : uv_try_write((uv_stream_t *)&c->tcp, &buffer, 1);
    if (taken < 0 && taken != UV_EAGAIN)
        return false;
    size_t done = taken < 0 ? 0 : (size_t)taken;
    return done == buffer.len || wait_to_write(c, answers + done, buffer.len - done);
}

/* feed answers all requests that are whole. It returns false when the connection is to end. */
static bool feed(struct client *c)
{
    size_t at = 0, owed = 0;
    int result = HEAD_MORE;
    while (at < c->used && (result = head_read(&c->head, c->in + at, c->used - at)) == HEAD_DONE) {
        if (c->head.method != METHOD_GET || c->head.length > 0 || c->head.chunked || !head_keeps(&c->head))
            return false;
        at += c->head.size;
        head_begin(&c->head);
        if (++owed == AT_ONCE) {
            if (!answer(c, owed))
                return false;
            owed = 0;
        }
        result = HEAD_MORE;
    }
    c->used -= at;
    memmove(c->in, c->in + at, c->used);
    return result == HEAD_MORE && c->used < sizeof(c->in) && answer(c, owed);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer)
{
    struct client *c = (struct client *)stream;
    (void)buffer;
    if (n > 0)
        c->used += (size_t)n;
    if (n < 0 || !feed(c))
        end(c);
}

static void on_connection(uv_stream_t *listener, int status)
{
    struct client *c = status < 0 ? NULL : malloc(sizeof(*c));
    if (c == NULL || uv_tcp_init(listener->loop, &c->tcp) < 0) {
        free(c);
        return;
    }
    c->used = 0;
    head_begin(&c->head);
    if (uv_accept(listener, (uv_stream_t *)&c->tcp) < 0 || uv_tcp_nodelay(&c->tcp, 1) < 0 ||
        uv_read_start((uv_stream_t *)&c->tcp, on_room, on_read) < 0)
        end(c);
}

static void on_signal(uv_signal_t *signal, int number)
{
    (void)number;
    uv_stop(signal->loop);
}

int main(int argc, char **argv)
{
    uv_loop_t *loop = uv_default_loop();
    uv_tcp_t listener;
    uv_timer_t clock;
    uv_signal_t term;
    struct sockaddr_in address;
    char *rest = NULL;
    long port = argc == 2 && strncmp(argv[1], "--port=", 7) == 0 ? strtol(argv[1] + 7, &rest, 10) : 0;
    if (rest == NULL || *rest != '\0' || port < 1 || port > 65535) {
        fprintf(stderr, "usage: uvhttp-streams --port=PORT\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    date(NULL);
    int failed = uv_ip4_addr("0.0.0.0", (int)port, &address);
    failed = failed != 0 ? failed : uv_tcp_init(loop, &listener);
    failed = failed != 0 ? failed : uv_tcp_bind(&listener, (const struct sockaddr *)&address, 0);
    failed = failed != 0 ? failed : uv_listen((uv_stream_t *)&listener, BACKLOG_MAX, on_connection);
    failed = failed != 0 ? failed : uv_timer_init(loop, &clock);
    failed = failed != 0 ? failed : uv_timer_start(&clock, date, 1000, 1000);
    failed = failed != 0 ? failed : uv_signal_init(loop, &term);
    failed = failed != 0 ? failed : uv_signal_start(&term, on_signal, SIGTERM);
    if (failed != 0) {
        fprintf(stderr, "uvhttp-streams: port %ld: %s\n", port, uv_strerror(failed));
        return 1;
    }
    uv_run(loop, UV_RUN_DEFAULT);
    return 0;
}
