//! The time slice: a coroutine that computes and never waits has its turn ended for it.
//!
//! A timer of the thread's CPU time sends the thread SIGVTALRM every 10 ms that it computes, or sooner, down to every 2 ms: the
//! more coroutines were ready when the last turn was ended. A thread that waits is left alone, and a switch costs nothing. A tick that
//! meets the same turn as the tick before ends it: so a turn lasts 10 to 20 ms, or down to 2 to 4. The kernel looks at such timers at ticks of its own: it sends none
//! sooner than these (4 ms at 250 Hz).
//!
//! Why this is safe at any instruction:
//! - `inside` is written by this thread only, and a signal comes between two instructions of it. So the handler sees whole values,
//!   and all that the thread has stored before them in program order (the barriers of enter and leave bind the compiler).
//! - When inside is not 0, the library may be in the middle of anything. The handler then reads and writes nothing but inside, to
//!   which it adds a mark that the turn is overdue; leave() ends the turn. A mark that falls between a load and a store of inside
//!   is lost, as if the tick had come a moment earlier: the next tick makes it again.
//! - When inside is 0, the thread is between two instructions of a coroutine's own code, and nothing of the scheduler's is half
//!   done: enter's store comes before the first change, leave's after the last. If the tick falls inside enter itself, between a
//!   load of 0 and the store of 1, the turn ends there and the store is right when the coroutine goes on.
//! - The handler switches nothing. It makes the kernel return to a call of `zco_preempted` between those two instructions
//!   (context.interrupt) and sets inside, so that the call is not interrupted itself. No coroutine stops within a handler, so
//!   signal masks and the handler's stack are never in question. The call keeps every register that a compiler may use.
//! - The call needs room on the coroutine's stack. Where there is too little, the turn goes on.
const std = @import("std");
const linux = std.os.linux;
const posix = std.posix;
const context = @import("context.zig");
const Scheduler = @import("scheduler.zig").Scheduler;
const overdue = @import("scheduler.zig").overdue;
const stacks = @import("stacks.zig");

const tick = linux.SIG.VTALRM;
const handler_stack_size = 64 * 1024;

/// Signal handlers have no other argument.
threadlocal var active: ?*Scheduler = null;
threadlocal var last_turn: u64 = 0;

const Event = extern struct { value: usize, signal: i32, notify: i32, thread: i32, padding: [11]i32 };
const Setting = extern struct { interval: linux.timespec, value: linux.timespec };
const sigev_thread_id = 4;

/// Slice is what a scheduler needs to end turns on its thread, and to say which stack overflowed. A thread has one at most.
pub const Slice = struct {
    timer: i32,
    handler_stack: []align(std.heap.page_size_min) u8,
    /// Nanoseconds of CPU time between two ticks, and the limits of that.
    tick_every: u64 = longest,
    least: u64 = 2 * std.time.ns_per_ms,

    pub const longest = 10 * std.time.ns_per_ms;

    pub const Error = error{ OutOfMemory, Unexpected };

    /// start is called on the thread that will run s.
    pub fn start(s: *Scheduler) Error!void {
        const memory = posix.mmap(null, handler_stack_size, posix.PROT.READ | posix.PROT.WRITE, .{ .TYPE = .PRIVATE, .ANONYMOUS = true }, -1, 0) catch return error.OutOfMemory;
        errdefer posix.munmap(memory);
        var alternative: linux.stack_t = .{ .sp = memory.ptr, .flags = 0, .size = memory.len };
        posix.sigaltstack(&alternative, null) catch return error.Unexpected;
        active = s;
        handle(tick, onTick, linux.SA.RESTART);
        handle(linux.SIG.SEGV, onFault, 0);
        handle(linux.SIG.BUS, onFault, 0);

        s.slice = .{ .timer = try tickEvery(longest, .THREAD_CPUTIME_ID), .handler_stack = memory };
    }

    /// tickEvery returns a timer that sends this thread its ticks.
    pub fn tickEvery(nanoseconds: isize, clock: linux.clockid_t) Error!i32 {
        var event: Event = .{ .value = 0, .signal = tick, .notify = sigev_thread_id, .thread = linux.gettid(), .padding = @splat(0) };
        var timer: i32 = 0;
        try check(linux.syscall3(.timer_create, @intFromEnum(clock), @intFromPtr(&event), @intFromPtr(&timer)));
        try set(timer, nanoseconds);
        return timer;
    }

    fn set(timer: i32, nanoseconds: isize) Error!void {
        const every: linux.timespec = .{ .sec = 0, .nsec = nanoseconds };
        const setting: Setting = .{ .interval = every, .value = every };
        try check(linux.syscall4(.timer_settime, @intCast(timer), 0, @intFromPtr(&setting), 0));
    }

    /// fit makes ticks come so often that as many coroutines as are ready have a turn each in the time of the longest one.
    pub fn fit(slice: *Slice, ready: usize) void {
        const among: u64 = @max(1, ready);
        const wanted = std.math.clamp(longest / among, slice.least, longest);
        if (wanted == slice.tick_every) return;
        set(slice.timer, @intCast(wanted)) catch return; // then they come as before
        slice.tick_every = wanted;
    }

    pub fn stop(slice: *Slice) void {
        _ = linux.syscall1(.timer_delete, @intCast(slice.timer));
        active = null;
        var none: linux.stack_t = .{ .sp = slice.handler_stack.ptr, .flags = linux.SS.DISABLE, .size = 0 };
        posix.sigaltstack(&none, null) catch return; // then the memory is still in use
        posix.munmap(slice.handler_stack);
    }
};

