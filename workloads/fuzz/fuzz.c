/*
 * The fuzzer: `fuzz [SECONDS [SEED]]`, of CPU time: beside others it takes longer, and tries as much. It is the same inputs for the same seed, as far as
 * it gets in its time.
 */
#include "fuzz.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "guide.h"

/* It fails if it is not over after CLOCK_TIMES its seconds by the clock, or if an input goes on for INPUT_SECONDS of CPU time beyond them. */
enum { SECONDS = 60, CLOCK_TIMES = 60, INPUT_SECONDS = 60 };
enum { KEPT_MAX = 8192, CHANGES_MAX = 6 };

static uint64_t state;
static struct fuzz_text kept[KEPT_MAX];
static size_t kept_count;
static struct fuzz_text now; /* what is tried */
static unsigned long long seed = 1;

uint64_t fuzz_chance(uint64_t below)
{
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return state % below;
}

char *fuzz_exact(const char *input, size_t size)
{
    char *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL)
        exit(1);
    memcpy(copy, input, size);
    return copy;
}

static void print_input(void)
{
    printf(", with seed %llu, for %zu bytes: ", seed, now.size);
    for (size_t i = 0; i < now.size; i++)
        printf(now.data[i] >= ' ' && now.data[i] <= '~' && now.data[i] != '\\' ? "%c" : "\\x%02x", (unsigned char)now.data[i]);
    printf("\n");
    fflush(stdout);
}

void fuzz_fail(const char *what)
{
    printf("FAIL: %s", what);
    print_input();
    exit(1);
}

/* What the sanitizers have: without one, nobody calls it. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void die_of_sanitizer(void)
{
    printf("FAIL: a sanitizer has complained");
    print_input();
}

/* add puts a text into an input, as far as there is room, and returns the new size. */
static size_t add(char *out, size_t size, size_t at, struct fuzz_text more)
{
    size_t room = fuzz_target.most - size, n = more.size < room ? more.size : room;
    memmove(out + at + n, out + at, size - at);
    memcpy(out + at, more.data, n);
    return size + n;
}

static struct fuzz_text any(const struct fuzz_text *of, size_t count)
{
    return of[fuzz_chance(count)];
}

/* begin_input takes an input that was kept, or seeds, and perhaps a part of another behind it. */
static size_t begin_input(char *out)
{
    size_t size = 0;
    for (uint64_t n = 1 + fuzz_chance(3); n > 0; n--) {
        struct fuzz_text next;
        if (kept_count > 0 && fuzz_chance(4) > 0)
            next = any(kept, kept_count);
        else
            next = any(fuzz_target.seeds, fuzz_target.seed_count);
        size_t from = size > 0 && next.size > 0 && fuzz_chance(2) == 0 ? fuzz_chance(next.size) : 0;
        size = add(out, size, size, (struct fuzz_text){next.data + from, next.size - from});
        if (fuzz_chance(2) == 0)
            break;
    }
    return size;
}

/* spice is a byte of a word. */
static char spice(void)
{
    struct fuzz_text word = any(fuzz_target.words, fuzz_target.word_count);
    return word.data[fuzz_chance(word.size)];
}

/* change makes one change somewhere, and returns the new size. */
static size_t change(char *out, size_t size)
{
    size_t at = fuzz_chance(size + 1), left = size - at;
    uint64_t kind = fuzz_chance(6);
    if (kind == 0)
        return add(out, size, at, any(fuzz_target.words, fuzz_target.word_count));
    if (kind == 1) {
        char byte = spice();
        return add(out, size, at, (struct fuzz_text){&byte, 1});
    }
    if (left == 0)
        return size;
    if (kind == 2) { /* a piece is lost */
        size_t lost = 1 + fuzz_chance(left < 8 ? left : 8);
        memmove(out + at, out + at + lost, left - lost);
        return size - lost;
    }
    if (kind == 3) { /* a word takes the place of what is there */
        struct fuzz_text word = any(fuzz_target.words, fuzz_target.word_count);
        memcpy(out + at, word.data, word.size < left ? word.size : left);
        return size;
    }
    out[at] = kind == 4 ? spice() : (char)(out[at] ^ 1 << fuzz_chance(8));
    return size;
}

static size_t make_input(char *out)
{
    size_t size = begin_input(out);
    if (fuzz_chance(64) == 0) { /* as long as can be */
        size_t at = fuzz_chance(size + 1), more = fuzz_target.most - size;
        memmove(out + at + more, out + at, size - at);
        memset(out + at, spice(), more);
        size = fuzz_target.most;
    }
    for (uint64_t n = fuzz_chance(CHANGES_MAX); n > 0; n--)
        size = change(out, size);
    return size;
}

/* seed_of makes what is left to chance in an attempt a matter of its input. */
static uint64_t seed_of(const char *input, size_t size)
{
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)input[i]) * 0x100000001b3;
    return hash | 1;
}

static void attempt(const char *input, size_t size)
{
    uint64_t outside = state;
    char *copy = fuzz_exact(input, size);
    now = (struct fuzz_text){copy, size};
    state = seed_of(copy, size);
    guide_begin();
    fuzz_target.attempt(copy, size);
    state = outside;
    if (guide_new() && kept_count < KEPT_MAX)
        kept[kept_count++] = now;
    else
        free(copy);
}

static int64_t milliseconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void die_of_time(int which)
{
    printf("FAIL: %s", which == SIGPROF ? "an input goes on for ever" : "too little CPU time, or an input that waits for ever");
    print_input();
    _exit(1);
}

/* bound ends the program when it can no more be said to go on. What it prints then takes no memory of the heap, which may be in use. */
static void bound(long seconds)
{
    static char said[BUFSIZ];
    setvbuf(stdout, said, _IOFBF, sizeof said);
    signal(SIGPROF, die_of_time);
    signal(SIGALRM, die_of_time);
    const struct itimerval cpu = {.it_value.tv_sec = seconds + INPUT_SECONDS};
    setitimer(ITIMER_PROF, &cpu, NULL);
    alarm((unsigned)(seconds * CLOCK_TIMES));
}

int main(int argc, char **argv)
{
    long seconds = argc > 1 ? strtol(argv[1], NULL, 10) : SECONDS;
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    state = seed * 0x9e3779b97f4a7c15 | 1;
    unsigned long runs = 0;
    char *input = malloc(fuzz_target.most);
    if (input == NULL)
        return 1;
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(die_of_sanitizer);
    bound(seconds);
    for (size_t i = 0; i < fuzz_target.seed_count; i++)
        attempt(fuzz_target.seeds[i].data, fuzz_target.seeds[i].size);
    const int64_t begin = milliseconds(CLOCK_MONOTONIC);
    do {
        for (int i = 0; i < 200; i++, runs++)
            attempt(input, make_input(input));
    } while (milliseconds(CLOCK_PROCESS_CPUTIME_ID) < seconds * 1000);
    printf("%lu inputs of seed %llu in %ld s of CPU time, %lld s by the clock; %zu of them went %zu ways\n", runs, seed, seconds,
           (long long)(milliseconds(CLOCK_MONOTONIC) - begin) / 1000, kept_count, guide_ways());
    if (guide_ways() < 10)
        fuzz_fail("the code does not tell which way it goes");
    for (size_t i = 0; i < kept_count; i++)
        free((void *)(uintptr_t)kept[i].data);
    free(input);
    return 0;
}
