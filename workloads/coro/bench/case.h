/* The cases: what is measured, of which kind of coroutine, how much of it; and their names. */
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

enum class Family { Switch, Wake, Uneven, Depth, Read, DirectRead, SameRead, DeepRead };

enum class Kind {
    Stackful,
    StackfulNoexcept,
    StackfulPrealloc, /* a stack that is a static array */
    StackfulUnpooled, /* a stack that is mapped and unmapped each time */
    StackfulPool,     /* reads are done by a pool of threads that block */
    StackfulUring,    /* reads are asynchronous */
    StackfulFlagsDiffer, /* the flags of MXCSR are others in the coroutine than at its caller's, as it begins */
    Boost,
    BoostFlagsDiffer, /* the flags of MXCSR are others in the coroutine than at its caller's */
    Stackless,
    StacklessNoexcept,
    StacklessPrealloc, /* frames from a static array */
    StacklessPreallocNoexcept,
    StacklessPool,
    StacklessUring,
    StacklessAio,     /* the same by the kernel's older way, that of libaio */
    Hybrid,           /* a frame that waits for calls on a stack */
    StacklessInlined, /* no coroutine at all: what is left of one that is inlined */
    OwnQueue,         /* what only its own worker takes jobs from */
    StealableQueue,   /* what others could take them from, too */
    InTurn,           /* tasks begin on one worker after the other */
    WhereIdle,        /* tasks begin where a worker has nothing else to do */
};

struct Case {
    Family family;
    Kind kind;
    unsigned parameter; /* depth, KiB, or tasks for each thread; 0 where there is nothing to choose */

    bool operator==(const Case &) const = default;
};

std::vector<Case> allCases();
std::string nameOf(const Case &);
std::string_view nameOf(Kind);

/* parseCase knows the names of allCases() and no others. */
std::optional<Case> parseCase(std::string_view name);

} // namespace bench
