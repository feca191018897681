/* The body of a request, by length or in chunks: an incremental, pure decoder. */
#ifndef UVHTTP_BODY_H
#define UVHTTP_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "text.h"

enum body_state { BODY_SIZE, BODY_BLANKS, BODY_EXTENSION, BODY_SIZE_LF, BODY_DATA, BODY_DATA_CR, BODY_DATA_LF, BODY_TRAILER, BODY_TRAILER_LF, BODY_END };

struct body {
    enum body_state state;
    int chunked;
    uint64_t left;  /* bytes of the chunk, or of the whole body, that are still to come */
    uint64_t total; /* bytes of all chunks so far */
    uint32_t line;  /* bytes of the size line, or of all trailers */
    uint32_t digits;
    uint32_t column; /* in a trailer line */
};

enum { BODY_MORE = 0, BODY_DONE = 1, BODY_PIECE = 2 };

void body_begin_length(struct body *b, uint64_t length);
void body_begin_chunked(struct body *b);

/*
 * body_read takes bytes off input. It returns BODY_PIECE with some content in piece (call again), BODY_MORE when input is used
 * up, BODY_DONE when the body is complete (input then holds what follows it), or the status to refuse the request with.
 */
int body_read(struct body *b, struct text *input, struct text *piece);

#endif
