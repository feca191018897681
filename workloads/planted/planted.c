/*
 * planted: the server of ../epoll with some work for each request, and one fault in that work, for profilers to find. Each fault is a
 * function of its own that is never inlined, and has a twin without the fault, which planted-clean is built of:
 *
 *   LEAK     remember forgets the oldest body without freeing it
 *   UNINIT   decide branches on a byte that nobody has written
 *   SLOW     checksum walks through a body once for each of its bytes
 *   SYSCALL  ask makes a system call that nothing else makes
 *
 * With ARENA, everything is allocated by arena.c, so that no tool sees what is lost.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef ARENA
#include "arena.h"
#define malloc arena_malloc
#define free arena_free
#endif

static void on_request(void);
#define ON_REQUEST on_request

#define main epoll_main
#include "../epoll/epoll.c"
#undef main

enum { BODY_BYTES = 256, SCRATCH_BYTES = 32, REMEMBERED = 16 };

static volatile unsigned long sum; /* takes what is computed, so that it has to be */
static char *remembered[REMEMBERED];
static unsigned long requests;

/* checksum hashes a body. */
__attribute__((noinline)) static unsigned long checksum(const char *body, size_t size)
{
    unsigned long hash = 0;
#ifdef SLOW
    for (size_t round = 0; round < size; round++)
#endif
        for (size_t i = 0; i < size; i++)
            hash = hash * 31 + (unsigned char)body[i];
    return hash;
}

/* remember holds on to the last few bodies. */
__attribute__((noinline)) static void remember(char *body)
{
    char **oldest = &remembered[requests % REMEMBERED];
#ifndef LEAK
    free(*oldest);
#endif
    *oldest = body;
}

/* decide goes by the first byte of a scratch buffer. */
__attribute__((noinline)) static void decide(void)
{
    char *scratch = malloc(SCRATCH_BYTES);
    if (scratch == NULL)
        die("planted: malloc");
#ifndef UNINIT
    memset(scratch, 0, SCRATCH_BYTES);
#endif
    if (scratch[0] > 10)
        sum++;
    free(scratch);
}

/* ask wants to know something of the process. */
__attribute__((noinline)) static unsigned long ask(void)
{
#ifdef SYSCALL
    return (unsigned long)getppid();
#else
    return (unsigned long)epfd;
#endif
}

static void on_request(void)
{
    char *body = malloc(BODY_BYTES);
    if (body == NULL)
        die("planted: malloc");
    memset(body, (int)('a' + requests % 26), BODY_BYTES);
    sum += checksum(body, BODY_BYTES) + ask();
    decide();
    remember(body);
    requests++;
}

int main(int argc, char **argv)
{
    int code = epoll_main(argc, argv);
    for (size_t i = 0; i < REMEMBERED; i++)
        free(remembered[i]);
    return code;
}
