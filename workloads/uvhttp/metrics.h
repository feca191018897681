/* What an instance counts, and how it is told to others. Nothing here is shared while requests are served: instances publish copies. */
#ifndef UVHTTP_METRICS_H
#define UVHTTP_METRICS_H

#include <stddef.h>
#include <stdint.h>

enum { TIME_BUCKETS = 25 };

/* times is a histogram of durations: bucket i counts those of up to 2^i microseconds, and the last one all longer ones. */
struct times {
    uint64_t buckets[TIME_BUCKETS];
    uint64_t nanoseconds; /* of all together */
};

void times_add(struct times *t, uint64_t nanoseconds);

struct counters {
    uint64_t accepted, refused, timeouts, requests, body_bytes, sent_bytes, answers[6]; /* by the status's first digit */
};

/* account is what an instance says of itself. */
struct account {
    struct counters counters;
    uint64_t open, waiting, held, unused; /* connections; requests whose handlers answer later; bytes */
    uint64_t cache_files, cache_bytes, hits, misses, evictions, reloads;
    uint64_t late_ms, most_late_ms;
    struct times latency, delay;
};

/* account_add adds what another instance says; of delays the longest counts. */
void account_add(struct account *sum, const struct account *other);

/* metrics_write writes the text that Prometheus reads, and returns its size. */
size_t metrics_write(const struct account *accounts, unsigned instances, char *out, size_t room);

#endif
