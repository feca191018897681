/* What all cases share: a clock, numbered messages, and a way to run two threads at the same time. */
#ifndef IPC_RUN_H
#define IPC_RUN_H

#include <stdint.h>

#include "socket.h"

enum {
    LOOK = 256,    /* operations between two looks at the clock, and between two messages that are looked at closely */
    SMALLEST = 7,  /* bytes of the usual message, and the least there may be */
    LARGEST = 65536
};

struct run {
    size_t size; /* bytes of a message */
    double least; /* seconds */
    double deadline;
    /* what it found */
    uint64_t operations;
    double wall, cpu;
};

struct checker {
    size_t size;
    uint64_t count;
    unsigned char *want;
};

/* fail ends the program with a sentence. */
_Noreturn void fail(const char *what, enum outcome outcome);
/* must ends the program if something went wrong. */
void must(const char *what, enum outcome outcome);

void start_clock(struct run *run);
void stop_clock(struct run *run);
double cpu_now(void);
bool more(const struct run *run, uint64_t done);

unsigned char *new_message(size_t size);
unsigned char *new_buffer(int kind, size_t size);
void stamp(unsigned char *message, uint64_t number);
struct checker new_checker(size_t size);
bool checks_closely(const struct checker *checker);
void check(struct checker *checker, const unsigned char *got, size_t size);
void free_checker(struct checker *checker);

/* together runs two functions, each in a thread: timed from when both are ready until both are done. */
void together(struct run *run, void (*first)(void *), void (*second)(void *), void *argument);

#endif
