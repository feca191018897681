/* Rungs of the ladder of ipc-bench in C: the same conversations between two processes, the same bytes, the same checks. */
#ifndef IPC_LADDER_H
#define IPC_LADDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rung {
    const char *name; /* as in Go */
    bool memory;      /* two rings in memory that both processes have; else a socket that keeps messages apart */
    unsigned spins;   /* looks at the ring before one waits */
};

struct conversation {
    const char *name; /* as in Go */
    bool answers;     /* each message is answered, with as many bytes */
    size_t size;      /* bytes of a message */
};

extern const struct rung rungs[];
extern const size_t rung_count;
extern const struct conversation conversations[];
extern const size_t conversation_count;

/* What a conversation took, of both processes. */
struct talk {
    uint64_t operations;
    double wall, cpu; /* seconds */
};

const struct rung *find_rung(const char *name);

/* hold_conversation starts the other process, and ends this one with a sentence when anything is wrong, or takes ten seconds too long. */
struct talk hold_conversation(const struct rung *rung, const struct conversation *conversation, double least);

/* print_ladder holds all of them over a rung and prints lines of JSON. It returns the exit status. */
int print_ladder(const struct rung *rung, double least);

#endif
