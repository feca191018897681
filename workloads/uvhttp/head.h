/*
 * The head of an HTTP/1.x request: request line and header lines, up to and with the blank line.
 *
 * The parser is incremental and pure. It is given everything of the head that has come so far, again and again, and looks at
 * no complete line twice. What it finds are offsets, so the bytes may move between two calls. It is strict: what two servers
 * could understand differently (bare line feeds, folded lines, blanks before a colon, two lengths) is refused.
 */
#ifndef UVHTTP_HEAD_H
#define UVHTTP_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum method { METHOD_GET = 1, METHOD_HEAD = 2, METHOD_POST = 4, METHOD_OTHER = 8, METHOD_PUT = 16, METHOD_PATCH = 32, METHOD_DELETE = 64 };

/* span is a part of the head; its size is 0 when the part is not there. */
struct span {
    uint16_t at, size;
};

struct head {
    uint32_t line;    /* where the line begins that is not yet complete */
    uint32_t scanned; /* up to here there is no end of that line */
    uint32_t size;    /* of the whole head, once it is done */
    enum method method;
    bool started;     /* the request line has been read */
    bool old;         /* HTTP/1.0 */
    bool host, close, keep, expects;
    bool odd_path;    /* the path has a '%', a "//" or a "/.": look closer before using it */
    bool has_length, chunked;
    uint64_t length;
    struct span path; /* without the query */
    struct span query; /* without the '?' */
    struct span if_none_match, if_modified_since;
};

enum { HEAD_MORE = 0, HEAD_DONE = 1 };

/* head_begin makes the parser ready for a request. */
void head_begin(struct head *h);

/* head_read returns HEAD_MORE, HEAD_DONE, or the status that the request is to be refused with. */
int head_read(struct head *h, const char *data, size_t size);

/* head_keeps is true when the connection outlives the request, as far as the client is concerned. */
bool head_keeps(const struct head *h);

/* head_token is true for what may be the name of a header. */
bool head_token(struct text name);

/* head_find returns the value of the first header of a name, in whatever case, in a whole head; or no text at all. */
struct text head_find(const char *data, size_t size, struct text name);

static inline struct text head_text(const char *data, struct span s)
{
    return (struct text){data + s.at, s.size};
}

#endif
