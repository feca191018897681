/*
 * The requests that ../epoll and ../uring take, and their answers: each GET is answered 200 "helloworld", each HEAD without the body. What
 * two servers could understand differently is refused.
 */
#ifndef HTTP_H
#define HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

enum {
    HEAD_MAX = 8192,  /* bytes of a request head */
    BATCH = 4 * 4 * 4 /* answers written at once */
};

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

#endif
