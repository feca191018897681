/*
 * Memory that the kernel may send from without copying it: vmsplice puts references to its pages into a pipe, splice moves
 * them on to a socket. The memory must stay as it is for as long as the process lives, since nobody says when the last byte has
 * been sent.
 */
#ifndef UVHTTP_LEND_H
#define UVHTTP_LEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* lend_memory maps zeroed memory, of huge pages if it is large and the kernel has them: fewer pages cost fewer references. */
char *lend_memory(size_t size);
void lend_unmap(char *memory, size_t size);

struct lender {
    int in, out, sink; /* a pipe, empty between two calls, and /dev/null for what a socket does not take */
    size_t room;       /* of the pipe; 0 when there is none, and memory has to be copied */
};

void lender_open(struct lender *l);
void lender_close(struct lender *l);

/*
 * lender_send is as send is: it returns what the socket took, or -1 and errno. asked is what it was offered: less than size,
 * when the pipe is smaller.
 */
ssize_t lender_send(struct lender *l, int socket, const char *bytes, size_t size, size_t *asked);

#endif
