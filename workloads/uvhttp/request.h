/* A request that a handler answers: what it may know of it, and its answer. A request outlives a connection that ends before its answer. */
#ifndef UVHTTP_REQUEST_H
#define UVHTTP_REQUEST_H

#include "server.h"

enum { ANSWER_LINES_MAX = 512, ANSWER_HEAD_MAX = 768 };

enum request_state {
    REQUEST_READ,     /* its body is still to come */
    REQUEST_HANDLED,  /* the handler runs */
    REQUEST_WAITING,  /* the handler has returned without an answer */
    REQUEST_QUEUED,   /* answered later; the answer has its turn soon */
    REQUEST_ANSWERED, /* the answer is being written */
};

struct uvhttp_request {
    struct server *server;
    struct conn *conn; /* NULL once it has gone */
    const struct route *route;
    struct uvhttp_request *next; /* answered after this one */
    enum request_state state;
    bool apart;     /* the answer was written at once, but for its body */
    uint64_t began; /* when the read began that completed it, or 0 */
    struct target gone; /* what to call when the connection goes first */
    struct head head;
    struct text path, params[PARAMS_MAX];
    char *body, *copy; /* held: what came, and what goes when that is something else */
    size_t body_size;
    int status;
    struct content content; /* the answer */
    size_t lines_size;
    char lines[ANSWER_LINES_MAX];     /* of the answer, beyond those that the server writes */
    char answer_head[ANSWER_HEAD_MAX];
    char clean[TARGET_MAX];           /* the path, when it is not in bytes as it is */
    char bytes[HEAD_MAX];             /* the head, as it came */
};

_Static_assert((int)PARAMS_MAX == UVHTTP_PARAMS_MAX && (int)METHOD_DELETE == UVHTTP_DELETE && (int)METHOD_PATCH == UVHTTP_PATCH &&
                   (int)METHOD_PUT == UVHTTP_PUT && (int)METHOD_POST == UVHTTP_POST && OUT_MAX == (int)UVHTTP_COPY_MAX,
               "the public header says the same");

/*
 * request_new returns a request with a copy of the head that ends at end, or NULL when there are too many or there is no memory. The path
 * and the parameters are those that were found.
 */
struct uvhttp_request *request_new(struct server *s, const struct route *route, const struct head *h, const char *data, struct text path,
                                   const struct text *params);
void request_free(struct uvhttp_request *r);

/* request_part lets go of a request whose connection ends, or is done with it. Who has it still must answer it. */
void request_part(struct uvhttp_request *r);

#endif
