/* What the cells of the benchmark share. */
#ifndef LZ_BENCH_H
#define LZ_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The records that all cells write, in turn: 104, 121, 121, 120 and 139 bytes, 121 on average. */
enum { MESSAGES = 5, MESSAGE_BYTES = 605, MESSAGE_MAX = 139 };
struct message {
    const char *data;
    size_t size;
};
extern const struct message messages[MESSAGES];

/* message_at recognises the message at the beginning of some bytes: its number, or -1. */
int message_at(const char *data, size_t size);

/* messages_fault says what is wrong with a file that should consist of so many messages, in turn if ordered. */
const char *messages_fault(const char *data, size_t size, uint64_t records, bool ordered);
const char *file_fault(const char *path, uint64_t records, bool ordered);

/* files_fault does the same with files that follow each other. */
const char *files_fault(const char *const *paths, size_t count, uint64_t records, bool ordered);

/* ask_the_time takes the time of day, as a log does for each record. */
static inline void ask_the_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    __asm__ volatile("" : : "m"(time)); /* it is used, as far as the compiler knows */
}

struct peer {
    const char *name;
    unsigned threads;
    uint64_t round;   /* records that all threads write before the files begin anew; 0: they never do */
    uint64_t warm_up; /* records */
    int variant;      /* of the same functions */

    /* Not timed. open returns NULL and prints why it failed; begin starts a round; enter makes what a thread needs. */
    void *(*open)(const struct peer *peer, const char *dir);
    bool (*begin)(void *self);
    void *(*enter)(void *self);
    void (*leave)(void *thread);
    /* fault says what is wrong after a round of so many records, NULL if nothing is. */
    const char *(*fault)(void *self, uint64_t records, bool last);
    void (*close)(void *self);

    /* Timed. batch writes a multiple of MESSAGES records; finish sees to it that the kernel has all of them. */
    bool (*batch)(void *thread, uint64_t records);
    bool (*finish)(void *self);
};

extern const struct peer peer_memcpy, peer_memcpy_fresh, peer_clock, peer_fetchadd_10;
extern const struct peer peer_lzlog_1, peer_lzlog_1_cas, peer_lzlog_1_mutex, peer_lzlog_1_aes, peer_lzlog_1_equal;
extern const struct peer peer_lzlog_5, peer_lzlog_10, peer_lzlog_10_cas, peer_lzlog_10_mutex, peer_lzlog_10_aes;
extern const struct peer peer_spdlog_1, peer_spdlog_1_rotating, peer_spdlog_5, peer_spdlog_10, peer_write_1, peer_write_blocks;
enum { LACKING_WRITES = 8 };
extern const struct peer peers_lzlog_without[LACKING_WRITES];

enum {
    THREADS_MAX = 10,
    BATCH = 200 * MESSAGES,
    ROUND = 2200 * BATCH,  /* 254 MiB */
    WARM_UP = 200 * BATCH, /* 23 MiB */
    ROUND_BYTES = ROUND / MESSAGES * MESSAGE_BYTES
};

/*
 * What rounds, rings and files are divided by, a power of two: 1 for cells, which meet all that a file can cost; SMALL for what has to fit
 * into the 64 MiB of /dev/shm that a container has.
 */
enum { SMALL = 8 };
extern unsigned divisor;

/* What a cell took. */
struct cost {
    uint64_t records;
    double wall, cpu, writers_cpu; /* seconds; the last of the threads that write, the one before of all */
};

/* cell_measure runs one cell. It returns false when something failed, which it says, or somebody has interrupted it. */
bool cell_measure(const struct peer *peer, const char *dir, double seconds, struct cost *cost);
bool cell_interrupted(void);

/* cell_run runs one cell and prints its line. It returns the exit status. */
int cell_run(const struct peer *peer, const char *dir, double seconds);

/* compare_run prints lines of JSON for all cases of an implementation. It returns the exit status, 2 if there is no such implementation. */
int compare_run(const char *implementation, const char *dir, double seconds);
void compare_list(void);

#ifdef __cplusplus
}
#endif
#endif
