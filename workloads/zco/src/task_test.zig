const std = @import("std");
const posix = std.posix;
const zco = @import("zco.zig");
const preempt_test = @import("preempt_test.zig");
const pollers = @import("poller_test.zig");
const Channel = zco.Channel(u64);
const hour = 3600 * std.time.ns_per_s;

const Case = struct {
    s: zco.Scheduler = .{},
    poller: zco.Poller = undefined,
    pair: pollers.Pair = undefined,
    room: [1]u64 = undefined,
    channel: Channel = undefined,
    group: zco.WaitGroup = undefined,
    tasks: [2]zco.Task = undefined,
    /// Waits that ended with error.Canceled, and coroutines that have freed what they had.
    canceled: usize = 0,
    freed: usize = 0,

    fn init(case: *Case, backend: zco.Backend) !void {
        case.* = .{ .poller = try zco.Poller.init(backend), .pair = try pollers.Pair.init(backend) };
        case.s.poller = &case.poller;
        case.channel = Channel.init(&case.s, &.{});
        case.group = zco.WaitGroup.init(&case.s);
        case.group.add(1);
        for (&case.tasks) |*task| task.* = zco.Task.init(&case.s);
    }

    fn deinit(case: *Case) void {
        for (case.pair.ends) |end| posix.close(end.fd);
        case.s.deinit();
        case.poller.deinit();
    }

    /// expectNothingLeft is true of everything that coroutines leave behind when they were cancelled.
    fn expectNothingLeft(case: *Case) !void {
        try std.testing.expectEqual(0, case.s.live);
        try std.testing.expectEqual(case.s.stacks.mapped, case.s.stacks.kept);
        try std.testing.expectEqual(null, case.s.timers.root);
        try std.testing.expectEqual(null, case.channel.senders.first);
        try std.testing.expectEqual(null, case.channel.receivers.first);
        try std.testing.expectEqual(null, case.group.waiters.first);
        try std.testing.expectEqual(0, case.poller.waiting());
        for (case.tasks) |task| try std.testing.expectEqual(null, task.coroutine);
    }

    // Each waits for something that never comes.

    fn sleep(case: *Case) anyerror!void {
        try case.s.sleep(hour);
    }

    fn sendOne(case: *Case) anyerror!void {
        try case.channel.send(1);
    }

    fn receiveOne(case: *Case) anyerror!void {
        _ = try case.channel.receive();
    }

    fn selectOne(case: *Case) anyerror!void {
        _ = try zco.select(&case.s, .{ .value = case.channel.receiving(), .done = case.group.waiting(), .late = zco.after(hour) });
    }

    fn waitForGroup(case: *Case) anyerror!void {
        try case.group.wait();
    }

    fn waitForOther(case: *Case) anyerror!void {
        var other = zco.Task.init(&case.s);
        try case.s.spawn(sleepUntilCanceled, .{case}, .{ .task = &other });
        defer other.cancel();
        try other.wait();
    }

    fn sleepUntilCanceled(case: *Case) void {
        case.s.sleep(hour) catch {};
    }

    fn read(case: *Case) anyerror!void {
        var text: [10]u8 = undefined;
        _ = try case.poller.read(&case.s, &case.pair.ends[0], &text);
    }

    fn write(case: *Case) anyerror!void {
        const text: [10_000]u8 = @splat('x');
        while (true) try case.poller.write(&case.s, &case.pair.ends[0], &text);
    }

    fn readable(case: *Case) anyerror!void {
        try case.poller.waitReadable(&case.s, &case.pair.ends[0]);
    }

    const Waiting = fn (case: *Case) anyerror!void;

    /// waits are all ways to wait.
    const waits = [_]*const Waiting{ &sleep, &sendOne, &receiveOne, &selectOne, &waitForGroup, &waitForOther, &read, &write, &readable };

    /// wait waits twice: once cancelled, nothing waits again.
    fn wait(case: *Case, how: *const Waiting) void {
        defer case.freed += 1;
        for (0..2) |_| how(case) catch |err| {
            if (err == error.Canceled) case.canceled += 1;
        };
    }

    fn cancel(case: *Case, turns: usize) void {
        for (0..turns) |_| case.s.yield();
        case.tasks[0].cancel();
        case.tasks[0].cancel(); // there is none any more
    }
};

