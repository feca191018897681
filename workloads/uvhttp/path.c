#include "path.h"

#include <stdio.h>

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_dots(struct text part)
{
    return (part.size == 1 && part.data[0] == '.') || (part.size == 2 && part.data[0] == '.' && part.data[1] == '.');
}

int path_clean(struct text path, char *out, struct text *clean)
{
    size_t size = 0, part = 0;
    for (size_t i = 0; i < path.size; i++) {
        char c = path.data[i];
        if (c == '%') {
            if (path.size - i < 3 || hex(path.data[i + 1]) < 0 || hex(path.data[i + 2]) < 0)
                return 400;
            c = (char)(hex(path.data[i + 1]) << 4 | hex(path.data[i + 2]));
            i += 2;
            if (c == '\0' || c == '/')
                return 400;
        } else if (c == '/') {
            if (is_dots((struct text){out + part, size - part}))
                return 400;
            part = size + 1;
        }
        out[size++] = c;
    }
    if (is_dots((struct text){out + part, size - part}))
        return 400;
    *clean = (struct text){out, size};
    return 0;
}

bool path_hidden(struct text path)
{
    return (path.size > 0 && path.data[0] == '.') || memmem(path.data, path.size, "/.", 2) != NULL;
}

const char *path_type(struct text path)
{
    static const struct {
        struct text ending;
        const char *type;
    } types[] = {
        {TEXT_INIT(".txt"), "text/plain"},       {TEXT_INIT(".html"), "text/html; charset=utf-8"}, {TEXT_INIT(".css"), "text/css"},
        {TEXT_INIT(".js"), "text/javascript"},   {TEXT_INIT(".json"), "application/json"},         {TEXT_INIT(".png"), "image/png"},
        {TEXT_INIT(".svg"), "image/svg+xml"},    {TEXT_INIT(".jpg"), "image/jpeg"},                {TEXT_INIT(".webp"), "image/webp"},
        {TEXT_INIT(".wasm"), "application/wasm"}, {TEXT_INIT(".ico"), "image/x-icon"},             {TEXT_INIT(".woff2"), "font/woff2"},
    };
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct text e = types[i].ending;
        if (path.size > e.size && text_is((struct text){path.data + path.size - e.size, e.size}, e))
            return types[i].type;
    }
    return "application/octet-stream";
}

void date_write(char *out, time_t t)
{
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    struct tm tm;
    char text[64];
    if (gmtime_r(&t, &tm) == NULL || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900) {
        t = 0;
        gmtime_r(&t, &tm); /* a date that HTTP cannot write */
    }
    snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
             tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
    memcpy(out, text, DATE_SIZE);
}

bool date_read(struct text date, time_t *t)
{
    static const char *const forms[] = {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"};
    char text[40];
    if (date.size >= sizeof(text) || memchr(date.data, '\0', date.size) != NULL)
        return false;
    memcpy(text, date.data, date.size);
    text[date.size] = '\0';
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct tm tm = {0};
        const char *end = strptime(text, forms[i], &tm);
        if (end != NULL && *end == '\0') {
            *t = timegm(&tm);
            return true;
        }
    }
    return false;
}
