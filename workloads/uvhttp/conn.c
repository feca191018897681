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
    if (c->reply.request != NULL)
        request_part(c->reply.request);
    c->reply.request = NULL;
    c->waiting = false;
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

/* send_off sends the body of an answer whose head was written, if it is apart. It returns false when the connection is broken. */
static bool send_off(struct conn *c, bool apart)
{
    c->phase = READ_HEAD;
    c->timed = false;
    c->last = c->reply.close;
    head_begin(&c->head);
    if (!apart) {
        answered(c);
        return true;
    }
    c->sending = c->reply.content;
    c->sent = 0;
    return flush(c) != BROKEN;
}

/* answer writes the answer that was decided on. It returns false when the connection is broken. */
static bool answer(struct conn *c)
{
    return send_off(c, reply_write(c->server, &c->reply));
}

void conn_write(struct conn *c)
{
    struct uvhttp_request *r = c->reply.request;
    r->state = REQUEST_ANSWERED;
    c->reply.status = r->status;
    c->reply.content = &r->content;
    r->apart = reply_write(c->server, &c->reply);
}

/* handle has a handler answer, now or later. It returns false when the connection is broken. */
static bool handle(struct conn *c)
{
    struct uvhttp_request *r = c->reply.request;
    const struct target *target = r->route->content;
    r->conn = c;
    r->state = REQUEST_HANDLED;
    target->handler(r, target->data);
    if (r->state == REQUEST_ANSWERED)
        return send_off(c, r->apart);
    r->state = REQUEST_WAITING;
    r->began = c->server->began != 0 ? c->server->began : uv_hrtime();
    c->phase = READ_HEAD;
    c->timed = false;
    c->waiting = c->unread = true; /* meanwhile more may come */
    return true;
}

/* go_on sends what a handler has answered later. It returns false when the connection is broken. */
static bool go_on(struct conn *c)
{
    struct uvhttp_request *r = c->reply.request;
    if (r->state != REQUEST_ANSWERED)
        return true;
    c->waiting = false;
    c->reply.close = c->reply.close || c->server->draining;
    times_add(&c->server->latency, uv_hrtime() - r->began);
    conn_write(c);
    return send_off(c, r->apart);
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
    struct uvhttp_request *r = c->reply.request;
    if (c->head.length > BODY_MAX)
        return refuse(c, 413);
    if (c->head.expects && c->reply.status != 200) {
        c->reply.close = c->unread = true; /* the client has not sent its body yet, and need not */
        return answer(c);
    }
    if (r != NULL && (r->body = server_hold(s, OUT_MAX)) == NULL)
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
    c->phase = READ_BODY;
    c->timed = false; /* the body has a deadline of its own */
    return true;
}

/* take_body reads a body as far as it has come, and answers when it is complete. */
static bool take_body(struct conn *c, struct text *input)
{
    struct uvhttp_request *r = c->reply.request;
    struct text piece;
    int result;
    while ((result = body_read(&c->body, input, &piece)) == BODY_PIECE) {
        c->server->counters.body_bytes += piece.size;
        if (r == NULL)
            continue;
        memcpy(r->body + r->body_size, piece.data, piece.size);
        r->body_size += piece.size;
    }
    if (result == BODY_MORE)
        return true;
    if (result != BODY_DONE)
        return refuse(c, result);
    return r != NULL ? handle(c) : answer(c);
}

/* work answers the requests in input, as far as they are complete and their answers go out. It returns false when broken. */
static bool work(struct conn *c, struct text *input)
{
    struct server *s = c->server;
    if (c->waiting && !go_on(c))
        return false;
    while (!c->last && !c->blocked && !c->waiting) {
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
            bool body = c->head.chunked || c->head.length > 0;
            if (!(body ? begin_body(c) : c->reply.request != NULL ? handle(c) : answer(c)))
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
    if (c->waiting) {
        c->deadline = uv_now(&c->server->loop) + c->server->owner->config.answer_milliseconds;
        return watch(c, UV_DISCONNECT);
    }
    if (c->last)
        return finish(c);
    if (!c->timed) {
        c->timed = c->in_used > 0 || c->phase == READ_BODY;
        c->deadline = uv_now(&c->server->loop) + (c->timed ? HEAD_MS : IDLE_MS);
    }
    return watch(c, UV_READABLE);
}

/* feed_timed feeds, and notes how long an answer took; one that comes later is noted when it comes. */
static bool feed_timed(struct conn *c, struct text input)
{
    struct server *s = c->server;
    uint64_t requests = s->counters.requests;
    s->until_timed = s->owner->config.time_every;
    s->began = uv_hrtime();
    bool good = feed(c, input);
    if (s->counters.requests != requests && !c->waiting)
        times_add(&s->latency, uv_hrtime() - s->began);
    s->began = 0;
    return good;
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
    struct text input = {to, used + (size_t)n};
    return --s->until_timed == 0 ? feed_timed(c, input) : feed(c, input);
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

/*
 * rest no longer watches a connection whose client sends no more while its answer is still to come. It may have gone, or wait for the
 * answer: nothing tells the one from the other before the answer is sent.
 */
static bool rest(struct conn *c)
{
    c->events = 0;
    return uv_poll_stop(&c->poll) == 0;
}

static void on_event(uv_poll_t *poll, int status, int events)
{
    struct conn *c = poll->data;
    (void)events; /* only one is watched for at a time */
    if (status < 0 || !(c->blocked ? push(c) : c->waiting ? rest(c) : pull(c)))
        conn_close(c);
}

void conn_resume(struct conn *c)
{
    if (!c->blocked && !feed(c, (struct text){c->in, c->in_used}))
        conn_close(c);
}

void conn_look(struct conn *c, uint64_t now)
{
    if (now < c->deadline)
        return;
    c->server->counters.timeouts++;
    int status = c->waiting ? 503 : 408;
    if (c->blocked || c->phase == LINGER || !(c->timed || c->waiting) || !refuse(c, status) || flush(c) != ALL || !finish(c))
        conn_close(c);
}

void conn_drain(struct conn *c)
{
    if (c->waiting)
        return; /* the answer will be the last */
    if (c->blocked || c->phase == LINGER)
        c->last = c->unread = true;
    else if (!pull(c) || (!c->blocked && !c->waiting && !c->timed && c->phase == READ_HEAD))
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
