#include "guide.h"

#include <stdint.h>

enum { WAYS = 1 << 16 };

static unsigned char times[WAYS]; /* how often the input has gone each way */
static unsigned char seen[WAYS];  /* how often any has, a bit for each magnitude */
static uint16_t gone[WAYS];       /* the ways that the input has gone */
static size_t gone_count, ways;
static uint64_t before;

/* Where zig counts how often the input has gone each way, if there is anything of zig's. */
extern unsigned char __start___sancov_cntrs[] __attribute__((weak));
extern unsigned char __stop___sancov_cntrs[] __attribute__((weak));

static size_t counters(void)
{
    size_t n = (size_t)((uintptr_t)__stop___sancov_cntrs - (uintptr_t)__start___sancov_cntrs);
    return n < WAYS ? n : WAYS;
}

/* take_counters notes the ways that were counted. */
static void take_counters(void)
{
    for (size_t i = 0, n = counters(); i < n; i++) {
        if (__start___sancov_cntrs[i] == 0)
            continue;
        if (times[i] == 0)
            gone[gone_count++] = (uint16_t)i;
        times[i] = __start___sancov_cntrs[i];
    }
}

/* __sanitizer_cov_trace_pc is what the compiler calls in every basic block. */
void __sanitizer_cov_trace_pc(void);

void __sanitizer_cov_trace_pc(void)
{
    /* Relative to the program, so that its place in memory does not make one run differ from the next. */
    uint64_t here = (uint64_t)((uintptr_t)__builtin_return_address(0) - (uintptr_t)guide_begin) * 0x9e3779b97f4a7c15;
    uint16_t way = (uint16_t)((here ^ before) >> 48);
    before = here >> 1;
    if (times[way] == 0)
        gone[gone_count++] = way;
    if (times[way] < UINT8_MAX)
        times[way]++;
}

void guide_begin(void)
{
    for (size_t i = 0; i < gone_count; i++)
        times[gone[i]] = 0;
    gone_count = 0;
    before = 0;
    for (size_t i = 0, n = counters(); i < n; i++)
        __start___sancov_cntrs[i] = 0;
}

bool guide_new(void)
{
    bool found = false;
    take_counters();
    for (size_t i = 0; i < gone_count; i++) {
        unsigned char n = times[gone[i]], magnitude = 1;
        for (unsigned limit = 1; n > limit && magnitude < 1 << 7; limit *= 2)
            magnitude = (unsigned char)(magnitude << 1);
        ways += seen[gone[i]] == 0;
        found = found || (seen[gone[i]] & magnitude) == 0;
        seen[gone[i]] |= magnitude;
    }
    return found;
}

size_t guide_ways(void)
{
    return ways;
}
