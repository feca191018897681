//! The switch between two stacks, and the way out of a coroutine that does not switch by itself: all of zco that depends on the processor.
const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;

const arch = if (builtin.os.tag != .linux) unknown() else switch (builtin.cpu.arch) {
    .x86_64 => @import("arch/x86_64.zig"),
    else => unknown(),
};

fn unknown() noreturn {
    const here = @tagName(builtin.cpu.arch) ++ "-" ++ @tagName(builtin.os.tag);
    @compileError("zco knows how to switch stacks on x86_64 Linux only, and this is " ++ here);
}

/// Where a coroutine that does not run goes on. Everything else it needs is on its stack.
pub const Context = arch.Context;

/// What a new stack starts with: entry's arguments are the context that was left and the one that was entered.
pub const Entry = *const fn (left: *Context, entered: *Context) callconv(.c) noreturn;

/// fresh makes the context of a coroutine that has not run: entry runs on the stack below top, and nothing has called it.
pub fn fresh(top: usize, entry: Entry) Context {
    return arch.fresh(std.mem.alignBackward(usize, top, 16), @intFromPtr(entry));
}

/// swap leaves one context and enters another. From and to may be the same. The rounding mode of floating-point numbers and their sticky
/// flags are not switched.
pub const swap = arch.swap;

/// interrupt changes the registers that a signal handler will return to, so that the interrupted code calls `zco_preempted`
/// next, on its own stack, and then goes on with all registers as they were. The handler itself returns as usual: the kernel restores
/// the signal mask, and no coroutine is ever left in the middle of a handler. Where the stack pointer is not between lowest and highest,
/// or too near to lowest, interrupt returns false and has changed nothing.
pub fn interrupt(ucontext: *linux.ucontext_t, lowest: usize, highest: usize) bool {
    return arch.interrupt(ucontext, lowest, highest);
}
