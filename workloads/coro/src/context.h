/*
 * The switch between two stacks, for x86-64 and the System V ABI.
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
 * switchContext leaves the running stack in `from` and goes on with `to`. It returns when somebody switches back.
 *
 * Nothing is pushed, because the caller may keep data in the red zone below its stack pointer. Loading a control word is
 * slow, so they are loaded only when they differ; the flags of MXCSR (its low six bits) are nobody's to preserve.
 */
[[gnu::always_inline]] inline void switchContext(Context &from, Context &to)
{
    Context *old = &from, *next = &to;
    asm volatile("leaq 1f(%%rip), %%rax\n\t"
                 "movq %%rsp, 0(%%rsi)\n\t"
                 "movq %%rbp, 8(%%rsi)\n\t"
                 "movq %%rax, 16(%%rsi)\n\t"
                 "stmxcsr 24(%%rsi)\n\t"
                 "fnstcw 28(%%rsi)\n\t"
                 "movl 24(%%rsi), %%eax\n\t"
                 "xorl 24(%%rdi), %%eax\n\t"
                 "andl $0xffc0, %%eax\n\t"
                 "movzwl 28(%%rsi), %%ecx\n\t"
                 "xorw 28(%%rdi), %%cx\n\t"
                 "orl %%ecx, %%eax\n\t"
                 "jz 2f\n\t"
                 "ldmxcsr 24(%%rdi)\n\t"
                 "fldcw 28(%%rdi)\n"
                 "2:\n\t"
                 "movq 0(%%rdi), %%rsp\n\t"
                 "movq 8(%%rdi), %%rbp\n\t"
                 "jmpq *16(%%rdi)\n"
                 "1:\n\t"
                 : "+S"(old), "+D"(next)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "xmm0", "xmm1", "xmm2",
                   "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                   "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "memory", "cc");
}

/*
 * makeContext prepares a stack that ends at `top` to begin with entry(&context), which must never return. The switch leaves the
 * context's address in the register of a first argument; the zeroes end a debugger's walk.
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
