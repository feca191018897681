#include "head.h"

#include <string.h>
#include <strings.h>

#include "limits.h"

_Static_assert(HEAD_MAX <= UINT16_MAX, "spans have 16 bits");

enum { TOKEN = 1, VISIBLE = 2, VALUE = 4 };

#define V (VISIBLE | VALUE)
#define T (TOKEN | VISIBLE | VALUE)
/* What each byte may be: part of a token (a name), of a target (visible ASCII without '#'), of a header's value. */
static const unsigned char kind[256] = {
    ['\t'] = VALUE, [' '] = VALUE, ['!'] = T, ['"'] = V, ['#'] = T & ~VISIBLE, ['$' ... '\''] = T, ['('] = V, [')'] = V,
    ['*'] = T, ['+'] = T, [','] = V, ['-'] = T, ['.'] = T, ['/'] = V, ['0' ... '9'] = T, [':' ... '@'] = V,
    ['A' ... 'Z'] = T, ['['] = V, ['\\'] = V, [']'] = V, ['^' ... 'z'] = T, ['{'] = V, ['|'] = T, ['}'] = V, ['~'] = T,
    [0x80 ... 0xff] = VALUE,
};
#undef V
#undef T

static bool is(char c, int what)
{
    return (kind[(unsigned char)c] & what) != 0;
}

void head_begin(struct head *h)
{
    memset(h, 0, sizeof(*h));
}

bool head_keeps(const struct head *h)
{
    return !h->close && (!h->old || h->keep);
}

static enum method method_of(struct text name)
{
    if (text_same(name, TEXT("GET")))
        return METHOD_GET;
    if (text_same(name, TEXT("HEAD")))
        return METHOD_HEAD;
    if (text_same(name, TEXT("POST")))
        return METHOD_POST;
    if (text_same(name, TEXT("PUT")))
        return METHOD_PUT;
    if (text_same(name, TEXT("PATCH")))
        return METHOD_PATCH;
    if (text_same(name, TEXT("DELETE")))
        return METHOD_DELETE;
    return METHOD_OTHER;
}

/* take_query takes what follows a '?'. */
static void take_query(struct head *h, const char *data, const char *mark, const char *end)
{
    if (mark < end)
        h->query = (struct span){(uint16_t)(mark + 1 - data), (uint16_t)(end - mark - 1)};
}

/*
 * take_target finds the path in a target, which is a path with or without a query, or the same behind "http://host". There the path may
 * be empty, and then means "/": a slash of "http://" stands for it.
 */
static int take_target(struct head *h, const char *data, const char *begin, const char *end)
{
    const struct text scheme = TEXT("http://");
    if ((size_t)(end - begin) > scheme.size && text_is((struct text){begin, scheme.size}, scheme)) {
        const char *host = begin + scheme.size, *p = host;
        while (p < end && *p != '/' && *p != '?')
            p++;
        if (p == host)
            return 400;
        if (p == end || *p == '?') {
            h->path = (struct span){(uint16_t)(host - 1 - data), 1};
            take_query(h, data, p, end);
            return HEAD_MORE;
        }
        begin = p;
    }
    if (*begin != '/' && !(h->method >= METHOD_OTHER && end - begin == 1 && *begin == '*'))
        return 400;
    const char *p = begin + 1;
    for (char before = '/'; p < end && *p != '?'; before = *p++) {
        if (*p == '%' || (before == '/' && (*p == '/' || *p == '.')))
            h->odd_path = true;
    }
    h->path = (struct span){(uint16_t)(begin - data), (uint16_t)(p - begin)};
    take_query(h, data, p, end);
    return HEAD_MORE;
}

static int read_request_line(struct head *h, const char *data, const char *line, const char *end)
{
    const char *p = line;
    while (p < end && is(*p, TOKEN))
        p++;
    if (p == line || p == end || *p != ' ')
        return 400;
    h->method = method_of((struct text){line, (size_t)(p - line)});
    const char *target = ++p;
    while (p < end && is(*p, VISIBLE))
        p++;
    if (p == target || p == end || *p != ' ')
        return 400;
    if (p - target > TARGET_MAX)
        return 414;
    const char *version = p + 1;
    if (end - version != 8 || memcmp(version, "HTTP/", 5) != 0 || version[6] != '.')
        return 400;
    if (version[5] != '1' || (version[7] != '1' && version[7] != '0'))
        return version[5] >= '0' && version[5] <= '9' && version[7] >= '0' && version[7] <= '9' ? 505 : 400;
    h->old = version[7] == '0';
    h->started = true;
    return take_target(h, data, target, p);
}

/* next_item cuts the next item off a comma-separated list, without the blanks around it. */
static bool next_item(struct text *list, struct text *item)
{
    const char *p = list->data, *end = p + list->size;
    while (p < end && (*p == ',' || *p == ' ' || *p == '\t'))
        p++;
    if (p == end)
        return false;
    const char *begin = p;
    while (p < end && *p != ',')
        p++;
    *list = (struct text){p, (size_t)(end - p)};
    while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    *item = (struct text){begin, (size_t)(p - begin)};
    return true;
}

