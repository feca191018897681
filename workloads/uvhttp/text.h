/* A piece of memory that somebody else owns. */
#ifndef UVHTTP_TEXT_H
#define UVHTTP_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct text {
    const char *data;
    size_t size;
};

#define TEXT(s) ((struct text){(s), sizeof(s) - 1})
#define TEXT_INIT(s) {(s), sizeof(s) - 1}

static inline bool text_same(struct text a, struct text b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

/* text_is compares with lower-case letters, digits and dashes, whatever the case of a. */
static inline bool text_is(struct text a, struct text lower)
{
    if (a.size != lower.size)
        return false;
    for (size_t i = 0; i < a.size; i++) {
        char c = a.data[i];
        if (c >= 'A' && c <= 'Z')
            c = (char)(c | 0x20);
        if (c != lower.data[i])
            return false;
    }
    return true;
}

#endif
