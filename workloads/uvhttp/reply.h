/* What to answer, and how it looks on the wire. */
#ifndef UVHTTP_REPLY_H
#define UVHTTP_REPLY_H

#include "server.h"

enum handler { SERVE_PAGE, SERVE_FILE, SERVE_STATS, SERVE_HANDLER };

struct reply {
    int status;
    enum handler handler;          /* matters for a 200; a handler's own answer may have another status */
    bool head_only, close, tell_keep;
    unsigned allowed;              /* METHOD_*, for a 405 */
    const struct content *content; /* of a page or a file */
    struct file *file;             /* held, when the content is a file's */
    struct uvhttp_request *request; /* for a handler: while its body is read, while the handler has it, and until its answer is out */
};

/* reply_decide finds the answer to a request, or the handler that has to give one, and has request hold what it needs of the head at data. */
void reply_decide(struct server *s, const struct head *h, const char *data, struct reply *r);

/*
 * reply_write puts an answer behind those that wait in the server's out, which has room for REPLY_HEAD_MAX + COPIED_MAX more
 * bytes. It returns true when the body is not in it and has to be sent from the content.
 */
bool reply_write(struct server *s, const struct reply *r);

#endif
