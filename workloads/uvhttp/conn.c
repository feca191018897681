#include "conn.h"

#include <errno.h>
#include <stdio.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

static const char refusal[] = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
static const size_t refusal_size = sizeof(refusal) - 1;

enum flushed { ALL, BLOCKED, BROKEN };

static void on_event(uv_poll_t *poll, int status, int events);

static void let_go(struct server *s, char **block, size_t size)
{
    if (*block != NULL)
        server_let_go(s, *block, size);
    *block = NULL;
}

/* answered lets go of what the last answer was made of. */
static void answered(struct conn *c)
{
    c->sending = NULL;
    if (c->reply.file != NULL)
        file_release(c->reply.file);
    c->reply.file = NULL;
    let_go(c->server, &c->echo_bytes, OUT_MAX);
}

static void on_closed(uv_handle_t *handle)
{
    struct conn *c = handle->data;
    pool_give(&c->server->conns, c);
}

void conn_close(struct conn *c)
{
    struct server *s = c->server;
    answered(c);
    let_go(s, &c->in, HEAD_MAX);
    let_go(s, &c->left, c->left_size);
    s->live[c->place] = s->live[--s->count];
    s->live[c->place]->place = c->place;
    if (c->refused)
        s->refusing--;
    uv_close((uv_handle_t *)&c->poll, on_closed);
    close(c->fd);
}

/* watch makes the loop wait for readability or writability. It returns false when the connection is to be closed. */
static bool watch(struct conn *c, int events)
{
    if (c->events == events)
        return true;
    c->events = events;
    return uv_poll_start(&c->poll, events, on_event) == 0;
}

