/* Lines for people: when, how bad, and what. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
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

enum lzlog_status lzlog_print(struct lzlog_writer *writer, enum lzlog_level level, const char *format, ...)
{
    char line[LZLOG_PRINT_MAX];
    if (level < writer->least)
        return LZLOG_OK;
    size_t size = begin_line(line, level), room = sizeof(line) - size;
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(line + size, room, format, arguments);
    va_end(arguments);
    if (wanted < 0)
        return LZLOG_BAD_SIZE;
    return lzlog_write(writer, line, size + ((size_t)wanted < room ? (size_t)wanted : room - 1));
}