fn check(result: usize) Slice.Error!void {
    if (linux.E.init(result) != .SUCCESS) return error.Unexpected;
}

fn handle(signal: u6, handler: *const fn (i32, *const linux.siginfo_t, ?*anyopaque) callconv(.c) void, flags: u32) void {
    const action: posix.Sigaction = .{ .handler = .{ .sigaction = handler }, .mask = posix.empty_sigset, .flags = linux.SA.SIGINFO | linux.SA.ONSTACK | flags };
    posix.sigaction(signal, &action, null);
}

fn onTick(_: i32, _: *const linux.siginfo_t, raw: ?*anyopaque) callconv(.c) void {
    const s = active orelse return;
    const turn = s.switches(); // in the middle of a change it may be wrong, but then inside is not 0: at worst a turn is overdue early
    if (turn != last_turn) {
        last_turn = turn;
        return;
    }
    const inside: *volatile u32 = &s.inside;
    if (inside.* != 0) {
        inside.* |= overdue;
        return;
    }
    if (!s.othersWait()) return;
    const co = s.current orelse return;
    const ucontext: *linux.ucontext_t = @ptrCast(@alignCast(raw.?));
    if (context.interrupt(ucontext, s.stacks.lowest(co), @intFromPtr(co))) inside.* = 1; // else it is too deep: later
}

/// zco_preempted runs on the interrupted coroutine's stack, with inside set by onTick.
export fn zco_preempted() callconv(.c) void {
    active.?.endTurn();
}

/// onFault ends the process; when the current coroutine has run into its guard page, it says so.
fn onFault(signal: i32, info: *const linux.siginfo_t, _: ?*anyopaque) callconv(.c) void {
    const address = @intFromPtr(info.fields.sigfault.addr);
    if (active) |s| if (s.current) |co| {
        const lowest = s.stacks.lowest(co);
        if (address < lowest and address >= lowest - stacks.guard) {
            var text: [96]u8 = undefined;
            const sentence = std.fmt.bufPrint(&text, "zco: a coroutine has used up its stack of {d} KiB\n", .{s.stacks.size / 1024}) catch "zco: a coroutine has used up its stack\n";
            _ = linux.write(2, sentence.ptr, sentence.len);
            posix.abort();
        }
    };
    const default: posix.Sigaction = .{ .handler = .{ .handler = posix.SIG.DFL }, .mask = posix.empty_sigset, .flags = 0 };
    posix.sigaction(@intCast(signal), &default, null); // the instruction faults again
}
