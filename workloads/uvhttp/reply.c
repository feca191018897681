#include "reply.h"

#include <stdio.h>

#include "path.h"
#include "request.h"

static void decide_file(struct server *s, const struct head *h, const char *data, struct text path, size_t prefix, struct reply *r)
{
    struct text name = {path.data + prefix, path.size - prefix};
    r->file = files_get(&s->files, name, uv_now(&s->loop), &r->status);
    if (r->file == NULL)
        return;
    r->content = &r->file->content;
    r->status = 200;
    if (file_unchanged(r->file, head_text(data, h->if_none_match), head_text(data, h->if_modified_since)))
        r->status = 304;
}

void reply_decide(struct server *s, const struct head *h, const char *data, struct reply *r)
{
    char clean[TARGET_MAX];
    struct text path = head_text(data, h->path);
    *r = (struct reply){.status = 200, .close = !head_keeps(h) || s->draining, .head_only = h->method == METHOD_HEAD};
    r->tell_keep = h->old && !r->close;
    if (h->odd_path && (r->status = path_clean(path, clean, &path)) != 0)
        return;
    struct text params[PARAMS_MAX]; /* of a route that has some */
    unsigned allowed = 0;
    const struct route *route = router_find(&s->router, path);
    if (route == NULL && s->router.pattern_count > 0)
        route = router_match(&s->router, path, h->method, params, &allowed);
    for (; route != NULL && (route->methods & h->method) == 0; route = router_next(&s->router, route))
        allowed |= route->methods;
    r->status = 200;
    if (route == NULL) {
        r->status = allowed != 0 ? 405 : 404;
        r->allowed = allowed;
        return;
    }
    r->handler = (enum handler)route->handler;
    if (r->handler == SERVE_FILE)
        decide_file(s, h, data, path, route->path.size, r);
    else if (r->handler != SERVE_HANDLER)
        r->content = route->content;
    else if ((r->request = request_new(s, route, h, data, path, params)) == NULL)
        r->status = 503;
}

static char *put(char *to, struct text t)
{
    memcpy(to, t.data, t.size);
    return to + t.size;
}

static const char *reason(int status)
{
    switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 303: return "See Other";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 412: return "Precondition Failed";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    }
    return "Unknown";
}

/* put_allowed writes the methods that a path has. */
static char *put_allowed(char *to, unsigned allowed)
{
    static const struct {
        unsigned method;
        const char *name;
    } methods[] = {{METHOD_GET, "GET"}, {METHOD_HEAD, "HEAD"}, {METHOD_POST, "POST"}, {METHOD_PUT, "PUT"}, {METHOD_PATCH, "PATCH"}, {METHOD_DELETE, "DELETE"}};
    const char *before = "Allow: ";
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if ((allowed & methods[i].method) == 0)
            continue;
        to += sprintf(to, "%s%s", before, methods[i].name);
        before = ", ";
    }
    return put(to, TEXT("\r\n"));
}

/* put_line writes the status and the Date. */
static char *put_line(const struct server *s, char *to, int status)
{
    const size_t ok = sizeof("HTTP/1.1 200 OK\r\n") - 1;
    to += sprintf(to, "HTTP/1.1 %d %s\r\n", status, reason(status));
    return put(to, (struct text){s->ok_line + ok, s->ok_size - ok});
}

/* put_other begins an answer that is not a 200 and has no body. */
static char *put_other(const struct server *s, char *to, const struct reply *r)
{
    to = put_line(s, to, r->status);
    if (r->status == 304)
        return put(to, r->content->shared);
    if (r->status == 405)
        to = put_allowed(to, r->allowed);
    return put(to, TEXT("Content-Length: 0\r\n"));
}

bool reply_write(struct server *s, const struct reply *r)
{
    static const struct text ends[] = {TEXT_INIT("\r\n"), TEXT_INIT("Connection: close\r\n\r\n"), TEXT_INIT("Connection: keep-alive\r\n\r\n")};
    char stats[COPIED_MAX / 2], *p = s->out + s->out_used;
    struct text body = {NULL, 0};
    bool apart = false;
    s->counters.requests++;
    s->counters.answers[r->status / 100]++;
    if (r->status != 200 && r->content != NULL && r->handler == SERVE_HANDLER) {
        p = put_line(s, p, r->status);
        p = put(p, r->content->head);
        apart = r->content->size > COPIED_MAX;
        if (!apart)
            body = (struct text){r->content->bytes, r->content->size};
    } else if (r->status != 200) {
        p = put_other(s, p, r);
    } else if (r->handler == SERVE_STATS) {
        p = put(p, (struct text){s->ok_line, s->ok_size});
        body = (struct text){stats, stats_write(s, stats, sizeof(stats))};
        p += sprintf(p, "Content-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: %zu\r\n", body.size);
    } else {
        const struct content *content = r->content;
        p = put(p, (struct text){s->ok_line, s->ok_size});
        p = put(p, content->head);
        apart = content->bytes == NULL || content->size > COPIED_MAX;
        if (!apart)
            body = (struct text){content->bytes, content->size};
    }
    p = put(p, ends[r->close ? 1 : r->tell_keep ? 2 : 0]);
    if (!r->head_only && body.size > 0)
        p = put(p, body);
    s->out_used = (size_t)(p - s->out);
    return apart && !r->head_only;
}