test "whatever a coroutine waits for, cancelling it ends that, and it leaves nothing behind" {
    for (pollers.backends()) |backend| for (Case.waits) |how| {
        // Before its first turn, and when it waits.
        for ([_]usize{ 0, 1000 }) |turns| {
            var case: Case = undefined;
            try case.init(backend);
            defer case.deinit();
            try case.s.spawn(Case.wait, .{ &case, how }, .{ .task = &case.tasks[0], .priority = 10 });
            try case.s.spawn(Case.cancel, .{ &case, turns }, .{});
            try case.s.run();
            try std.testing.expectEqual(2, case.canceled);
            try std.testing.expectEqual(1, case.freed);
            try case.expectNothingLeft();
        }
    };
}

fn receiveTwice(case: *Case, got: *?u64) void {
    got.* = case.channel.receive() catch null;
    _ = case.channel.receive() catch {
        case.canceled += 1;
    };
}

fn sendAndCancel(case: *Case) void {
    case.s.yield();
    case.channel.send(7) catch return;
    case.tasks[0].cancel();
}

test "a value that was handed over before the cancel is received, and the next wait fails" {
    var case: Case = undefined;
    try case.init(.epoll);
    defer case.deinit();
    var got: ?u64 = null;
    try case.s.spawn(receiveTwice, .{ &case, &got }, .{ .task = &case.tasks[0], .priority = 10 });
    try case.s.spawn(sendAndCancel, .{&case}, .{ .priority = 5 });
    try case.s.run();
    try std.testing.expectEqual(7, got);
    try std.testing.expectEqual(1, case.canceled);
    try case.expectNothingLeft();
}

fn streamUntilCanceled(case: *Case, source: *zco.Source, bytes: *usize) void {
    const text: [100]u8 = @splat('x');
    var room: [100]u8 = undefined;
    while (true) {
        if (source == &case.pair.ends[0]) {
            bytes.* += case.poller.read(&case.s, source, &room) catch break;
        } else {
            case.poller.write(&case.s, source, &text) catch break;
            bytes.* += text.len;
        }
    }
    case.freed += 1;
}

fn cancelBoth(case: *Case, bytes: *const usize) void {
    while (bytes.* < 100_000) case.s.yield();
    for (&case.tasks) |*each| each.cancel();
}

test "a stream that would go on for ever ends when it is cancelled" {
    for (pollers.backends()) |backend| {
        var case: Case = undefined;
        try case.init(backend);
        defer case.deinit();
        var bytes: [2]usize = @splat(0);
        for (&case.pair.ends, &bytes, &case.tasks) |*source, *count, *each| {
            try case.s.spawn(streamUntilCanceled, .{ &case, source, count }, .{ .task = each });
        }
        try case.s.spawn(cancelBoth, .{ &case, &bytes[0] }, .{});
        try case.s.run();
        try std.testing.expectEqual(2, case.freed);
        try case.expectNothingLeft();
    }
}

fn sleepShortly(case: *Case) void {
    case.s.sleep(std.time.ns_per_ms) catch return;
    case.freed += 1;
}

fn waitForTask(case: *Case) void {
    case.tasks[0].wait() catch return;
    case.canceled = case.freed;
}

test "a task can be waited for, and used again" {
    var case: Case = undefined;
    try case.init(.epoll);
    defer case.deinit();
    for (1..4) |round| {
        try case.s.spawn(sleepShortly, .{&case}, .{ .task = &case.tasks[0] });
        try case.s.spawn(waitForTask, .{&case}, .{});
        try case.s.run();
        try std.testing.expectEqual(round, case.canceled);
        try case.expectNothingLeft();
    }
}

/// parent ends its child whatever happens, although it is cancelled itself, and the child takes its time.
fn parent(case: *Case) void {
    defer case.freed += 1;
    case.s.spawn(child, .{case}, .{ .task = &case.tasks[1] }) catch return;
    defer case.tasks[1].cancel();
    case.s.sleep(hour) catch {};
}

fn child(case: *Case) void {
    case.s.sleep(hour) catch {};
    for (0..100) |_| case.s.yield();
    case.freed += 1;
}

test "a coroutine that is cancelled can still end those that it has made" {
    var case: Case = undefined;
    try case.init(.epoll);
    defer case.deinit();
    try case.s.spawn(parent, .{&case}, .{ .task = &case.tasks[0] });
    try case.s.spawn(Case.cancel, .{ &case, 10 }, .{});
    try case.s.run();
    try std.testing.expectEqual(2, case.freed);
    try case.expectNothingLeft();
}

fn waitWithDeadline(case: *Case, how: *const Case.Waiting, passed: *bool) void {
    var deadline = zco.Deadline.init(&case.s);
    deadline.set(2 * std.time.ns_per_ms);
    how(case) catch |err| {
        passed.* = err == error.Canceled and deadline.passed();
    };
    deadline.clear();
    case.s.sleep(1) catch return; // it may wait again
    case.freed += 1;
}

