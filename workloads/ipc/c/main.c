/* ipc-c-bench: what a message costs between threads and between processes, in C. The limit that ipc-bench is held against. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cases.h"
#include "ladder.h"

static const double warm_up = 0.1; /* seconds that a case runs before it is timed */

static int usage(void)
{
    fputs("usage: ipc-c-bench cases, ipc-c-bench cell CASE [--seconds 1.0], ipc-c-bench bench [--seconds 1.0], ipc-c-bench rungs, or "
          "ipc-c-bench ladder RUNG [--seconds 1.0]\n", stderr);
    return 2;
}

static int list(void)
{
    for (size_t i = 0; i < benchmark_count; i++) {
        puts(benchmarks[i].name);
        for (size_t j = 0; benchmarks[i].sweep && j < sweep_count; j++)
            printf("%s-%zu\n", benchmarks[i].name, sweep_sizes[j]);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

/* seconds reads "--seconds N" or "--seconds=N"; 1 without. It returns 0 for what is neither. */
static double seconds(int count, char **arguments)
{
    const char *text = "1";
    if (count == 2 && strcmp(arguments[0], "--seconds") == 0)
        text = arguments[1];
    else if (count == 1 && strncmp(arguments[0], "--seconds=", 10) == 0)
        text = arguments[0] + 10;
    else if (count > 0)
        text = "";
    char *end;
    double value = strtod(text, &end);
    return end != text && *end == '\0' && value > 0 && value <= 3600 ? value : 0;
}

static struct run measure(const struct benchmark *benchmark, size_t size, double least)
{
    struct run run = {.size = size, .least = least < warm_up ? least : warm_up};
    do_benchmark(benchmark, &run);
    run = (struct run){.size = size, .least = least};
    do_benchmark(benchmark, &run);
    return run;
}

static int cell(const char *name, double least)
{
    size_t size;
    const struct benchmark *benchmark = find_benchmark(name, &size);
    if (benchmark == NULL || least == 0)
        return usage();
    struct run run = measure(benchmark, size, least);
    printf("{\"case\":\"%s\",\"operations\":%llu,\"wallSeconds\":%.9f,\"cpuSeconds\":%.9f}\n", name,
           (unsigned long long)run.operations, run.wall, run.cpu);
    return fflush(stdout) == 0 ? 0 : 1;
}

/* bench_one prints a line as `go test -bench` does, so that the cases in Go and in C can be compared. */
static int bench_one(const struct benchmark *benchmark, size_t size, double least)
{
    struct run run = measure(benchmark, size, least);
    double operations = (double)run.operations;
    printf("BenchmarkIPC/%s", benchmark->as);
    if (benchmark->sweep)
        printf("/size=%zu", size);
    printf("\t%llu\t%.3f ns/op\t%.3f cpu-ns/op\n", (unsigned long long)run.operations, run.wall * 1e9 / operations,
           run.cpu * 1e9 / operations);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int bench(double least)
{
    if (least == 0)
        return usage();
    puts("goos: linux");
    int status = fflush(stdout) == 0 ? 0 : 1; /* or a child would print it again */
    for (size_t i = 0; i < benchmark_count && status == 0; i++) {
        status = bench_one(&benchmarks[i], SMALLEST, least);
        for (size_t j = 0; benchmarks[i].sweep && j < sweep_count && status == 0; j++)
            status = bench_one(&benchmarks[i], sweep_sizes[j], least);
    }
    return status;
}

static int list_rungs(void)
{
    for (size_t i = 0; i < rung_count; i++)
        puts(rungs[i].name);
    return fflush(stdout) == 0 ? 0 : 1;
}

static int ladder(const char *name, double least)
{
    const struct rung *rung = find_rung(name);
    return rung == NULL || least == 0 ? usage() : print_ladder(rung, least);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "cases") == 0)
        return list();
    if (argc >= 2 && strcmp(argv[1], "bench") == 0)
        return bench(seconds(argc - 2, argv + 2));
    if (argc == 2 && strcmp(argv[1], "rungs") == 0)
        return list_rungs();
    if (argc >= 3 && strcmp(argv[1], "ladder") == 0)
        return ladder(argv[2], seconds(argc - 3, argv + 3));
    if (argc < 3 || strcmp(argv[1], "cell") != 0)
        return usage();
    return cell(argv[2], seconds(argc - 3, argv + 3));
}
