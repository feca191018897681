/* lzlog-bench: cells for a benchmark driver. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct peer *const peers[] = {
    &peer_memcpy,       &peer_memcpy_fresh,  &peer_fetchadd_10,   &peer_lzlog_1,      &peer_lzlog_1_cas,
    &peer_lzlog_1_mutex, &peer_lzlog_1_aes,   &peer_lzlog_1_equal, &peer_lzlog_5,      &peer_lzlog_10,
    &peer_lzlog_10_cas, &peer_lzlog_10_mutex, &peer_lzlog_10_aes,  &peer_spdlog_1,     &peer_spdlog_1_rotating,
    &peer_spdlog_5,     &peer_spdlog_10,     &peer_write_1,
};

enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

static int usage(const char *why)
{
    fprintf(stderr, "lzlog-bench: %s\nusage: lzlog-bench cases | lzlog-bench cell CASE [--seconds S] [--dir FOLDER]\n", why);
    return 2;
}

static const struct peer *find(const char *name)
{
    for (size_t i = 0; i < PEERS; i++) {
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    }
    return NULL;
}

/* value_of reads "--name VALUE" or "--name=VALUE" and moves on; NULL if it is neither. */
static const char *value_of(const char *name, int argc, char **argv, int *i)
{
    size_t size = strlen(name);
    if (strcmp(argv[*i], name) == 0 && *i + 1 < argc)
        return argv[++*i];
    return strncmp(argv[*i], name, size) == 0 && argv[*i][size] == '=' ? argv[*i] + size + 1 : NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "cases") == 0) {
        for (size_t i = 0; i < PEERS; i++)
            puts(peers[i]->name);
        return fflush(stdout) == 0 ? 0 : 1;
    }
    if (argc < 3 || strcmp(argv[1], "cell") != 0)
        return usage("it runs one cell at a time");
    const struct peer *peer = find(argv[2]);
    if (peer == NULL)
        return usage("there is no such case");
    const char *dir = getenv("TMPDIR");
    double seconds = 1;
    if (dir == NULL || dir[0] == '\0')
        dir = "/tmp";
    for (int i = 3; i < argc; i++) {
        const char *text;
        char *end = NULL;
        if ((text = value_of("--dir", argc, argv, &i)) != NULL) {
            dir = text;
        } else if ((text = value_of("--seconds", argc, argv, &i)) != NULL) {
            seconds = strtod(text, &end);
            if (end == text || *end != '\0' || !(seconds >= 0.001 && seconds <= 3600))
                return usage("seconds are a number from 0.001 to 3600");
        } else {
            return usage("there is no such option");
        }
    }
    return cell_run(peer, dir, seconds);
}
