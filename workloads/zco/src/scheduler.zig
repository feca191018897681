//! The scheduler of one thread: which coroutine runs, and which runs next.
//!
//! Everything a scheduler has is touched only while `inside` is not 0, and the time slice ends a coroutine's turn only while it
//! is 0 (preempt.zig). Both happen on one thread, so plain stores in program order are enough, and a switch needs no system call.
const std = @import("std");
const context = @import("context.zig");
const queue = @import("queue.zig");
const Timers = @import("timers.zig").Timers;
const Stacks = @import("stacks.zig").Stacks;
const Poller = @import("poller.zig").Poller;
const preempt = @import("preempt.zig");

pub const Coroutine = struct {
    context: context.Context,
    scheduler: *Scheduler,
    next: *Coroutine,
    arguments: *const anyopaque,
    priority: queue.Priority,
    /// Reads and writes it may do before the others have their turn.
    credit: u8,
    background: bool,
};

pub const Options = struct {
    /// Of two coroutines that are ready, the one of the higher priority runs first.
    priority: queue.Priority = 16,
    /// run does not wait for the end of the coroutine, and leaves it where it is.
    background: bool = false,
};

const Sleeper = struct { deadline: u64, order: u64 = 0, child: ?*Sleeper = null, sibling: ?*Sleeper = null, coroutine: *Coroutine };

/// What a tick of the time slice adds to `inside`.
pub const overdue = 1 << 31;

/// The turns between two looks at clock and kernel: as many as coroutines are ready, within these limits; the most, where neither
/// can wake anybody.
const batch_min = 32;
const batch_max = 1024;

