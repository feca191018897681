/* lzlog-bench: one cell, or all cases of an implementation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

static const struct peer *const peers[] = {
    &peer_memcpy,       &peer_memcpy_fresh,  &peer_fetchadd_10,   &peer_lzlog_1,      &peer_lzlog_1_cas,
    &peer_lzlog_1_mutex, &peer_lzlog_1_aes,   &peer_lzlog_1_equal, &peer_lzlog_5,      &peer_lzlog_10,
    &peer_lzlog_10_cas, &peer_lzlog_10_mutex, &peer_lzlog_10_aes,  &peer_spdlog_1,     &peer_spdlog_1_rotating,
    &peer_spdlog_5,     &peer_spdlog_10,     &peer_write_1,       &peer_clock,
    &peer_write_blocks,
};

enum { PEERS = sizeof(peers) / sizeof(peers[0]) };

static int usage(const char *why)
{
    fprintf(stderr, "lzlog-bench: %s\nusage: lzlog-bench cases | lzlog-bench cell CASE [--seconds S] [--dir FOLDER] | "
                    "lzlog-bench compared | lzlog-bench bench IMPLEMENTATION [--seconds S] [--dir FOLDER]\n", why);
    return 2;
}

static const struct peer *find(const char *name)
{
    for (size_t i = 0; i < PEERS; i++) {
        if (strcmp(peers[i]->name, name) == 0)
            return peers[i];
    }
    for (size_t i = 0; i < LACKING_WRITES; i++) {
        if (strcmp(peers_lzlog_without[i].name, name) == 0)
            return &peers_lzlog_without[i];
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

static int list(bool compared)
{
    if (compared)
        compare_list();
    for (size_t i = 0; i < PEERS && !compared; i++)
        puts(peers[i]->name);
    for (size_t i = 0; i < LACKING_WRITES && !compared; i++)
        puts(peers_lzlog_without[i].name);
    return fflush(stdout) == 0 ? 0 : 1;
}

struct options {
    const char *dir;
    double seconds;
};

/* options_of returns what is wrong with the options, NULL if nothing is. */
static const char *options_of(struct options *options, int argc, char **argv)
{
    const char *temporary = getenv("TMPDIR");
    *options = (struct options){.dir = temporary != NULL && temporary[0] != '\0' ? temporary : "/tmp", .seconds = 1};
    for (int i = 0; i < argc; i++) {
        const char *text;
        char *end = NULL;
        if ((text = value_of("--dir", argc, argv, &i)) != NULL) {
            options->dir = text;
        } else if ((text = value_of("--seconds", argc, argv, &i)) != NULL) {
            options->seconds = strtod(text, &end);
            if (end == text || *end != '\0' || !(options->seconds >= 0.001 && options->seconds <= 3600))
                return "seconds are a number from 0.001 to 3600";
        } else {
            return "there is no such option";
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc == 2 && (strcmp(argv[1], "cases") == 0 || strcmp(argv[1], "compared") == 0))
        return list(strcmp(argv[1], "compared") == 0);
    if (argc < 3 || (strcmp(argv[1], "cell") != 0 && strcmp(argv[1], "bench") != 0))
        return usage("it runs one cell at a time, or all cases of an implementation");
    struct options options;
    const char *fault = options_of(&options, argc - 3, argv + 3);
    if (fault != NULL)
        return usage(fault);
    if (strcmp(argv[1], "bench") == 0) {
        divisor = SMALL;
        int status = compare_run(argv[2], options.dir, options.seconds);
        return status == 2 ? usage("there is no such implementation") : status;
    }
    const struct peer *peer = find(argv[2]);
    return peer == NULL ? usage("there is no such case") : cell_run(peer, options.dir, options.seconds);
}