/* send_some makes one system call. It returns what was sent, 0 for nothing at the moment, or -1 for a broken connection. */
static ssize_t send_some(struct conn *c, struct text gathered, size_t rest, size_t *asked)
{
    const struct content *body = c->sending;
    struct lender *lender = &c->server->lender;
    bool lend = rest > MEMORY_MAX && body->lasting && lender->room > 0;
    ssize_t n;
    if (gathered.size == 0 && lend) {
        n = lender_send(lender, c->fd, body->bytes + c->sent, rest, asked);
    } else if (gathered.size == 0 && body->bytes == NULL) {
        off_t at = (off_t)c->sent;
        *asked = rest < TURN_MAX ? rest : TURN_MAX;
        n = sendfile(c->fd, body->fd, &at, *asked);
        if (n == 0)
            return -1; /* the file has become shorter than its head said */
    } else if (rest > 0 && body->bytes != NULL && !lend) {
        struct iovec parts[2] = {{(void *)(uintptr_t)gathered.data, gathered.size}, {(void *)(uintptr_t)(body->bytes + c->sent), rest}};
        struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
        *asked = gathered.size + rest;
        n = sendmsg(c->fd, &message, MSG_NOSIGNAL);
    } else {
        *asked = gathered.size;
        n = send(c->fd, gathered.data, gathered.size, MSG_NOSIGNAL | (rest > 0 ? MSG_MORE : 0));
    }
    if (n < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR ? 0 : -1;
    return n;
}

/* flush sends what was gathered and the body behind it, as far as the socket takes it and as it is this connection's turn. */
static enum flushed flush(struct conn *c)
{
    struct server *s = c->server;
    struct text gathered = {s->out, s->out_used};
    size_t turn = 0;
    if (c->left != NULL)
        gathered = (struct text){c->left + c->left_at, c->left_size - c->left_at};
    s->out_used = 0;
    for (;;) {
        size_t rest = c->sending != NULL ? c->sending->size - c->sent : 0, asked = 0;
        if (gathered.size == 0 && rest == 0)
            break;
        ssize_t n = turn < TURN_MAX ? send_some(c, gathered, rest, &asked) : 0;
        if (n < 0)
            return BROKEN;
        size_t taken = (size_t)n < gathered.size ? (size_t)n : gathered.size;
        gathered = (struct text){gathered.data + taken, gathered.size - taken};
        c->sent += (size_t)n - taken;
        turn += (size_t)n;
        s->counters.sent_bytes += (uint64_t)n;
        if (n > 0 && (size_t)n == asked)
            continue;
        c->blocked = true;
        c->deadline = uv_now(&s->loop) + STALL_MS;
        if (gathered.size > 0 && c->left == NULL) {
            c->left = server_hold(s, gathered.size);
            if (c->left == NULL)
                return BROKEN;
            memcpy(c->left, gathered.data, gathered.size);
            c->left_size = gathered.size;
            gathered.data = c->left;
        }
        if (c->left != NULL)
            c->left_at = (size_t)(gathered.data - c->left);
        return watch(c, UV_WRITABLE) ? BLOCKED : BROKEN;
    }
    let_go(s, &c->left, c->left_size);
    if (c->sending != NULL) /* else there may be a request under way, whose body is not yet complete */
        answered(c);
    c->blocked = false;
    return ALL;
}

/* answer writes the answer that was decided on. It returns false when the connection is broken. */
static bool answer(struct conn *c)
{
    struct reply *r = &c->reply;
    c->phase = READ_HEAD;
    c->timed = false;
    c->last = r->close;
    head_begin(&c->head);
    if (!reply_write(c->server, r)) {
        answered(c);
        return true;
    }
    c->sending = r->content;
    c->sent = 0;
    return flush(c) != BROKEN;
}

/* refuse answers what cannot be understood or is too much, and ends the connection. */
static bool refuse(struct conn *c, int status)
{
    answered(c);
    c->reply = (struct reply){.status = status, .close = true};
    c->unread = true;
    return answer(c);
}

/* begin_body decides whether the body is wanted before it comes. */
static bool begin_body(struct conn *c)
{
    struct server *s = c->server;
    bool echo = c->reply.status == 200 && c->reply.handler == SERVE_ECHO;
    if (c->head.length > BODY_MAX)
        return refuse(c, 413);
    if (c->head.expects && c->reply.status != 200) {
        c->reply.close = c->unread = true; /* the client has not sent its body yet, and need not */
        return answer(c);
    }
    if (echo && (c->echo_bytes = server_hold(s, OUT_MAX)) == NULL)
        return refuse(c, 503);
    if (c->head.expects) {
        static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
        memcpy(s->out + s->out_used, go_on, sizeof(go_on) - 1);
        s->out_used += sizeof(go_on) - 1;
    }
    if (c->head.chunked)
        body_begin_chunked(&c->body);
    else
        body_begin_length(&c->body, c->head.length);
    if (echo) {
        c->echo = (struct content){.bytes = c->echo_bytes, .fd = -1};
        c->reply.content = &c->echo;
    }
    c->phase = READ_BODY;
    c->timed = false; /* the body has a deadline of its own */
    return true;
}

/* take_body reads a body as far as it has come, and answers when it is complete. */
static bool take_body(struct conn *c, struct text *input)
{
    struct text piece;
    int result;
    while ((result = body_read(&c->body, input, &piece)) == BODY_PIECE) {
        c->server->counters.body_bytes += piece.size;
        if (c->echo_bytes == NULL)
            continue;
        memcpy(c->echo_bytes + c->echo.size, piece.data, piece.size);
        c->echo.size += piece.size;
    }
    if (result == BODY_MORE)
        return true;
    if (result != BODY_DONE)
        return refuse(c, result);
    if (c->echo_bytes != NULL) {
        int n = snprintf(c->echo_head, sizeof(c->echo_head), "Content-Type: application/octet-stream\r\nContent-Length: %zu\r\n", c->echo.size);
        c->echo.head = (struct text){c->echo_head, (size_t)n};
    }
    return answer(c);
}

/* work answers the requests in input, as far as they are complete and their answers go out. It returns false when broken. */
static bool work(struct conn *c, struct text *input)
{
    struct server *s = c->server;
    while (!c->last && !c->blocked) {
        if (OUT_MAX - s->out_used < REPLY_HEAD_MAX + COPIED_MAX) {
            enum flushed flushed = flush(c);
            if (flushed != ALL)
                return flushed == BLOCKED;
        }
        if (c->phase == READ_HEAD) {
            int result = head_read(&c->head, input->data, input->size);
            if (result == HEAD_MORE)
                return true;
            if (result != HEAD_DONE)
                return refuse(c, result);
            reply_decide(s, &c->head, input->data, &c->reply);
            *input = (struct text){input->data + c->head.size, input->size - c->head.size};
            bool body = c->head.chunked || c->head.length > 0 || (c->reply.status == 200 && c->reply.handler == SERVE_ECHO);
            if (!(body ? begin_body(c) : answer(c)))
                return false;
        } else {
            if (!take_body(c, input))
                return false;
            if (c->phase == READ_BODY)
                return true;
        }
    }
    return true;
}

/* keep holds on to input that could not be used yet. It returns false when there is no place for it. */
static bool keep(struct conn *c, struct text input)
{
    if (input.size == 0) {
        let_go(c->server, &c->in, HEAD_MAX);
    } else if (c->in == NULL) {
        c->in = server_hold(c->server, HEAD_MAX);
        if (c->in == NULL)
            return false;
        memcpy(c->in, input.data, input.size);
    } else if (input.data != c->in) {
        memmove(c->in, input.data, input.size);
    }
    c->in_used = input.size;
    return true;
}

/* finish ends a connection whose last answer is out. */
static bool finish(struct conn *c)
{
    if (!c->unread)
        return false;
    /* Closing with unread input would reset the connection, and might take the answer away from the client. */
    c->phase = LINGER;
    c->deadline = uv_now(&c->server->loop) + LINGER_MS;
    return shutdown(c->fd, SHUT_WR) == 0 && watch(c, UV_READABLE);
}

/* feed works on input and decides what comes next. It returns false when the connection is to be closed. */
static bool feed(struct conn *c, struct text input)
{
    if (!work(c, &input))
        return false;
    if (!c->blocked && flush(c) == BROKEN)
        return false;
    if (c->last && input.size > 0) {
        c->unread = true;
        input.size = 0;
    }
    if (!keep(c, input) && (c->blocked || !refuse(c, 503) || flush(c) == BROKEN))
        return false;
    if (c->blocked)
        return true;
    if (c->last)
        return finish(c);
    if (!c->timed) {
        c->timed = c->in_used > 0 || c->phase == READ_BODY;
        c->deadline = uv_now(&c->server->loop) + (c->timed ? HEAD_MS : IDLE_MS);
    }
    return watch(c, UV_READABLE);
}

/* pull reads once. It returns false when the connection is to be closed. */
static bool pull(struct conn *c)
{
    struct server *s = c->server;
    char *to = c->in != NULL ? c->in : s->in;
    size_t used = c->in != NULL ? c->in_used : 0;
    if (c->phase == LINGER) {
        ssize_t n = recv(c->fd, s->in, sizeof(s->in), 0);
        if (n > 0)
            c->discarded += (size_t)n;
        return c->discarded < DISCARD_MAX && (n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)));
    }
    ssize_t n = recv(c->fd, to + used, HEAD_MAX - used, 0);
    if (n <= 0)
        return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
    c->unread = (size_t)n == HEAD_MAX - used;
    return feed(c, (struct text){to, used + (size_t)n});
}

