//! zco-bench measures what a switch of stacks, a turn, a channel and a new coroutine cost, and how long coroutines that wait now and then wait
//! for their turn beside others that only compute.
//!
//! zco-bench cases            lists the cases
//! zco-bench cell CASE        runs one for at least --seconds (1.0) and prints a line of JSON
//! zco-bench                  runs each for half a second and prints a table
const std = @import("std");
const posix = std.posix;
const zco = @import("zco.zig");
const context = @import("context.zig");
const Fifo = @import("queue.zig").Fifo;
const Stealable = @import("bench_stealable.zig").Stealable;

const warm_up = 50 * std.time.ns_per_ms;
/// Operations between two looks at the clock.
const stride = 4096;

/// Clock says when a case has run for long enough, and what it cost. It belongs to one coroutine.
const Clock = struct {
    wanted: u64,
    begun: u64 = 0,
    cpu_begun: u64 = 0,
    operations: u64 = 0,
    wall: u64 = 0,
    cpu: u64 = 0,
    /// The 99th percentile of waits; 0 in cases that have none.
    wait: u64 = 0,

    fn begin(c: *Clock) void {
        c.cpu_begun = cpuNow();
        c.begun = zco.now();
    }

    /// more counts a stride and is true until the time is over.
    fn more(c: *Clock) bool {
        c.operations += stride;
        c.wall = zco.now() - c.begun;
        if (c.wall < c.wanted) return true;
        c.cpu = cpuNow() - c.cpu_begun;
        return false;
    }

    fn cpuNow() u64 {
        const t = posix.clock_gettime(.PROCESS_CPUTIME_ID) catch unreachable; // every Linux has this clock
        return @as(u64, @intCast(t.sec)) * std.time.ns_per_s + @as(u64, @intCast(t.nsec));
    }
};

/// A program has one scheduler for each thread; where it knows its address, a switch has one step less to wait for.
var scheduler: zco.Scheduler = .{};

const Error = error{ OutOfMemory, Wrong, Unexpected } || zco.Scheduler.Error;

/// Two stacks without a scheduler. An operation is a switch out and back.
const Swap = struct {
    here: context.Context = undefined,
    there: context.Context,
    arrived: u64 = 0,

    var stack: [16 * 1024]u8 align(16) = undefined;
    var case: Swap = undefined;

    fn run(_: *zco.Scheduler, clock: *Clock) Error!void {
        case = .{ .there = context.fresh(@intFromPtr(&stack) + stack.len, other) };
        clock.begin();
        while (true) {
            for (0..stride) |_| context.swap(&case.here, &case.there);
            if (!clock.more()) break;
        }
        if (case.arrived != clock.operations) return error.Wrong;
    }

    fn other(_: *context.Context, _: *context.Context) callconv(.c) noreturn {
        while (true) {
            case.arrived += 1;
            context.swap(&case.there, &case.here);
        }
    }
};

/// Two coroutines that yield to each other. An operation is a switch out and back.
const Switch = struct {
    clock: *Clock,
    over: bool = false,

    fn run(s: *zco.Scheduler, clock: *Clock) Error!void {
        var case: Switch = .{ .clock = clock };
        try s.spawn(lead, .{&case}, .{});
        try s.spawn(follow, .{&case}, .{});
        const before = s.switches();
        try s.run();
        if (s.switches() - before < 2 * clock.operations) return error.Wrong;
    }

    fn lead(case: *Switch) void {
        case.clock.begin();
        while (true) {
            for (0..stride) |_| scheduler.yield();
            if (!case.clock.more()) break;
        }
        case.over = true;
    }

    fn follow(case: *Switch) void {
        const over: *volatile bool = &case.over;
        while (!over.*) scheduler.yield();
    }
};

/// Two stacks, and a queue of those that are ready, which each turn goes through; no more of a scheduler. An operation is a switch out and
/// back, so two turns.
fn Turns(comptime Queue: fn (comptime type) type) type {
    return struct {
        const Item = struct { context: context.Context = undefined, next: *Item = undefined };

        var ready: Queue(Item) = .{};
        var lead: Item = .{};
        var follower: Item = .{};
        var stack: [16 * 1024]u8 align(16) = undefined;
        var arrived: u64 = 0;

        fn run(_: *zco.Scheduler, clock: *Clock) Error!void {
            ready = .{};
            arrived = 0;
            follower.context = context.fresh(@intFromPtr(&stack) + stack.len, other);
            ready.push(&follower);
            clock.begin();
            while (true) {
                for (0..stride) |_| yield(&lead);
                if (!clock.more()) break;
            }
            if (arrived != clock.operations) return error.Wrong;
        }

        inline fn yield(me: *Item) void {
            ready.push(me);
            const next = ready.pop().?;
            context.swap(&me.context, &next.context);
        }

        fn other(_: *context.Context, _: *context.Context) callconv(.c) noreturn {
            while (true) {
                arrived += 1;
                yield(&follower);
            }
        }
    };
}

