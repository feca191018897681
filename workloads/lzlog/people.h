/* The benchmark for people. */
#ifndef LZ_PEOPLE_H
#define LZ_PEOPLE_H

/* people_bench writes a table of rates to stdout, with its files under a folder, so many seconds for each. It returns the exit status. */
int people_bench(const char *dir, unsigned threads, double seconds);

#endif
