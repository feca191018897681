/* Lines for people: when, how bad, and what. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "internal.h"

/* begin_line puts the time and the level at the beginning of a line, and returns how long that is. */
static size_t begin_line(char line[LZLOG_PRINT_MAX], enum lzlog_level level)
{
    static const char *const names[] = {"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"};
    struct timespec now;
    struct tm utc;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    size_t size = strftime(line, LZLOG_PRINT_MAX, "%Y-%m-%dT%H:%M:%S", &utc);
    return size + (size_t)snprintf(line + size, LZLOG_PRINT_MAX - size, ".%06ldZ %-5s ", now.tv_nsec / 1000, names[level]);
}

void lzlog_set_level(struct lzlog_writer *writer, enum lzlog_level least)
{
    writer->least = least;
}

/* sequence_size is the length of the UTF-8 sequence at the beginning of some bytes; 0 if there is none. */
static size_t sequence_size(const uint8_t *from, size_t size)
{
    size_t length = from[0] < 0x80 ? 1 : from[0] >= 0xC2 && from[0] < 0xE0 ? 2 : from[0] >= 0xE0 && from[0] < 0xF0 ? 3 : from[0] >= 0xF0 && from[0] < 0xF5 ? 4 : 0;
    if (length > size)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((from[i] & 0xC0) != 0x80)
            return 0;
    }
    return length;
}

/* ends_line tells whether a sequence is a control character, or another that a viewer may take for the end of a line. */
static bool ends_line(const uint8_t *from, size_t length)
{
    static const uint8_t separators[2] = {0xE2, 0x80}; /* U+2028, U+2029 */
    return (length == 1 && ((from[0] < ' ' && from[0] != '\t') || from[0] == 0x7F)) || (length == 2 && from[0] == 0xC2 && from[1] < 0xA0) ||
           (length == 3 && memcmp(from, separators, 2) == 0 && (from[2] == 0xA8 || from[2] == 0xA9));
}

size_t lzlog_escape(const void *data, size_t size, char to[LZLOG_ESCAPED], size_t *written)
{
    const uint8_t *from = data;
    size_t length = sequence_size(from, size);
    if (length == 0 || ends_line(from, length)) {
        length = length == 0 ? 1 : length;
        *written = 0;
        for (size_t i = 0; i < length; i++)
            *written += (size_t)snprintf(to + *written, LZLOG_ESCAPED - *written, from[i] == '\n' ? "\\n" : "\\x%02x", from[i]);
    } else {
        memcpy(to, from, length);
        *written = length;
    }
    return length;
}

enum lzlog_status lzlog_print(struct lzlog_writer *writer, enum lzlog_level level, const char *format, ...)
{
    char line[LZLOG_PRINT_MAX], text[LZLOG_PRINT_MAX], escaped[LZLOG_ESCAPED];
    if (level < writer->least)
        return LZLOG_OK;
    size_t size = begin_line(line, level), length;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (wanted < 0)
        return LZLOG_BAD_SIZE;
    for (size_t i = 0, all = strlen(text); i < all; size += length) {
        i += lzlog_escape(text + i, all - i, escaped, &length);
        if (size + length >= sizeof(line))
            break;
        memcpy(line + size, escaped, length);
    }
    return lzlog_write(writer, line, size);
}
