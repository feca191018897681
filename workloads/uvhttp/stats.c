/*
 * The server's account of itself. It says what the compiler and the libraries say, not what a build file was meant to say.
 */
#include <inttypes.h>
#include <stdio.h>

#include "mem.h"
#include "server.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define NUMBER(x) NUMBER_(x)
#define NUMBER_(x) #x

#ifdef __clang__
#define COMPILER "clang " __clang_version__
#if __has_feature(address_sanitizer)
#define ADDRESS_SANITIZER
#endif
#else
#define COMPILER "gcc " __VERSION__
#ifdef __SANITIZE_ADDRESS__
#define ADDRESS_SANITIZER
#endif
#endif

static const char flags[] = ""
#ifdef __OPTIMIZE__
                            "optimised "
#endif
#ifdef NDEBUG
                            "NDEBUG "
#endif
#if defined(_FORTIFY_SOURCE) && defined(__OPTIMIZE__)
                            "fortify-" NUMBER(_FORTIFY_SOURCE) " "
#endif
#ifdef __SSP_STRONG__
                            "stack-protector-strong "
#endif
#ifdef __PIE__
                            "pie "
#endif
#ifdef ADDRESS_SANITIZER
                            "address-sanitizer "
#endif
#ifdef __SSE4_2__
                            "sse4.2 "
#endif
                            "c11";

/* total adds up what the instances say; of this one it is what holds now. */
static struct account total(struct server *s)
{
    struct uvhttp *owner = s->owner;
    struct account sum = {0};
    server_account(s);
    uv_mutex_lock(&owner->lock);
    for (unsigned i = 0; i < owner->config.instances; i++)
        account_add(&sum, &owner->accounts[i]);
    uv_mutex_unlock(&owner->lock);
    return sum;
}

size_t stats_write(struct server *s, char *out, size_t room)
{
    const struct account sum = total(s);
    const struct counters *n = &sum.counters;
    const struct cache *c = &s->files.cache;
    unsigned instances = s->owner->config.instances, xxh = XXH_versionNumber();
    int size = snprintf(
        out, room,
        "{\"server\":\"uvhttp\","
        "\"allocator\":{\"name\":\"%s\",\"version\":\"%s\",\"allocations\":%" PRIu64 "},"
        "\"libuv\":\"%s\",\"xxhash\":\"%u.%u.%u\",\"compiler\":\"%s\",\"flags\":\"%s\","
        "\"limits\":{\"connections\":%u,\"headBytes\":%d,\"targetBytes\":%d,\"bodyBytes\":%d,\"cacheBytes\":%zu,\"cacheFiles\":%zu,"
        "\"memoryFileBytes\":%d,\"headMilliseconds\":%d,\"idleMilliseconds\":%d,\"stallMilliseconds\":%d,\"drainMilliseconds\":%d},"
        "\"connections\":{\"open\":%" PRIu64 ",\"accepted\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"timedOut\":%" PRIu64 "},"
        "\"requests\":%" PRIu64 ",\"answers\":{\"2xx\":%" PRIu64 ",\"3xx\":%" PRIu64 ",\"4xx\":%" PRIu64 ",\"5xx\":%" PRIu64 "},"
        "\"sentBytes\":%" PRIu64 ",\"requestBodyBytes\":%" PRIu64 ","
        "\"cache\":{\"files\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"hits\":%" PRIu64 ",\"misses\":%" PRIu64 ",\"evictions\":%" PRIu64 ",\"reloads\":%" PRIu64 "},"
        "\"held\":{\"bytes\":%" PRIu64 ",\"most\":%d,\"unused\":%" PRIu64 "},"
        "\"instances\":%u,\"waiting\":%" PRIu64 ","
        "\"loop\":{\"lateMilliseconds\":%" PRIu64 ",\"mostLateMilliseconds\":%" PRIu64 "}}\n",
        mem_name(), mem_version(), mem_allocations(), uv_version_string(), xxh / 10000, xxh / 100 % 100, xxh % 100,
        COMPILER, flags, s->owner->max, HEAD_MAX, TARGET_MAX, BODY_MAX, c->bytes_max * instances, c->files_max * instances, MEMORY_MAX, HEAD_MS,
        IDLE_MS, STALL_MS, DRAIN_MS, sum.open, n->accepted, n->refused, n->timeouts, n->requests, n->answers[2], n->answers[3], n->answers[4],
        n->answers[5], n->sent_bytes, n->body_bytes, sum.cache_files, sum.cache_bytes, sum.hits, sum.misses, sum.evictions, sum.reloads, sum.held,
        HELD_MAX, sum.unused, instances, sum.waiting, sum.late_ms, sum.most_late_ms);
    return size < 0 ? 0 : (size_t)size < room ? (size_t)size : room - 1;
}