pub const Scheduler = struct {
    /// How deep the thread is inside this library; with `overdue` when the slice ended there: the turn then ends when the coroutine
    /// comes out. It is 0 only while a coroutine runs code of its own.
    inside: u32 = 1,
    current: ?*Coroutine = null,
    /// Turns ended by the time slice since the start.
    preemptions: u64 = 0,
    ready: queue.Ready(Coroutine) = .{},
    main: context.Context = undefined,
    /// Coroutines that have not ended, but those in the background.
    live: usize = 0,
    timers: Timers(Sleeper) = .{},
    stacks: Stacks(Coroutine) = .{},
    poller: ?*Poller = null,
    slice: ?preempt.Slice = null,

    pub const Error = error{
        /// All coroutines wait for each other.
        Deadlock,
    } || Poller.Error;

    /// enter begins, and leave ends, a section in which the time slice does not end the turn: for what coroutines share. Sections
    /// nest. A coroutine that waits for something inside one lets the others run.
    pub inline fn enter(s: *Scheduler) void {
        const inside: *volatile u32 = &s.inside;
        inside.* += 1;
        asm volatile ("" ::: "memory");
    }

    pub inline fn leave(s: *Scheduler) void {
        asm volatile ("" ::: "memory");
        const inside: *volatile u32 = &s.inside;
        inside.* -= 1; // a tick between its load and its store is lost; the next is not
        if (inside.* == overdue) s.endOverdueTurn();
    }

    noinline fn endOverdueTurn(s: *Scheduler) void {
        s.inside = 1;
        s.endTurn();
    }

    /// endTurn ends a turn that has lasted too long, and looks at clock and kernel before the next. It is called with inside 1, and
    /// leaves with a plain 0: a tick that comes meanwhile is lost, and never makes turns end inside one another until the stack is
    /// full.
    pub fn endTurn(s: *Scheduler) void {
        s.preemptions += 1;
        s.ready.begin(0);
        s.requeueAndPark();
        asm volatile ("" ::: "memory");
        const inside: *volatile u32 = &s.inside;
        inside.* = 0;
    }

    /// othersWait is false when the turn may go on: nobody else could have it.
    pub fn othersWait(s: *const Scheduler) bool {
        return s.ready.len > 1 or s.poller != null or s.timers.root != null;
    }

    /// switches is the number of turns since the start.
    pub fn switches(s: *const Scheduler) u64 {
        return s.ready.turn();
    }

    /// spawn makes a coroutine that calls f with a tuple of arguments, and puts it behind those that are ready.
    pub fn spawn(s: *Scheduler, comptime f: anytype, arguments: std.meta.ArgsTuple(@TypeOf(f)), options: Options) error{OutOfMemory}!void {
        const Start = struct {
            fn run(_: *context.Context, entered: *context.Context) callconv(.c) noreturn {
                const me: *Coroutine = @fieldParentPtr("context", entered);
                const given: *const @TypeOf(arguments) = @ptrCast(@alignCast(me.arguments));
                const scheduler = me.scheduler;
                scheduler.inside = 1;
                scheduler.leave();
                @call(.auto, f, given.*);
                scheduler.enter();
                scheduler.end(me);
            }
        };
        s.enter();
        defer s.leave();
        const co = try s.stacks.take();
        const place = std.mem.alignBackward(usize, @intFromPtr(co) - @sizeOf(@TypeOf(arguments)), 16);
        const copy: *@TypeOf(arguments) = @ptrFromInt(place);
        copy.* = arguments;
        co.* = .{
            .context = context.fresh(place, Start.run),
            .scheduler = s,
            .next = co,
            .arguments = copy,
            .priority = options.priority,
            .credit = 0,
            .background = options.background,
        };
        if (!options.background) s.live += 1;
        s.ready.push(co);
    }

    /// yield ends the turn: all that are ready, and of at least the same priority, run first.
    pub inline fn yield(s: *Scheduler) void {
        const inside: *volatile u32 = &s.inside;
        if (inside.* != 0) return s.yieldInside();
        // Constants instead of enter and leave, so that no turn waits for the value that the one before has stored.
        inside.* = 1;
        asm volatile ("" ::: "memory");
        const me = s.current.?;
        if (s.ready.quick()) {
            const next = s.ready.rotateToNext(me);
            s.current = next;
            context.swap(&me.context, &next.context);
        } else s.requeueAndPark();
        asm volatile ("" ::: "memory");
        inside.* = 0;
    }

    noinline fn yieldInside(s: *Scheduler) void {
        s.enter();
        s.requeueAndPark();
        s.leave();
    }

    /// sleep ends the turn and the coroutine is ready again after so many nanoseconds.
    pub fn sleep(s: *Scheduler, nanoseconds: u64) void {
        s.enter();
        defer s.leave();
        var sleeper: Sleeper = .{ .deadline = now() +| nanoseconds, .coroutine = s.current.? };
        const first = s.timers.root == null;
        s.timers.add(&sleeper);
        if (first) s.beginBatch(); // the one that has begun may be long, for there was no need to look at the clock
        s.park();
    }

    /// wake makes a parked coroutine ready. Only code between enter and leave may call it, and park.
    pub inline fn wake(s: *Scheduler, co: *Coroutine) void {
        s.ready.push(co);
    }

    /// requeueAndPark ends the turn of a coroutine that is ready for another one.
    pub noinline fn requeueAndPark(s: *Scheduler) void {
        const me = s.current.?;
        s.ready.rotate(me);
        s.leaveFor(me, s.chooseNext());
    }

    /// park stops the coroutine until somebody wakes it. It switches straight to the next one while the batch lasts.
    pub inline fn park(s: *Scheduler) void {
        const me = s.current.?;
        s.ready.remove(me);
        s.leaveFor(me, s.chooseNext());
    }

    inline fn leaveFor(s: *Scheduler, me: *Coroutine, to: *context.Context) void {
        const depth = s.inside & ~@as(u32, overdue); // the turn ends here anyway
        context.swap(&me.context, to);
        s.inside = depth;
    }

    inline fn chooseNext(s: *Scheduler) *context.Context {
        s.current = s.ready.next();
        return if (s.current) |next| &next.context else &s.main;
    }

    fn end(s: *Scheduler, me: *Coroutine) noreturn {
        if (!me.background) s.live -= 1;
        s.ready.remove(me);
        s.stacks.give(me); // nobody takes it before the switch
        context.swap(&me.context, s.chooseNext());
        unreachable; // nobody wakes it again
    }

    /// run returns when all coroutines have ended, but those in the background.
    pub fn run(s: *Scheduler) Error!void {
        while (s.live > 0) {
            s.beginBatch();
            const to = s.chooseNext();
            if (to != &s.main) context.swap(&s.main, to);
            s.inside = 1;
            s.stacks.trim(s.stacks.keep);
            try s.wait();
        }
    }

    fn beginBatch(s: *Scheduler) void {
        const alone = s.poller == null and s.timers.root == null;
        s.ready.begin(if (alone) batch_max else @intCast(std.math.clamp(s.ready.len, batch_min, batch_max)));
    }

    /// wait takes what has happened from clock and kernel. It blocks only when no coroutine is ready.
    fn wait(s: *Scheduler) Error!void {
        var patience: ?u64 = null; // nanoseconds; null for ever
        if (s.timers.root) |first| patience = first.deadline -| now();
        if (s.ready.len > 0 or s.live == 0) patience = 0;
        if (s.poller) |poller| {
            if (patience == null and poller.waiting() == 0) return error.Deadlock;
            if (poller.waiting() > 0 or patience.? > 0) try poller.poll(s, patience);
        } else if (patience) |nanoseconds| {
            if (nanoseconds > 0) std.Thread.sleep(nanoseconds);
        } else return error.Deadlock;
        if (s.timers.root != null) {
            const time = now();
            while (s.timers.takeUntil(time)) |sleeper| s.wake(sleeper.coroutine);
        }
    }

    /// deinit returns all stacks to the kernel, and ends the time slice.
    pub fn deinit(s: *Scheduler) void {
        if (s.slice) |*slice| slice.stop();
        s.slice = null;
        s.stacks.trim(0);
    }
};

/// now is the time in nanoseconds since some moment.
pub fn now() u64 {
    const t = std.posix.clock_gettime(.MONOTONIC) catch unreachable; // every Linux has this clock
    return @as(u64, @intCast(t.sec)) * std.time.ns_per_s + @as(u64, @intCast(t.nsec));
}
