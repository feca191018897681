/* What to answer, and how it looks on the wire. */
#ifndef UVHTTP_REPLY_H
#define UVHTTP_REPLY_H

#include "server.h"

enum handler { SERVE_PAGE, SERVE_FILE, SERVE_STATS, SERVE_ECHO };

struct reply {
    int status;
    enum handler handler;          /* matters for a 200 */
    bool head_only, close, tell_keep;
    unsigned allowed;              /* METHOD_*, for a 405 */
    const struct content *content; /* of a page or a file */
    struct file *file;             /* held, when the content is a file's */
};

/* reply_routes fills the router and makes the pages. */
bool reply_routes(struct server *s);

/* reply_decide finds the answer to a request; data is where the head begins. */
void reply_decide(struct server *s, const struct head *h, const char *data, struct reply *r);

/*
 * reply_write puts an answer behind those that wait in the server's out, which has room for REPLY_HEAD_MAX + COPIED_MAX more
 * bytes. It returns true when the body is not in it and has to be sent from the content.
 */
bool reply_write(struct server *s, const struct reply *r);

#endif
