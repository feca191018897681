#include "reply.h"

#include <stdio.h>

#include "path.h"

enum { PAGE_HEAD = 96, SMALL = 1 << 10, MEDIUM = 10 << 10, LARGE = 100 << 10 };

static const char healthy[] = "ok\n";
static const char hello[] = "helloworld";
static const char json[] = "{\"message\":\"helloworld\",\"server\":\"uvhttp\"}\n";

/* add_page makes a page of known text, or of a repeated letter. */
static char *add_page(struct server *s, size_t i, char *room, struct text path, const char *type, const char *text, size_t size)
{
    int head = snprintf(room, PAGE_HEAD, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, size);
    char *bytes = room + head;
    if (text != NULL)
        memcpy(bytes, text, size);
    else
        memset(bytes, 'a' + (int)i, size);
    s->pages[i] = (struct content){.head = {room, (size_t)head}, .bytes = bytes, .fd = -1, .size = size, .lasting = true};
    struct route route = {.path = path, .methods = METHOD_GET | METHOD_HEAD, .handler = SERVE_PAGE, .content = &s->pages[i]};
    return router_add(&s->router, route) ? bytes + size : NULL;
}

bool reply_routes(struct server *s)
{
    static const struct {
        struct text path;
        const char *type, *text;
        size_t size;
    } pages[PAGES] = {
        {TEXT_INIT("/"), "text/plain", hello, sizeof(hello) - 1}, {TEXT_INIT("/json"), "application/json", json, sizeof(json) - 1},
        {TEXT_INIT("/small"), "text/plain", NULL, SMALL},         {TEXT_INIT("/medium"), "text/plain", NULL, MEDIUM},
        {TEXT_INIT("/large"), "text/plain", NULL, LARGE},         {TEXT_INIT("/health"), "text/plain", healthy, sizeof(healthy) - 1},
    };
    static const struct route others[] = {
        {.path = TEXT_INIT("/stats"), .methods = METHOD_GET | METHOD_HEAD, .handler = SERVE_STATS},
        {.path = TEXT_INIT("/static/"), .methods = METHOD_GET | METHOD_HEAD, .handler = SERVE_FILE},
        {.path = TEXT_INIT("/echo"), .methods = METHOD_POST, .handler = SERVE_ECHO},
    };
    for (size_t i = 0; i < PAGES; i++)
        s->page_size += PAGE_HEAD + pages[i].size;
    char *at = s->page_room = lend_memory(s->page_size);
    for (size_t i = 0; i < PAGES && at != NULL; i++)
        at = add_page(s, i, at, pages[i].path, pages[i].type, pages[i].text, pages[i].size);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]) && at != NULL; i++)
        at = router_add(&s->router, others[i]) ? at : NULL;
    return at != NULL;
}

static void decide_file(struct server *s, const struct head *h, const char *data, struct text path, struct reply *r)
{
    const size_t prefix = sizeof("/static/") - 1;
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
    const struct route *route = router_find(&s->router, path);
    r->status = 200;
    if (route == NULL) {
        r->status = 404;
    } else if ((route->methods & h->method) == 0) {
        r->status = 405;
        r->allowed = route->methods;
    } else if (route->handler == SERVE_FILE) {
        r->handler = SERVE_FILE;
        decide_file(s, h, data, path, r);
    } else {
        r->handler = route->handler;
        r->content = route->content;
    }
}

static char *put(char *to, struct text t)
{
    memcpy(to, t.data, t.size);
    return to + t.size;
}

static const char *reason(int status)
{
    switch (status) {
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 417: return "Expectation Failed";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    }
    return "Unknown";
}

/* put_other begins an answer that is not a 200. */
static char *put_other(const struct server *s, char *to, const struct reply *r)
{
    const size_t ok = sizeof("HTTP/1.1 200 OK\r\n") - 1;
    to += sprintf(to, "HTTP/1.1 %d %s\r\n", r->status, reason(r->status));
    to = put(to, (struct text){s->ok_line + ok, s->ok_size - ok}); /* the Date */
    if (r->status == 304)
        return put(to, r->content->shared);
    if (r->status == 405)
        to = put(to, r->allowed == METHOD_POST ? TEXT("Allow: POST\r\n") : TEXT("Allow: GET, HEAD\r\n"));
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
    if (r->status != 200) {
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
