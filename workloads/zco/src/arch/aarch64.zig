//! Stacks and interruption on aarch64.
const std = @import("std");
const linux = std.os.linux;

pub const Context = extern struct { sp: usize };

/// What swap leaves on the stack: the registers that a function must keep. x30 is where it goes on.
const Kept = extern struct { x29: usize = 0, x30: usize, x19: usize, x20_to_x28: [9]usize = @splat(0), d8_to_d15: [8]u64 = @splat(0) };

extern fn zco_begin() callconv(.naked) noreturn;

pub fn fresh(top: usize, entry: usize) Context {
    const kept: *Kept = @ptrFromInt(top - @sizeOf(Kept));
    kept.* = .{ .x30 = @intFromPtr(&zco_begin), .x19 = entry };
    return .{ .sp = @intFromPtr(kept) };
}

extern fn zco_swap(from: *Context, to: *Context) callconv(.c) void;

/// A function of its own, for an inlined one would have to name more registers than Zig lets it. The compiler expects no vectors, and no
/// upper halves of d8 to d15, to survive a call. FPCR and FPSR are not switched.
pub inline fn swap(from: *Context, to: *Context) void {
    zco_swap(from, to);
}

comptime {
    std.debug.assert(@sizeOf(Kept) == 160);
    // Without an address to return to and a frame before it, entry is where a stack trace ends.
    asm (
        \\ .text
        \\ .p2align 4
        \\ .globl zco_swap
        \\ .hidden zco_swap
        \\ .type zco_swap, %function
        \\zco_swap:
        \\ stp x29, x30, [sp, #-160]!
        \\ stp x19, x20, [sp, #16]
        \\ stp x21, x22, [sp, #32]
        \\ stp x23, x24, [sp, #48]
        \\ stp x25, x26, [sp, #64]
        \\ stp x27, x28, [sp, #80]
        \\ stp d8, d9, [sp, #96]
        \\ stp d10, d11, [sp, #112]
        \\ stp d12, d13, [sp, #128]
        \\ stp d14, d15, [sp, #144]
        \\ mov x9, sp
        \\ str x9, [x0]
        \\ ldr x9, [x1]
        \\ mov sp, x9
        \\ ldp d14, d15, [sp, #144]
        \\ ldp d12, d13, [sp, #128]
        \\ ldp d10, d11, [sp, #112]
        \\ ldp d8, d9, [sp, #96]
        \\ ldp x27, x28, [sp, #80]
        \\ ldp x25, x26, [sp, #64]
        \\ ldp x23, x24, [sp, #48]
        \\ ldp x21, x22, [sp, #32]
        \\ ldp x19, x20, [sp, #16]
        \\ ldp x29, x30, [sp], #160
        \\ ret
        \\ .size zco_swap, . - zco_swap
        \\ .globl zco_begin
        \\ .hidden zco_begin
        \\ .type zco_begin, %function
        \\zco_begin:
        \\ mov x30, xzr
        \\ br x19
        \\ .size zco_begin, . - zco_begin
    );
}

/// What the kernel puts on the handler's stack, and rt_sigreturn expects at the stack pointer.
const Frame = extern struct { info: [128]u8 align(16), ucontext: linux.ucontext_t };

comptime {
    std.debug.assert(@sizeOf(Frame) == 4688);
}

/// What is needed of the stack at most: the frame, and the scheduler's calls. No function uses what is below its stack pointer, as
/// some do on x86-64.
const room = 7 * 1024;

extern fn zco_preempted_code() callconv(.naked) noreturn;

/// No instruction loads all registers and the program counter, so that only the kernel can go back between any two instructions. The
/// signal's frame is copied to the coroutine's stack, and given to rt_sigreturn when the coroutine has its next turn: that is a system
/// call more for each turn that is ended, a hundred in a second at most.
///
/// Handling the signal on the coroutine's stack, and switching in the handler, would need no copy. But each tick would need the room,
/// whatever it meets, and where there is too little the kernel ends the process; and the signal would have to be let in while it is
/// handled, for the other coroutines.
pub fn interrupt(ucontext: *linux.ucontext_t, lowest: usize, highest: usize) bool {
    const registers = &ucontext.mcontext;
    if (registers.sp < lowest + room or registers.sp > highest) return false;
    const frame: *const Frame = @fieldParentPtr("ucontext", ucontext);
    if (!whole(&registers.reserved1)) return false;
    const copy: *Frame = @ptrFromInt(std.mem.alignBackward(usize, registers.sp - @sizeOf(Frame), @alignOf(Frame)));
    copy.* = frame.*;
    registers.sp = @intFromPtr(copy);
    registers.pc = @intFromPtr(&zco_preempted_code);
    return true;
}

const extra_magic = 0x45585401;

/// whole is false where some of the registers lie behind the frame, by their address: a copy would not do. They do with SME's matrix,
/// or with vectors of SVE of a kilobit and more, which zco's own code does not use.
pub fn whole(records: []const u8) bool {
    var rest = records;
    while (rest.len >= 8) {
        const magic = std.mem.readInt(u32, rest[0..4], .little);
        const size = std.mem.readInt(u32, rest[4..8], .little);
        if (magic == 0) return true;
        if (magic == extra_magic or size < 8 or size > rest.len) return false;
        rest = rest[size..];
    }
    return false;
}

comptime {
    // The stack pointer is that of the frame, before the call and after it. 139 is rt_sigreturn.
    asm (
        \\ .text
        \\ .p2align 2
        \\ .globl zco_preempted_code
        \\ .hidden zco_preempted_code
        \\ .type zco_preempted_code, %function
        \\zco_preempted_code:
        \\ bl zco_preempted
        \\ mov x8, #139
        \\ svc #0
        \\ brk #0
        \\ .size zco_preempted_code, . - zco_preempted_code
    );
}