/// Values through a channel with a buffer of 64. An operation is a value, sent and received.
const Values = struct {
    channel: zco.Channel(u64),
    clock: *Clock,
    sent: u64 = 0,
    received: u64 = 0,
    sum: u64 = 0,

    fn run(s: *zco.Scheduler, clock: *Clock) Error!void {
        var buffer: [64]u64 = undefined;
        var case: Values = .{ .channel = zco.Channel(u64).init(s, &buffer), .clock = clock };
        try s.spawn(send, .{&case}, .{});
        try s.spawn(receive, .{&case}, .{});
        try s.run();
        const n = case.sent;
        if (case.received != n or case.sum != n / 2 * (n - 1)) return error.Wrong; // n is even
    }

    fn send(case: *Values) void {
        case.clock.begin();
        while (true) {
            for (0..stride) |_| {
                case.channel.send(case.sent) catch return;
                case.sent += 1;
            }
            if (!case.clock.more()) break;
        }
        case.channel.close();
    }

    fn receive(case: *Values) void {
        while (case.channel.receive() catch null) |value| {
            case.received += 1;
            case.sum +%= value;
        }
    }
};

/// A coroutine that makes one, which runs and ends, before the next. An operation is one.
const Spawn = struct {
    clock: *Clock,
    ran: u64 = 0,
    failed: bool = false,

    fn run(s: *zco.Scheduler, clock: *Clock) Error!void {
        var case: Spawn = .{ .clock = clock };
        try s.spawn(parent, .{&case}, .{});
        try s.run();
        if (case.failed or case.ran != clock.operations or s.stacks.peak > 2) return error.Wrong;
    }

    fn parent(case: *Spawn) void {
        case.clock.begin();
        while (true) {
            for (0..stride) |_| {
                scheduler.spawn(child, .{case}, .{}) catch {
                    case.failed = true;
                    return;
                };
                scheduler.yield();
            }
            if (!case.clock.more()) break;
        }
    }

    fn child(case: *Spawn) void {
        case.ran += 1;
    }
};

/// Four coroutines that only compute, and sixteen that sleep for a millisecond and compute for a moment, again and again. An operation is a
/// step of those that only compute; a wait lasts from the end of a sleep to the turn that follows.
fn Mixed(comptime sinking: bool, comptime fitting: bool) type {
    return struct {
        clock: *Clock,
        over: bool = false,
        steps: [4]u64 = @splat(0),
        waits: [8192]u64 = undefined,
        waited: usize = 0,

        const Case = @This();
        var case: Case = undefined;

        fn run(s: *zco.Scheduler, clock: *Clock) Error!void {
            case = .{ .clock = clock };
            if (!sinking) s.depth = 0;
            if (!fitting) s.slice.?.least = zco.Slice.longest;
            for (0..16) |_| try s.spawn(sleepOften, .{}, .{});
            try s.spawn(computeUntilOver, .{}, .{});
            for (1..case.steps.len) |place| try s.spawn(computeAlong, .{place}, .{});
            try s.run();
            clock.operations = 0;
            for (case.steps) |steps| clock.operations += steps;
            const waits = case.waits[0..@min(case.waited, case.waits.len)]; // the last ones
            std.mem.sort(u64, waits, {}, std.sort.asc(u64));
            clock.wait = waits[(waits.len * 99 + 99) / 100 - 1];
        }

        fn compute(steps: u64) void {
            var n: u64 = 1;
            for (0..steps) |_| n = n *% 6364136223846793005 +% 1442695040888963407;
            std.mem.doNotOptimizeAway(n);
        }

        fn computeUntilOver() void {
            case.clock.begin();
            while (true) {
                compute(stride);
                case.steps[0] += stride;
                if (!case.clock.more() and everybodyRan()) break;
            }
            case.over = true;
        }

        fn everybodyRan() bool {
            for (case.steps) |steps| if (steps == 0) return false;
            return case.waited > 0;
        }

        fn computeAlong(place: usize) void {
            const over: *volatile bool = &case.over;
            while (!over.*) {
                compute(stride);
                case.steps[place] += stride;
            }
        }

        fn sleepOften() void {
            const over: *volatile bool = &case.over;
            // The first wait does not count: all those that compute are at the beginning of their first slices.
            scheduler.sleep(std.time.ns_per_ms) catch return;
            while (true) {
                const begun = zco.now();
                scheduler.sleep(std.time.ns_per_ms) catch return;
                const wait = zco.now() -| begun -| std.time.ns_per_ms;
                scheduler.enter();
                case.waits[case.waited % case.waits.len] = wait;
                case.waited += 1;
                scheduler.leave();
                if (over.*) return;
                compute(stride / 4);
            }
        }
    };
}

