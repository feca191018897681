#include "run.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void fail(const char *what, enum outcome outcome)
{
    fprintf(stderr, "ipc-c-bench: %s: %s\n", what, outcome_text(outcome));
    _exit(1);
}

void must(const char *what, enum outcome outcome)
{
    if (outcome != DONE)
        fail(what, outcome);
}

static double now(clockid_t clock)
{
    struct timespec t;
    if (clock_gettime(clock, &t) < 0)
        fail("reading a clock", FAILED);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

double cpu_now(void)
{
    return now(CLOCK_PROCESS_CPUTIME_ID);
}

void start_clock(struct run *run)
{
    run->wall = now(CLOCK_MONOTONIC);
    run->cpu = cpu_now();
    run->deadline = run->wall + run->least;
}

void stop_clock(struct run *run)
{
    run->wall = now(CLOCK_MONOTONIC) - run->wall;
    run->cpu = cpu_now() - run->cpu;
}

bool more(const struct run *run, uint64_t done)
{
    return done % LOOK != 0 || done == 0 || now(CLOCK_MONOTONIC) < run->deadline;
}

static unsigned char *allocate(size_t size)
{
    unsigned char *memory = calloc(1, size);
    if (memory == NULL)
        fail("allocating memory", FAILED);
    return memory;
}

/* new_message makes a message with a pattern. Its first four bytes are its number. */
unsigned char *new_message(size_t size)
{
    unsigned char *message = allocate(size);
    for (size_t i = 0; i < size; i++)
        message[i] = (unsigned char)(i * 7 + 1);
    return message;
}

/*
 * new_buffer makes a buffer to receive into. One for messages is larger than they are, so that one that is too long is noticed; on a
 * stream it is as long as they are, since there nothing else tells where one ends.
 */
unsigned char *new_buffer(int kind, size_t size)
{
    return allocate(kind == SOCK_STREAM ? size : size < 1024 ? 1024 : size + 1);
}

void stamp(unsigned char *message, uint64_t number)
{
    uint32_t low = (uint32_t)number;
    memcpy(message, &low, sizeof(low));
}

struct checker new_checker(size_t size)
{
    return (struct checker){.size = size, .want = new_message(size)};
}

bool checks_closely(const struct checker *checker)
{
    return checker->count % LOOK == 0;
}

void check(struct checker *checker, const unsigned char *got, size_t size)
{
    uint32_t number;
    memcpy(&number, got, sizeof(number));
    if (size != checker->size || number != (uint32_t)checker->count || got[size - 1] != checker->want[size - 1])
        fail("checking a message", MALFORMED);
    if (checks_closely(checker)) {
        stamp(checker->want, checker->count);
        if (memcmp(got, checker->want, size) != 0)
            fail("checking all of a message", MALFORMED);
    }
    checker->count++;
}

void free_checker(struct checker *checker)
{
    free(checker->want);
}

struct part {
    pthread_barrier_t *ready, *start;
    void (*function)(void *);
    void *argument;
};

static void *run_part(void *argument)
{
    struct part *part = argument;
    pthread_barrier_wait(part->ready);
    pthread_barrier_wait(part->start);
    part->function(part->argument);
    return NULL;
}

static void no_error(const char *what, int error)
{
    errno = error;
    if (error != 0)
        fail(what, FAILED);
}

void together(struct run *run, void (*first)(void *), void (*second)(void *), void *argument)
{
    pthread_barrier_t ready, start;
    no_error("making a barrier", pthread_barrier_init(&ready, NULL, 3));
    no_error("making a barrier", pthread_barrier_init(&start, NULL, 3));
    struct part parts[2] = {{&ready, &start, first, argument}, {&ready, &start, second, argument}};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        no_error("starting a thread", pthread_create(&threads[i], NULL, run_part, &parts[i]));
    pthread_barrier_wait(&ready);
    start_clock(run);
    pthread_barrier_wait(&start);
    for (int i = 0; i < 2; i++)
        no_error("waiting for a thread", pthread_join(threads[i], NULL));
    stop_clock(run);
    no_error("ending a barrier", pthread_barrier_destroy(&ready));
    no_error("ending a barrier", pthread_barrier_destroy(&start));
}
