/*
 * The switch between two stacks, for x86-64, the System V ABI, and code that is linked into the program itself: its thread-local
 * variables have a place that the linker knows.
 *
 * It is inlined into its callers. The compiler is told that every register is lost, so that it keeps only what is alive at
 * that very place, and no call and no return is executed: a return on another stack than its call's is mispredicted.
 */
#pragma once

#include <cstddef>
#include <cstdint>

#ifndef __x86_64__
#error "the switch is written for x86-64"
#endif

namespace coro {

/* Context is a stack at rest: where it stands, where it goes on, and the control words that the ABI has functions preserve. */
struct Context {
    void *sp = nullptr;
    void *bp = nullptr;
    void *ip = nullptr;
    std::uint32_t mxcsr = 0;
    std::uint16_t fcw = 0;
};

static_assert(offsetof(Context, sp) == 0 && offsetof(Context, bp) == 8 && offsetof(Context, ip) == 16);
static_assert(offsetof(Context, mxcsr) == 24 && offsetof(Context, fcw) == 28);

/*
 * callersContext is where the thread's running coroutine goes back to. It is at a fixed distance from the thread's own register,
 * so that the way back needs no pointer: one on the coroutine's stack would have to be waited for, once each switch.
 */
extern thread_local constinit Context callersContext asm("coroCallersContext");

/*
 * Registers that only some processors have: a compiler that may use them keeps values in them over anything that does not say that it
 * loses them.
 */
#ifdef __AVX512F__
#define CORO_AVX512                                                                                                                  \
    , "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29",  \
        "xmm30", "xmm31", "k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"
#else
#define CORO_AVX512
#endif

#define CORO_CALLERS(offset) "%%fs:coroCallersContext@tpoff+" #offset
#define CORO_COROUTINES(offset) #offset "(%%rdi)"

/*
 * loadsMxcsr says how a switch sees to MXCSR, whose flags (the low six bits) are nobody's to preserve. Where it is true, it is loaded each time, flags
 * and all: to read what was just stored of it, and compare it, takes AMD's processors longer (measured on an EPYC: a quarter of the switch).
 * Where it is false, it is loaded only when its control bits differ, and else the flags stay as they are: to load other flags takes Intel's
 * longer than all the rest.
 */
extern bool loadsMxcsr asm("coroLoadsMxcsr");

/*
 * The word of x87 is loaded only where it differs. The program of the benchmark that is built without all this (Makefile) says what it takes: it
 * is no choice, for one coroutine's rounding mode would leak into another.
 */
#ifndef CORO_BENCH_WITHOUT_CONTROL_WORDS
#define CORO_CHANGE_WORDS(FROM, TO)                                                                                                  \
    "stmxcsr " FROM(24) "\n\t"                                                                                                       \
    "fnstcw " FROM(28) "\n\t"                                                                                                        \
    "movzwl " FROM(28) ", %%ecx\n\t"                                                                                                 \
    "cmpb $0, coroLoadsMxcsr(%%rip)\n\t"                                                                                             \
    "je 4f\n\t"                                                                                                                      \
    "ldmxcsr " TO(24) "\n"                                                                                                           \
    "2:\n\t"                                                                                                                         \
    "cmpw " TO(28) ", %%cx\n\t"                                                                                                      \
    "jne 5f\n"                                                                                                                       \
    "3:\n\t"
#define CORO_CHANGE_UNUSUAL_WORDS(FROM, TO)                                                                                          \
    "4:\n\t"                                                                                                                         \
    "movl " FROM(24) ", %%eax\n\t"                                                                                                   \
    "xorl " TO(24) ", %%eax\n\t"                                                                                                     \
    "testl $0xffc0, %%eax\n\t"                                                                                                       \
    "jz 2b\n\t"                                                                                                                      \
    "ldmxcsr " TO(24) "\n\t"                                                                                                         \
    "jmp 2b\n"                                                                                                                       \
    "5:\n\t"                                                                                                                         \
    "fldcw " TO(28) "\n\t"                                                                                                           \
    "jmp 3b\n"
#else
#define CORO_CHANGE_WORDS(FROM, TO)
#define CORO_CHANGE_UNUSUAL_WORDS(FROM, TO)
#endif

/* Nothing is pushed, because the code around may keep data in the red zone below its stack pointer. */
#define CORO_SWITCH(coroutine, FROM, TO)                                                                                             \
    asm volatile("leaq 1f(%%rip), %%rax\n\t"                                                                                         \
                 "movq %%rsp, " FROM(0) "\n\t"                                                                                       \
                 "movq %%rbp, " FROM(8) "\n\t"                                                                                       \
                 "movq %%rax, " FROM(16) "\n\t"                                                                                      \
                 CORO_CHANGE_WORDS(FROM, TO)                                                                                         \
                 "movq " TO(0) ", %%rsp\n\t"                                                                                         \
                 "movq " TO(8) ", %%rbp\n\t"                                                                                         \
                 "jmpq *" TO(16) "\n"                                                                                                \
                 CORO_CHANGE_UNUSUAL_WORDS(FROM, TO)                                                                                 \
                 "1:\n\t"                                                                                                            \
                 : "+D"(coroutine)                                                                                                   \
                 :                                                                                                                   \
                 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",  \
                   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",     \
                   "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5",    \
                   "mm6", "mm7", "memory", "cc" CORO_AVX512)

/*
 * switchTo leaves the running stack to callersContext and goes on with the coroutine; switchBack does the opposite. Both return, when
 * control comes back, the coroutine that the last switch was to or from: it is in a register then.
 */
[[gnu::always_inline]] inline Context &switchTo(Context &to)
{
    Context *coroutine = &to;
    CORO_SWITCH(coroutine, CORO_CALLERS, CORO_COROUTINES);
    return *coroutine;
}

[[gnu::always_inline]] inline Context &switchBack(Context &from)
{
    Context *coroutine = &from;
    CORO_SWITCH(coroutine, CORO_COROUTINES, CORO_CALLERS);
    return *coroutine;
}

/*
 * makeContext prepares a stack that ends at `top` to begin with entry(&context), which must never return. switchTo leaves
 * the context's address in the register of a first argument; the zeroes end a debugger's walk.
 */
inline Context makeContext(void *top, void (*entry)(Context *))
{
    auto *end = reinterpret_cast<void **>(reinterpret_cast<std::uintptr_t>(top) & ~std::uintptr_t{15});
    *--end = nullptr; /* the return address: a function begins 8 below a multiple of 16 */
    Context context;
    context.sp = end;
    context.ip = reinterpret_cast<void *>(entry);
    asm volatile("stmxcsr %0\n\tfnstcw %1" : "=m"(context.mxcsr), "=m"(context.fcw));
    return context;
}

} // namespace coro
