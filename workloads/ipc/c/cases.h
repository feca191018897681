#ifndef IPC_CASES_H
#define IPC_CASES_H

#include "run.h"

/* a case: how messages go from one end to the other */
struct benchmark {
    const char *name;
    const char *as; /* where it is compared with the same case in Go */
    bool sweep; /* listed with larger messages too */
    int kind;
    bool processes, echo, fds, cred;
};

extern const struct benchmark benchmarks[];
extern const size_t benchmark_count;
extern const size_t sweep_sizes[];
extern const size_t sweep_count;

void do_benchmark(const struct benchmark *benchmark, struct run *run);
/* find_benchmark finds a case by its name, which may end with a size. */
const struct benchmark *find_benchmark(const char *name, size_t *size);

#endif
