/* What profilers are tried on: a program that answers so many requests. Built with PLANTED, it loses memory, decides by a byte that was
 * never written, takes a slow way, and makes a system call more; its twin does none of these. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BODY_BYTES = 256, KEPT = 16 };

static volatile unsigned long sum;
static char *kept[KEPT];

/* Walks through a body once, or, planted, once for each of its bytes. */
__attribute__((noinline)) static unsigned long checksum(const char *body, size_t n)
{
	unsigned long c = 0;
#ifdef PLANTED
	for (size_t round = 0; round < n; round++)
#endif
		for (size_t i = 0; i < n; i++)
			c = c * 31 + (unsigned char)body[i];
	return c;
}

/* Recurses, as parsers do. */
__attribute__((noinline)) static unsigned long nested(unsigned depth)
{
	return depth == 0 ? 1 : nested(depth - 1) + depth;
}

/* Holds on to the last few bodies. Planted, it forgets the oldest without freeing it. */
__attribute__((noinline)) static void remember(char *body, int i)
{
#ifndef PLANTED
	free(kept[i % KEPT]);
#endif
	kept[i % KEPT] = body;
}

/* Decides by the first byte of a scratch buffer, which, planted, nobody has written. */
__attribute__((noinline)) static int decide(void)
{
	char *scratch = malloc(32);
	int large;
#ifndef PLANTED
	memset(scratch, 0, 32);
#endif
	large = scratch[0] > 10;
	if (large)
		sum++;
	free(scratch);
	return large;
}

__attribute__((noinline)) static void answer(int i)
{
	char *body = malloc(BODY_BYTES);

	memset(body, 'a' + i % 26, BODY_BYTES);
	sum += checksum(body, BODY_BYTES) + nested(8) + (unsigned long)decide();
	remember(body, i);
#ifdef PLANTED
	sum += (unsigned long)getppid();
#endif
	if (write(STDOUT_FILENO, "answered\n", 9) != 9)
		exit(1);
}

int main(int argc, char **argv)
{
	int requests = argc > 1 ? atoi(argv[1]) : 100;

	for (int i = 0; i < requests; i++)
		answer(i);
	if (argc > 2)
		raise(atoi(argv[2]));
	for (int i = 0; i < KEPT; i++) {
		free(kept[i]);
		kept[i] = NULL;
	}
	return 0;
}
