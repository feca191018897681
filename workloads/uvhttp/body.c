#include "body.h"

#include "limits.h"

void body_begin_length(struct body *b, uint64_t length)
{
    *b = (struct body){.state = length > 0 ? BODY_DATA : BODY_END, .left = length};
}

void body_begin_chunked(struct body *b)
{
    *b = (struct body){.state = BODY_SIZE, .chunked = 1};
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* blank_byte takes what comes before an extension: it begins with a semicolon, and there may be blanks before that. */
static int blank_byte(struct body *b, char c)
{
    if (c != ';' && c != ' ' && c != '\t')
        return 400;
    b->state = c == ';' ? BODY_EXTENSION : BODY_BLANKS;
    return BODY_MORE;
}

static int size_byte(struct body *b, char c)
{
    int digit = hex(c);
    if (digit >= 0) {
        b->left = b->left * 16 + (uint64_t)digit;
        b->digits++;
        return b->left + b->total > BODY_MAX ? 413 : BODY_MORE;
    }
    if (b->digits == 0)
        return 400;
    if (c != '\r')
        return blank_byte(b, c);
    b->state = BODY_SIZE_LF;
    return BODY_MORE;
}

static int trailer_byte(struct body *b, char c)
{
    if (c == '\r') {
        b->state = BODY_TRAILER_LF;
        return BODY_MORE;
    }
    b->column++;
    return c == '\n' || c == '\0' ? 400 : BODY_MORE;
}

/* framing takes one byte of what is not content. */
static int framing(struct body *b, char c)
{
    if (b->state <= BODY_SIZE_LF && ++b->line > CHUNK_LINE_MAX)
        return 400;
    if (b->state >= BODY_TRAILER && ++b->line > HEAD_MAX)
        return 431;
    switch (b->state) {
    case BODY_SIZE:
        return size_byte(b, c);
    case BODY_BLANKS:
        return blank_byte(b, c);
    case BODY_EXTENSION:
        if (c == '\r')
            b->state = BODY_SIZE_LF;
        return c == '\n' || c == '\0' ? 400 : BODY_MORE;
    case BODY_SIZE_LF:
        b->total += b->left;
        b->state = b->left > 0 ? BODY_DATA : BODY_TRAILER;
        b->line = b->column = 0;
        return c == '\n' ? BODY_MORE : 400;
    case BODY_DATA_CR:
        b->state = BODY_DATA_LF;
        return c == '\r' ? BODY_MORE : 400;
    case BODY_DATA_LF:
        b->state = BODY_SIZE;
        b->line = b->digits = 0;
        return c == '\n' ? BODY_MORE : 400;
    case BODY_TRAILER:
        return trailer_byte(b, c);
    case BODY_TRAILER_LF:
        b->state = b->column == 0 ? BODY_END : BODY_TRAILER;
        b->column = 0;
        return c == '\n' ? BODY_MORE : 400;
    case BODY_DATA:
    case BODY_END:
        break;
    }
    return 400;
}

int body_read(struct body *b, struct text *input, struct text *piece)
{
    for (;;) {
        if (b->state == BODY_END)
            return BODY_DONE;
        if (input->size == 0)
            return BODY_MORE;
        if (b->state == BODY_DATA) {
            size_t n = input->size < b->left ? input->size : (size_t)b->left;
            *piece = (struct text){input->data, n};
            *input = (struct text){input->data + n, input->size - n};
            b->left -= n;
            if (b->left == 0)
                b->state = b->chunked ? BODY_DATA_CR : BODY_END;
            return BODY_PIECE;
        }
        int result = framing(b, *input->data);
        if (result != BODY_MORE)
            return result;
        *input = (struct text){input->data + 1, input->size - 1};
    }
}