/* push goes on with answers that had to wait. It returns false when the connection is to be closed. */
static bool push(struct conn *c)
{
    switch (flush(c)) {
    case BLOCKED:
        return true;
    case BROKEN:
        return false;
    case ALL:
        break;
    }
    if (c->last)
        return finish(c);
    return feed(c, (struct text){c->in, c->in_used});
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    (void)events; /* only one is watched for at a time */
    if (status < 0 || !(c->blocked ? push(c) : pull(c)))
        conn_close(c);
}

void conn_look(struct conn *c, uint64_t now)
{
    if (now < c->deadline)
        return;
    c->server->counters.timeouts++;
    if (c->blocked || c->phase == LINGER || !c->timed || !refuse(c, 408) || flush(c) != ALL || !finish(c))
        conn_close(c);
}

void conn_drain(struct conn *c)
{
    if (c->blocked || c->phase == LINGER)
        c->last = c->unread = true;
    else if (!pull(c) || (!c->blocked && !c->timed && c->phase == READ_HEAD))
        conn_close(c);
}

void conn_turn_away(int fd)
{
    char rubbish[HEAD_MAX];
    (void)!send(fd, refusal, refusal_size, MSG_NOSIGNAL);
    (void)!recv(fd, rubbish, sizeof(rubbish), MSG_DONTWAIT);
    close(fd);
}

void conn_open(struct server *s, int fd, bool refused)
{
    struct conn *c = pool_take(&s->conns);
    if (c != NULL)
        memset(c, 0, sizeof(*c));
    if (c == NULL || uv_poll_init(&s->loop, &c->poll, fd) != 0) {
        conn_turn_away(fd);
        if (c != NULL)
            pool_give(&s->conns, c);
        return;
    }
    c->poll.data = c;
    c->server = s;
    c->fd = fd;
    c->place = s->count;
    s->live[s->count++] = c;
    c->deadline = uv_now(&s->loop) + IDLE_MS;
    head_begin(&c->head);
    if (refused) {
        c->refused = c->unread = true;
        s->refusing++;
        if (send(fd, refusal, refusal_size, MSG_NOSIGNAL) != (ssize_t)refusal_size || !finish(c))
            conn_close(c);
        return;
    }
    if (!watch(c, UV_READABLE))
        conn_close(c);
}
