#include "metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

void times_add(struct times *t, uint64_t nanoseconds)
{
    uint64_t us = (nanoseconds + 999) / 1000;
    unsigned bucket = us <= 1 ? 0 : 64 - (unsigned)__builtin_clzll(us - 1);
    t->buckets[bucket < TIME_BUCKETS ? bucket : TIME_BUCKETS - 1]++;
    t->nanoseconds += nanoseconds;
}

static void add_times(struct times *sum, const struct times *other)
{
    for (unsigned i = 0; i < TIME_BUCKETS; i++)
        sum->buckets[i] += other->buckets[i];
    sum->nanoseconds += other->nanoseconds;
}

static void add_counters(struct counters *sum, const struct counters *other)
{
    sum->accepted += other->accepted;
    sum->refused += other->refused;
    sum->timeouts += other->timeouts;
    sum->requests += other->requests;
    sum->body_bytes += other->body_bytes;
    sum->sent_bytes += other->sent_bytes;
    for (unsigned i = 0; i < sizeof(sum->answers) / sizeof(sum->answers[0]); i++)
        sum->answers[i] += other->answers[i];
}

void account_add(struct account *sum, const struct account *other)
{
    add_counters(&sum->counters, &other->counters);
    sum->open += other->open;
    sum->waiting += other->waiting;
    sum->held += other->held;
    sum->unused += other->unused;
    sum->cache_files += other->cache_files;
    sum->cache_bytes += other->cache_bytes;
    sum->hits += other->hits;
    sum->misses += other->misses;
    sum->evictions += other->evictions;
    sum->reloads += other->reloads;
    sum->late_ms = sum->late_ms > other->late_ms ? sum->late_ms : other->late_ms;
    sum->most_late_ms = sum->most_late_ms > other->most_late_ms ? sum->most_late_ms : other->most_late_ms;
    add_times(&sum->latency, &other->latency);
    add_times(&sum->delay, &other->delay);
}

/* page is text under way; what does not fit is left out. */
struct page {
    char *out;
    size_t used, room;
};

__attribute__((format(printf, 2, 3))) static void say(struct page *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->out + p->used, p->room - p->used, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < p->room - p->used)
        p->used += (size_t)n;
}

static void say_value(struct page *p, const char *name, const char *type, const char *help, uint64_t value)
{
    say(p, "# HELP uvhttp_%s %s\n# TYPE uvhttp_%s %s\nuvhttp_%s %" PRIu64 "\n", name, help, name, type, name, value);
}

static void say_times(struct page *p, const char *name, const char *help, const struct times *t)
{
    uint64_t count = 0;
    say(p, "# HELP uvhttp_%s %s\n# TYPE uvhttp_%s histogram\n", name, help, name);
    for (unsigned i = 0; i + 1 < TIME_BUCKETS; i++) {
        count += t->buckets[i];
        say(p, "uvhttp_%s_bucket{le=\"%.6f\"} %" PRIu64 "\n", name, (double)(UINT64_C(1) << i) / 1e6, count);
    }
    count += t->buckets[TIME_BUCKETS - 1];
    say(p, "uvhttp_%s_bucket{le=\"+Inf\"} %" PRIu64 "\nuvhttp_%s_sum %.9f\nuvhttp_%s_count %" PRIu64 "\n", name, count, name,
        (double)t->nanoseconds / 1e9, name, count);
}

/* say_each says one figure of each instance, which lies at the same place in all accounts. */
static void say_each(struct page *p, const char *name, const char *type, const char *help, const struct account *accounts, unsigned instances,
                     size_t place)
{
    say(p, "# HELP uvhttp_%s %s\n# TYPE uvhttp_%s %s\n", name, help, name, type);
    for (unsigned i = 0; i < instances; i++)
        say(p, "uvhttp_%s{instance=\"%u\"} %" PRIu64 "\n", name, i, *(const uint64_t *)(const void *)((const char *)&accounts[i] + place));
}

size_t metrics_write(const struct account *accounts, unsigned instances, char *out, size_t room)
{
    struct page p = {out, 0, room};
    struct account sum = {0};
    for (unsigned i = 0; i < instances; i++)
        account_add(&sum, &accounts[i]);
    const struct counters *n = &sum.counters;
    say_each(&p, "connections", "gauge", "Open connections.", accounts, instances, offsetof(struct account, open));
    say_each(&p, "connections_accepted_total", "counter", "Connections that were taken.", accounts, instances,
             offsetof(struct account, counters.accepted));
    say_each(&p, "requests_total", "counter", "Requests that were answered.", accounts, instances, offsetof(struct account, counters.requests));
    say_value(&p, "connections_refused_total", "counter", "Connections above the limit.", n->refused);
    say_value(&p, "timeouts_total", "counter", "Connections that were given up.", n->timeouts);
    say(&p, "# HELP uvhttp_answers_total Answers by the first digit of their status.\n# TYPE uvhttp_answers_total counter\n");
    for (unsigned i = 2; i <= 5; i++)
        say(&p, "uvhttp_answers_total{status=\"%uxx\"} %" PRIu64 "\n", i, n->answers[i]);
    say_value(&p, "sent_bytes_total", "counter", "Bytes of answers.", n->sent_bytes);
    say_value(&p, "request_body_bytes_total", "counter", "Bytes of the bodies of requests.", n->body_bytes);
    say_value(&p, "requests_waiting", "gauge", "Requests whose handlers have not answered yet.", sum.waiting);
    say_value(&p, "held_bytes", "gauge", "What connections hold of requests and answers that wait.", sum.held);
    say_value(&p, "cache_bytes", "gauge", "Bytes in the cache of files.", sum.cache_bytes);
    say_value(&p, "cache_hits_total", "counter", "Files that were in the cache.", sum.hits);
    say_value(&p, "cache_misses_total", "counter", "Files that were not in the cache.", sum.misses);
    say_times(&p, "latency_seconds", "From the read that completes a request to its answer; of reads a sample, and every answer that came later.",
              &sum.latency);
    say_times(&p, "loop_delay_seconds", "How much later than it was due a loop came to its clock.", &sum.delay);
    return p.used;
}
