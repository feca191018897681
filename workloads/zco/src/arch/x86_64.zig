//! Stacks and interruption on x86-64.
const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;

comptime {
    // zco_preempted_code saves what FXSAVE saves: the program must not use the upper halves of wider registers.
    if (std.Target.x86.featureSetHas(builtin.cpu.features, .avx))
        @compileError("zco must be built without AVX: give -mcpu=x86_64_v2");
}

pub const Context = extern struct { rsp: usize, rbp: usize, rip: usize };

pub fn fresh(top: usize, entry: usize) Context {
    const sp: *usize = @ptrFromInt(top - 8); // where a call would have put the address to return to
    sp.* = 0;
    return .{ .rsp = top - 8, .rbp = 0, .rip = entry };
}

/// It is inlined, so that the compiler saves no more registers than are in use and the processor's prediction of returns is not upset
/// by it. The control words of the floating-point units are not switched.
pub inline fn swap(from: *Context, to: *Context) void {
    var rdi: *Context = undefined;
    var rsi: *Context = undefined;
    asm volatile (
        \\ leaq 1f(%%rip), %%rax
        \\ movq %%rsp, 0(%%rdi)
        \\ movq %%rbp, 8(%%rdi)
        \\ movq %%rax, 16(%%rdi)
        \\ movq 0(%%rsi), %%rsp
        \\ movq 8(%%rsi), %%rbp
        \\ jmpq *16(%%rsi)
        \\1:
        : [rdi] "={rdi}" (rdi),
          [rsi] "={rsi}" (rsi),
        : [from] "{rdi}" (from),
          [to] "{rsi}" (to),
        : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
    );
}

/// The bytes below its stack pointer that a function may use without saying so.
const red_zone = 128;

/// What is needed of the stack at most: red zone, registers, FXSAVE's area, and the scheduler's calls.
const room = 2048;

extern fn zco_preempted_code() callconv(.naked) noreturn;

/// The interrupted code calls zco_preempted_code as if it had a call between its two instructions.
pub fn interrupt(ucontext: *linux.ucontext_t, lowest: usize, highest: usize) bool {
    const rsp: *usize = &ucontext.mcontext.gregs[linux.REG.RSP];
    const rip: *usize = &ucontext.mcontext.gregs[linux.REG.RIP];
    if (rsp.* < lowest + room or rsp.* > highest) return false;
    rsp.* -= red_zone + 8;
    const return_to: *usize = @ptrFromInt(rsp.*);
    return_to.* = rip.*;
    rip.* = @intFromPtr(&zco_preempted_code);
    return true;
}

comptime {
    // All that a function may not expect to change between two of its instructions is saved here: general registers, flags, and
    // by FXSAVE x87, MXCSR and XMM.
    asm (
        \\ .text
        \\ .globl zco_preempted_code
        \\ .hidden zco_preempted_code
        \\ .type zco_preempted_code, @function
        \\zco_preempted_code:
        \\ pushfq
        \\ cld
        \\ pushq %rbp
        \\ movq %rsp, %rbp
        \\ pushq %rax
        \\ pushq %rbx
        \\ pushq %rcx
        \\ pushq %rdx
        \\ pushq %rsi
        \\ pushq %rdi
        \\ pushq %r8
        \\ pushq %r9
        \\ pushq %r10
        \\ pushq %r11
        \\ pushq %r12
        \\ pushq %r13
        \\ pushq %r14
        \\ pushq %r15
        \\ movq %rsp, %rbx
        \\ subq $512, %rsp
        \\ andq $-64, %rsp
        \\ fxsave64 (%rsp)
        \\ call zco_preempted
        \\ fxrstor64 (%rsp)
        \\ movq %rbx, %rsp
        \\ popq %r15
        \\ popq %r14
        \\ popq %r13
        \\ popq %r12
        \\ popq %r11
        \\ popq %r10
        \\ popq %r9
        \\ popq %r8
        \\ popq %rdi
        \\ popq %rsi
        \\ popq %rdx
        \\ popq %rcx
        \\ popq %rbx
        \\ popq %rax
        \\ popq %rbp
        \\ popfq
        \\ ret $128
        \\ .size zco_preempted_code, . - zco_preempted_code
    );
}