const cases = .{
    .{ "swap", Swap.run },                        .{ "switch", Switch.run },
    .{ "channel", Values.run },                   .{ "spawn", Spawn.run },
    .{ "turn", Turns(Fifo).run },                 .{ "turn-stealable", Turns(Stealable).run },
    .{ "mixed", Mixed(true, true).run },          .{ "mixed-sinking", Mixed(true, false).run },
    .{ "mixed-fitting", Mixed(false, true).run }, .{ "mixed-plain", Mixed(false, false).run },
};

/// measure runs a case on a scheduler of its own, with the time slice, as a program would.
fn measure(run: *const fn (*zco.Scheduler, *Clock) Error!void, nanoseconds: u64) Error!Clock {
    var clock: Clock = .{ .wanted = nanoseconds };
    scheduler = .{};
    defer scheduler.deinit();
    try zco.Slice.start(&scheduler);
    try run(&scheduler, &clock);
    return clock;
}

fn seconds(nanoseconds: u64) f64 {
    return @as(f64, @floatFromInt(nanoseconds)) / std.time.ns_per_s;
}

fn cell(name: []const u8, nanoseconds: u64) !void {
    inline for (cases) |case| if (std.mem.eql(u8, name, case[0])) {
        _ = try measure(case[1], warm_up);
        const clock = try measure(case[1], nanoseconds);
        const out = std.io.getStdOut().writer();
        try out.print("{{\"case\":\"{s}\",\"operations\":{d},\"wallSeconds\":{d:.6},\"cpuSeconds\":{d:.6}", .{ name, clock.operations, seconds(clock.wall), seconds(clock.cpu) });
        if (clock.wait > 0) try out.print(",\"p99WaitSeconds\":{d:.9}", .{seconds(clock.wait)});
        return out.writeAll("}\n");
    };
    return error.Usage;
}

fn command(arguments: []const [*:0]const u8) !void {
    const out = std.io.getStdOut().writer();
    if (arguments.len == 0) {
        inline for (cases) |case| {
            const clock = try measure(case[1], std.time.ns_per_s / 2);
            try out.print("{s:<14} {d:>8.2} ns", .{ case[0], seconds(clock.wall) * 1e9 / @as(f64, @floatFromInt(clock.operations)) });
            if (clock.wait > 0) try out.print(", p99 wait {d:.3} ms", .{seconds(clock.wait) * 1e3});
            try out.writeAll("\n");
        }
        return;
    }
    const first = std.mem.span(arguments[0]);
    if (std.mem.eql(u8, first, "cases") and arguments.len == 1) {
        inline for (cases) |case| try out.print("{s}\n", .{case[0]});
        return;
    }
    if (!std.mem.eql(u8, first, "cell") or (arguments.len != 2 and arguments.len != 4)) return error.Usage;
    var wanted: f64 = 1.0;
    if (arguments.len == 4) {
        if (!std.mem.eql(u8, std.mem.span(arguments[2]), "--seconds")) return error.Usage;
        wanted = std.fmt.parseFloat(f64, std.mem.span(arguments[3])) catch return error.Usage;
        if (!(wanted > 0 and wanted <= 3600)) return error.Usage;
    }
    return cell(std.mem.span(arguments[1]), @intFromFloat(wanted * std.time.ns_per_s));
}

pub fn main() u8 {
    command(std.os.argv[1..]) catch |err| {
        const stderr = std.io.getStdErr().writer();
        if (err == error.Usage) {
            stderr.writeAll("usage: zco-bench [cases | cell CASE [--seconds SECONDS]]\n") catch {};
            return 2;
        }
        stderr.print("zco-bench: the result of the case is wrong, or it could not run: {s}\n", .{@errorName(err)}) catch {};
        return 1;
    };
    return 0;
}