test "whatever a coroutine waits for, a deadline ends that, and no more once it is cleared" {
    for (pollers.backends()) |backend| for (Case.waits) |how| {
        var case: Case = undefined;
        try case.init(backend);
        defer case.deinit();
        var passed = false;
        const begun = zco.now();
        try case.s.spawn(waitWithDeadline, .{ &case, how, &passed }, .{});
        try case.s.run();
        try std.testing.expect(passed and zco.now() - begun >= 2 * std.time.ns_per_ms);
        try std.testing.expectEqual(1, case.freed);
        try case.expectNothingLeft();
    };
}

fn nest(case: *Case, said: *[4]bool) void {
    var outer = zco.Deadline.init(&case.s);
    defer outer.clear();
    outer.set(hour);
    var inner = zco.Deadline.init(&case.s);
    defer inner.clear();
    inner.set(hour);
    inner.set(1); // the later one counts
    case.s.sleep(hour) catch {
        said[0] = inner.passed() and !outer.passed();
    };
    inner.clear();
    outer.set(1);
    case.s.sleep(hour) catch {
        said[1] = outer.passed();
    };
    inner.set(1);
    while (!inner.passed()) case.s.yield(); // it passes although nothing waits
    inner.clear();
    case.s.sleep(hour) catch {
        said[2] = outer.passed();
    };
    outer.set(hour); // it has passed, and is set again
    case.s.sleep(1) catch return;
    said[3] = !outer.passed();
}

test "deadlines nest, and each counts for itself" {
    var case: Case = undefined;
    try case.init(.epoll);
    defer case.deinit();
    var said: [4]bool = @splat(false);
    try case.s.spawn(nest, .{ &case, &said }, .{});
    try case.s.run();
    try std.testing.expectEqual([_]bool{ true, true, true, true }, said);
    try case.expectNothingLeft();
}

fn clearAfterCancel(case: *Case) void {
    var deadline = zco.Deadline.init(&case.s);
    deadline.set(hour);
    case.s.sleep(hour) catch {};
    if (deadline.passed()) return;
    deadline.clear();
    case.s.sleep(hour) catch {
        case.canceled += 1;
    };
}

test "clearing a deadline does not take back a cancel" {
    var case: Case = undefined;
    try case.init(.epoll);
    defer case.deinit();
    try case.s.spawn(clearAfterCancel, .{&case}, .{ .task = &case.tasks[0] });
    try case.s.spawn(Case.cancel, .{ &case, 10 }, .{});
    try case.s.run();
    try std.testing.expectEqual(1, case.canceled);
    try case.expectNothingLeft();
}

fn waitAnyhow(case: *Case, i: usize) void {
    while (true) {
        const how = Case.waits[(i + case.s.pick(Case.waits.len)) % Case.waits.len];
        if (how == &Case.read or how == &Case.write or how == &Case.readable) case.s.sleep(1) catch break else how(case) catch break;
    }
    case.freed += 1;
}

/// cancelInTurn cancels each of many tasks, while values, ends of groups and timers wake them, too.
fn cancelInTurn(case: *Case, tasks: []zco.Task) void {
    for (tasks, 0..) |*each, i| {
        switch (case.s.pick(4)) {
            0 => _ = case.channel.trySend(i) catch return,
            1 => _ = case.channel.tryReceive(),
            2 => {
                case.group.done();
                case.group.add(1);
            },
            else => case.s.sleep(1) catch return,
        }
        each.cancel();
    }
}

test "thousands of coroutines are cancelled while they are woken, with turns that are ended at any instruction" {
    var case: Case = undefined;
    try case.init(.epoll);
    defer case.deinit();
    try zco.Slice.start(&case.s);
    const fast = try zco.Slice.tickEvery(5 * preempt_test.fast_tick, .MONOTONIC);
    defer _ = std.os.linux.syscall1(.timer_delete, @intCast(fast));
    const tasks = try std.testing.allocator.alloc(zco.Task, 2000);
    defer std.testing.allocator.free(tasks);
    for (tasks, 0..) |*each, i| {
        each.* = zco.Task.init(&case.s);
        try case.s.spawn(waitAnyhow, .{ &case, i }, .{ .task = each });
    }
    try case.s.spawn(cancelInTurn, .{ &case, tasks }, .{});
    try case.s.run();
    try std.testing.expectEqual(tasks.len, case.freed);
    try case.expectNothingLeft();
}
