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
const Task = @import("task.zig").Task;
const select = @import("select.zig");

pub const Coroutine = struct {
    context: context.Context,
    scheduler: *Scheduler,
    next: *Coroutine,
    arguments: *const anyopaque,
    /// That with which it has its turns, and that which it was given.
    priority: queue.Priority,
    own: queue.Priority,
    /// Reads and writes it may do before the others have their turn.
    credit: u8,
    background: bool,
    /// Why its waits end with error.Canceled: a task that was cancelled, and deadlines that have passed. None when 0.
    cancels: u32 = 0,
    /// What it waits for, where that can be cancelled.
    wait: ?*Wait = null,
    task: ?*Task = null,
};

/// Wait is what a coroutine waits for. It lies where the coroutine leaves it until it goes on.
pub const Wait = struct {
    coroutine: ?*Coroutine = null,
    /// end takes the coroutine out of all that could wake it, and wakes it: at once, or when the kernel lets go of its memory.
    end: *const fn (wait: *Wait, s: *Scheduler) void,
};

/// Timer calls due at its deadline, when no coroutine runs.
pub const Timer = struct {
    due: *const fn (timer: *Timer, s: *Scheduler) void,
    deadline: u64 = 0,
    order: u64 = 0,
    child: ?*Timer = null,
    sibling: ?*Timer = null,
    link: *?*Timer = undefined,
};

pub const Options = struct {
    /// Of two coroutines that are ready, the one of the higher priority runs first. One that uses up its slices has a lower one.
    priority: queue.Priority = 16,
    /// run does not wait for the end of the coroutine, and leaves it where it is.
    background: bool = false,
    /// A handle to the coroutine.
    task: ?*Task = null,
};

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
    /// How many priorities a coroutine that uses up its slices can sink, by one each time. It has its own again when it waits.
    depth: queue.Priority = 3,
    main: context.Context = undefined,
    /// Coroutines that have not ended, but those in the background.
    live: usize = 0,
    timers: Timers(Timer) = .{},
    /// What pick draws from: the same at each start.
    seed: u64 = 1,
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
        s.sink(s.current.?);
        if (s.slice) |*slice| slice.fit(s.ready.len);
        s.requeueAndPark();
        asm volatile ("" ::: "memory");
        const inside: *volatile u32 = &s.inside;
        inside.* = 0;
    }

    /// sink lowers who has the turn, so that those that wait now and then need not stand behind those that only compute.
    fn sink(s: *Scheduler, me: *Coroutine) void {
        if (me.priority == 0 or me.own - me.priority >= s.depth) return;
        s.ready.remove(me);
        me.priority -= 1;
        s.ready.push(me);
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
            .own = options.priority,
            .credit = 0,
            .background = options.background,
            .task = options.task,
        };
        if (options.task) |task| task.begun(co);
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
    pub fn sleep(s: *Scheduler, nanoseconds: u64) error{Canceled}!void {
        _ = try select.select(s, .{ .over = select.after(nanoseconds) });
    }

    /// startTimer makes a timer due after so many nanoseconds. Only code between enter and leave may call it, and what follows here.
    pub fn startTimer(s: *Scheduler, timer: *Timer, nanoseconds: u64) void {
        timer.deadline = now() +| nanoseconds;
        const first = s.timers.root == null;
        s.timers.add(timer);
        if (first) s.beginBatch(); // the one that has begun may be long, for there was no need to look at the clock
    }

    /// check fails for a coroutine that is cancelled. All that may wait calls it first, whether it then waits or not.
    pub inline fn check(s: *const Scheduler) error{Canceled}!void {
        if (s.current.?.cancels != 0) return error.Canceled;
    }

    /// cancel ends the wait of a coroutine, and makes check fail for it until its cancels are taken back.
    pub fn cancel(s: *Scheduler, co: *Coroutine) void {
        co.cancels += 1;
        co.credit = 0; // so that reads and writes, which spend it, need not ask each time
        const wait = co.wait orelse return;
        co.wait = null;
        wait.end(wait, s);
    }

    /// pick draws one of the numbers below n by lot.
    pub fn pick(s: *Scheduler, n: u32) u32 {
        s.seed = s.seed *% 6364136223846793005 +% 1442695040888963407;
        return @intCast((s.seed >> 32) * n >> 32);
    }

    /// wake makes a parked coroutine ready.
    pub inline fn wake(s: *Scheduler, co: *Coroutine) void {
        co.wait = null;
        co.priority = co.own;
        s.ready.push(co);
    }

    /// requeueAndPark ends the turn of a coroutine that is ready for another one.
    pub noinline fn requeueAndPark(s: *Scheduler) void {
        const me = s.current.?;
        s.ready.rotate(me);
        s.leaveFor(me, s.chooseNext());
    }

    /// park stops the coroutine until somebody wakes it. It switches straight to the next one while the batch lasts.
    pub inline fn park(s: *Scheduler, wait: *Wait) void {
        s.current.?.wait = wait;
        s.parkUncancelable(wait);
    }

    /// parkUncancelable is park for a wait that cancelling does not end.
    pub inline fn parkUncancelable(s: *Scheduler, wait: *Wait) void {
        const me = s.current.?;
        wait.coroutine = me;
        s.ready.remove(me);
        s.leaveFor(me, s.chooseNext());
    }

    inline fn leaveFor(s: *Scheduler, me: *Coroutine, to: *context.Context) void {
        const inside = s.inside & ~@as(u32, overdue); // the turn ends here anyway
        context.swap(&me.context, to);
        s.inside = inside;
    }

    inline fn chooseNext(s: *Scheduler) *context.Context {
        s.current = s.ready.next();
        return if (s.current) |next| &next.context else &s.main;
    }

    fn end(s: *Scheduler, me: *Coroutine) noreturn {
        if (!me.background) s.live -= 1;
        if (me.task) |task| task.ended();
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
            try s.takeEvents();
        }
    }

    fn beginBatch(s: *Scheduler) void {
        const alone = s.poller == null and s.timers.root == null;
        s.ready.begin(if (alone) batch_max else @intCast(std.math.clamp(s.ready.len, batch_min, batch_max)));
    }

    /// takeEvents takes what has happened from clock and kernel. It blocks only when no coroutine is ready.
    fn takeEvents(s: *Scheduler) Error!void {
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
            while (s.timers.takeUntil(time)) |timer| timer.due(timer, s);
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
