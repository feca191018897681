/* The cells by implementation: what is compared has the same name in each. The lines are those of Loadstone's docs/reference/cases.md. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"

static const struct {
    const char *implementation, *name;
    const struct peer *peer;
} compared[] = {
    {"lzlog", "write/threads:1", &peer_lzlog_1},
    {"lzlog", "write/threads:5", &peer_lzlog_5},
    {"lzlog", "write/threads:10", &peer_lzlog_10},
    {"lzlog", "write-encrypted/threads:1", &peer_lzlog_1_aes},
    {"lzlog", "write-encrypted/threads:10", &peer_lzlog_10_aes},
    {"lzlog-cas", "write/threads:1", &peer_lzlog_1_cas},
    {"lzlog-cas", "write/threads:10", &peer_lzlog_10_cas},
    {"lzlog-mutex", "write/threads:1", &peer_lzlog_1_mutex},
    {"lzlog-mutex", "write/threads:10", &peer_lzlog_10_mutex},
    {"lzlog-equal", "write/threads:1", &peer_lzlog_1_equal},
    {"spdlog", "write/threads:1", &peer_spdlog_1},
    {"spdlog", "write/threads:5", &peer_spdlog_5},
    {"spdlog", "write/threads:10", &peer_spdlog_10},
    {"spdlog-rotating", "write/threads:1", &peer_spdlog_1_rotating},
    {"write", "write/threads:1", &peer_write_1},
    {"memcpy", "write/threads:1", &peer_memcpy},
    {"memcpy", "write/threads:10", &peer_fetchadd_10},
    {"memcpy-fresh", "write/threads:1", &peer_memcpy_fresh},
};

enum { COMPARED = sizeof(compared) / sizeof(compared[0]) };

#define LINE "{\"schema\":\"loadstone.case/v1\",\"case\":\"%s\","

static void print_cost(const char *name, const struct cost *cost)
{
    double records = (double)cost->records;
    printf(LINE "\"metric\":\"Time\",\"unit\":\"ns\",\"better\":\"Less\",\"value\":%.4f,\"iterations\":%" PRIu64 "}\n", name,
           cost->wall * 1e9 / records, cost->records);
    printf(LINE "\"metric\":\"CPU time\",\"unit\":\"ns\",\"better\":\"Less\",\"value\":%.4f}\n", name, cost->cpu * 1e9 / records);
}

int compare_run(const char *implementation, const char *dir, double seconds)
{
    int status = 2;
    for (size_t i = 0; i < COMPARED && !cell_interrupted(); i++) {
        if (strcmp(compared[i].implementation, implementation) != 0)
            continue;
        if (status == 2)
            status = 0;
        struct cost cost;
        if (cell_measure(compared[i].peer, dir, seconds, &cost)) {
            print_cost(compared[i].name, &cost);
        } else {
            printf(LINE "\"failure\":\"it did not succeed; standard error has the reason\"}\n", compared[i].name);
            status = 1;
        }
        if (fflush(stdout) != 0)
            return 1;
    }
    return status;
}

void compare_list(void)
{
    for (size_t i = 0; i < COMPARED; i++)
        printf("%s %s\n", compared[i].implementation, compared[i].name);
}