static void take_connection(struct head *h, struct text value)
{
    struct text item;
    while (next_item(&value, &item)) {
        h->close = h->close || text_is(item, TEXT("close"));
        h->keep = h->keep || text_is(item, TEXT("keep-alive"));
    }
}

/* take_length reads digits. A length beyond counting is kept as the largest number, which is refused for its size. */
static int take_length(struct head *h, struct text value)
{
    if (h->has_length || h->chunked || value.size == 0)
        return 400;
    for (size_t i = 0; i < value.size; i++) {
        if (value.data[i] < '0' || value.data[i] > '9')
            return 400;
        uint64_t digit = (uint64_t)(value.data[i] - '0');
        h->length = h->length > (UINT64_MAX - digit) / 10 ? UINT64_MAX : h->length * 10 + digit;
    }
    h->has_length = true;
    return HEAD_MORE;
}

static int take_coding(struct head *h, struct text value)
{
    if (h->has_length || h->chunked || h->old)
        return 400;
    if (!text_is(value, TEXT("chunked")))
        return 501;
    h->chunked = true;
    return HEAD_MORE;
}

static void take_span(struct span *s, const char *data, struct text value)
{
    if (s->size == 0)
        *s = (struct span){(uint16_t)(value.data - data), (uint16_t)value.size};
}

/* take_header looks at the few headers that matter; the length of the name rules most others out. */
static int take_header(struct head *h, const char *data, struct text name, struct text value)
{
    switch (name.size) {
    case 4:
        if (text_is(name, TEXT("host"))) {
            if (h->host)
                return 400;
            h->host = true;
        }
        break;
    case 6:
        if (text_is(name, TEXT("expect"))) {
            if (!text_is(value, TEXT("100-continue")))
                return 417;
            h->expects = !h->old;
        }
        break;
    case 10:
        if (text_is(name, TEXT("connection")))
            take_connection(h, value);
        break;
    case 13:
        if (text_is(name, TEXT("if-none-match")))
            take_span(&h->if_none_match, data, value);
        break;
    case 14:
        if (text_is(name, TEXT("content-length")))
            return take_length(h, value);
        break;
    case 17:
        if (text_is(name, TEXT("transfer-encoding")))
            return take_coding(h, value);
        if (text_is(name, TEXT("if-modified-since")))
            take_span(&h->if_modified_since, data, value);
        break;
    }
    return HEAD_MORE;
}

static int read_header(struct head *h, const char *data, const char *line, const char *end)
{
    const char *p = line;
    while (p < end && is(*p, TOKEN))
        p++;
    if (p == line || p == end || *p != ':')
        return 400; /* a folded line, which begins with a blank, too */
    struct text name = {line, (size_t)(p - line)};
    for (p++; p < end && (*p == ' ' || *p == '\t');)
        p++;
    const char *value = p;
    while (p < end && is(*p, VALUE))
        p++;
    if (p < end)
        return 400;
    while (p > value && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return take_header(h, data, name, (struct text){value, (size_t)(p - value)});
}

static int finish(struct head *h)
{
    if (!h->old && !h->host)
        return 400;
    return HEAD_DONE;
}

int head_read(struct head *h, const char *data, size_t size)
{
    size_t most = size < HEAD_MAX ? size : HEAD_MAX;
    while (h->scanned < most) {
        const char *feed = memchr(data + h->scanned, '\n', most - h->scanned);
        if (feed == NULL) {
            h->scanned = (uint32_t)most;
            break;
        }
        const char *line = data + h->line, *end = feed - 1;
        h->line = h->scanned = (uint32_t)(feed + 1 - data);
        if (end < line || *end != '\r')
            return 400;
        int result = HEAD_MORE;
        if (h->started && end == line) {
            h->size = h->line;
            return finish(h);
        }
        if (h->started)
            result = read_header(h, data, line, end);
        else if (end > line) /* blank lines before a request are left out, as RFC 9112 wishes */
            result = read_request_line(h, data, line, end);
        if (result != HEAD_MORE)
            return result;
    }
    if (size >= HEAD_MAX)
        return h->started ? 431 : 414;
    return HEAD_MORE;
}

bool head_token(struct text name)
{
    for (size_t i = 0; i < name.size; i++) {
        if (!is(name.data[i], TOKEN))
            return false;
    }
    return name.size > 0;
}

static bool same_name(struct text a, struct text b)
{
    return a.size == b.size && strncasecmp(a.data, b.data, a.size) == 0;
}

struct text head_find(const char *data, size_t size, struct text name)
{
    const char *end = data + size, *line = data, *feed;
    /* Neither the request line nor a blank one before it begins with a name and a colon: no token holds a blank or a carriage return. */
    for (; line < end && (feed = memchr(line, '\n', (size_t)(end - line))) != NULL; line = feed + 1) {
        const char *p = line, *last = feed - 1;
        while (p < last && is(*p, TOKEN))
            p++;
        if (p == last || *p != ':' || !same_name((struct text){line, (size_t)(p - line)}, name))
            continue;
        for (p++; p < last && (*p == ' ' || *p == '\t');)
            p++;
        while (last > p && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        return (struct text){p, (size_t)(last - p)};
    }
    return (struct text){NULL, 0};
}
