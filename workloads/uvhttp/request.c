#include "request.h"

#include <stdio.h>
#include <strings.h>

#include "conn.h"
#include "reply.h"

struct uvhttp_request *request_new(struct server *s, const struct route *route, const struct head *h, const char *data, struct text path,
                                   const struct text *params)
{
    struct uvhttp_request *r = s->waiting < REQUESTS_MAX ? pool_take(&s->requests) : NULL;
    if (r == NULL)
        return NULL;
    memset(r, 0, offsetof(struct uvhttp_request, lines));
    s->waiting++;
    r->server = s;
    r->route = route;
    r->head = *h;
    r->content.fd = -1;
    memcpy(r->bytes, data, h->size);
    r->path = (struct text){r->bytes + h->path.at, path.size};
    if (path.data != data + h->path.at) {
        memcpy(r->clean, path.data, path.size);
        r->path.data = r->clean;
    }
    for (size_t i = 0; i < route->params; i++)
        r->params[i] = (struct text){r->path.data + (params[i].data - path.data), params[i].size};
    return r;
}

void request_free(struct uvhttp_request *r)
{
    struct server *s = r->server;
    if (r->body != NULL)
        server_let_go(s, r->body, OUT_MAX);
    if (r->copy != NULL)
        server_let_go(s, r->copy, r->content.size);
    s->waiting--;
    pool_give(&s->requests, r);
}

void request_part(struct uvhttp_request *r)
{
    r->conn = NULL;
    if (r->state == REQUEST_READ || r->state == REQUEST_ANSWERED)
        request_free(r);
    else if (r->state == REQUEST_WAITING && r->gone.handler != NULL)
        r->gone.handler(r, r->gone.data); /* and then it may be no more */
}

static struct uvhttp_text shown(struct text t)
{
    return (struct uvhttp_text){t.data, t.size};
}

enum uvhttp_method uvhttp_method(const struct uvhttp_request *request)
{
    return (enum uvhttp_method)request->head.method;
}

struct uvhttp_text uvhttp_path(const struct uvhttp_request *request)
{
    return shown(request->path);
}

struct uvhttp_text uvhttp_query(const struct uvhttp_request *request)
{
    struct text query = head_text(request->bytes, request->head.query);
    return query.size == 0 ? (struct uvhttp_text){NULL, 0} : shown(query);
}

struct uvhttp_text uvhttp_param(const struct uvhttp_request *request, const char *name)
{
    int i = route_param(request->route, (struct text){name, strlen(name)});
    return i < 0 ? (struct uvhttp_text){NULL, 0} : shown(request->params[i]);
}

struct uvhttp_text uvhttp_body(const struct uvhttp_request *request)
{
    return (struct uvhttp_text){request->body, request->body_size};
}

struct uvhttp_text uvhttp_header(const struct uvhttp_request *request, const char *name)
{
    return shown(head_find(request->bytes, request->head.size, (struct text){name, strlen(name)}));
}

uv_loop_t *uvhttp_loop(const struct uvhttp_request *request)
{
    return &request->server->loop;
}

unsigned uvhttp_instance(const struct uvhttp_request *request)
{
    return request->server->index;
}

bool uvhttp_gone(const struct uvhttp_request *request)
{
    return request->conn == NULL;
}

void uvhttp_when_gone(struct uvhttp_request *request, uvhttp_handler function, void *data)
{
    request->gone = (struct target){function, data};
}

/* is_value is true for what may stand behind the colon of a header. */
static bool is_value(const char *value)
{
    for (; *value != '\0'; value++) {
        if (((unsigned char)*value < ' ' && *value != '\t') || *value == 0x7f)
            return false;
    }
    return true;
}

bool uvhttp_add_header(struct uvhttp_request *request, const char *name, const char *value)
{
    static const char *const own[] = {"Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Date"};
    size_t size = strlen(name), room = sizeof(request->lines) - request->lines_size;
    if (!head_token((struct text){name, size}) || !is_value(value))
        return false;
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        if (strcasecmp(name, own[i]) == 0)
            return false;
    }
    if (size + strlen(value) + 4 > room) /* ": " and the end of the line */
        return false;
    char *to = request->lines + request->lines_size;
    memcpy(to, name, size);
    memcpy(to + size, ": ", 2);
    memcpy(to + size + 2, value, strlen(value));
    memcpy(to + size + 2 + strlen(value), "\r\n", 2);
    request->lines_size += size + strlen(value) + 4;
    return true;
}

/* fill makes the content of an answer. It returns the status that is to be answered instead when that cannot be, or 0. */
static int fill(struct uvhttp_request *r, int status, const char *type, const void *body, size_t size)
{
    bool at_once = r->state == REQUEST_HANDLED && size <= COPIED_MAX;
    const char *bytes = size > 0 ? body : "";
    char *head = r->answer_head;
    if (status < 200 || status > 599 || size > OUT_MAX || (type != NULL && (!is_value(type) || strlen(type) > 128)))
        return 500;
    if (status == 204 || status == 304)
        size = 0;
    else
        head += sprintf(head, "Content-Type: %s\r\nContent-Length: %zu\r\n", type != NULL ? type : "text/plain", size);
    memcpy(head, r->lines, r->lines_size);
    head += r->lines_size;
    bool own = r->body != NULL && bytes >= r->body && bytes + size <= r->body + r->body_size;
    if (size > 0 && !own && !at_once) {
        if ((r->copy = server_hold(r->server, size)) == NULL)
            return 503;
        memcpy(r->copy, bytes, size);
        bytes = r->copy;
    }
    r->content = (struct content){.head = {r->answer_head, (size_t)(head - r->answer_head)}, .bytes = bytes, .fd = -1, .size = size};
    return 0;
}

bool uvhttp_answer(struct uvhttp_request *request, int status, const char *type, const void *body, size_t size)
{
    struct uvhttp_request *r = request;
    if (r->state != REQUEST_HANDLED && r->state != REQUEST_WAITING)
        return false; /* a second answer */
    if (r->conn == NULL) {
        if (r->state == REQUEST_WAITING)
            request_free(r);
        return true;
    }
    int instead = fill(r, status, type, body, size);
    if (instead != 0) {
        r->lines_size = 0;
        (void)fill(r, instead, NULL, "", 0);
        status = instead;
    }
    r->status = status;
    if (r->state == REQUEST_HANDLED)
        conn_write(r->conn);
    else
        server_answered(r->server, r);
    return instead == 0;
}
