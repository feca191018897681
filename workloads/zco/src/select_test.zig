const std = @import("std");
const zco = @import("zco.zig");
const preempt_test = @import("preempt_test.zig");
const Channel = zco.Channel(u64);
const hour = 3600 * std.time.ns_per_s;

const Case = struct {
    s: zco.Scheduler = .{},
    room: [2][4]u64 = undefined,
    channels: [2]Channel = undefined,
    group: zco.WaitGroup = undefined,
    /// What selects said, in their order.
    text: [64]u8 = undefined,
    len: usize = 0,

    fn init(case: *Case, capacity: usize) void {
        case.* = .{};
        for (&case.channels, &case.room) |*channel, *room| channel.* = Channel.init(&case.s, room[0..capacity]);
        case.group = zco.WaitGroup.init(&case.s);
    }

    fn write(case: *Case, c: u8) void {
        case.text[case.len] = c;
        case.len += 1;
    }

    fn expect(case: *Case, wanted: []const u8) !void {
        try std.testing.expectEqualStrings(wanted, case.text[0..case.len]);
        for (&case.channels) |*channel| {
            try std.testing.expectEqual(null, channel.senders.first);
            try std.testing.expectEqual(null, channel.receivers.first);
        }
        try std.testing.expectEqual(null, case.group.waiters.first);
        try std.testing.expectEqual(null, case.s.timers.root);
    }

    /// all selects once over everything; the digit is what is received.
    fn all(case: *Case, value_to_send: u64, nanoseconds: u64) void {
        const first = zco.select(&case.s, .{
            .received = case.channels[0].receiving(),
            .sent = case.channels[1].sending(value_to_send),
            .group = case.group.waiting(),
            .late = zco.after(nanoseconds),
        }) catch return case.write('!');
        switch (first) {
            .received => |value| case.write(if (value) |digit| '0' + @as(u8, @intCast(digit)) else 'e'),
            .sent => |sent| if (sent) case.write('s') else |_| case.write('c'),
            .group => case.write('g'),
            .late => case.write('l'),
        }
    }

    fn send(case: *Case, value: u64) void {
        case.channels[0].send(value) catch return;
    }

    fn receive(case: *Case) void {
        case.write('0' + @as(u8, @intCast((case.channels[1].receive() catch null).?)));
    }

    fn close(case: *Case, at: usize) void {
        case.channels[at].close();
    }

    fn done(case: *Case) void {
        case.group.done();
    }
};

test "a select that waits ends with what comes first, and waits for nothing else then" {
    var case: Case = undefined;
    inline for (.{
        .{ Case.send, .{7}, "7" },
        .{ Case.receive, .{}, "5s" },
        .{ Case.close, .{0}, "e" },
        .{ Case.close, .{1}, "c" },
        .{ Case.done, .{}, "g" },
    }) |first| {
        case.init(0);
        defer case.s.deinit();
        case.group.add(1);
        try case.s.spawn(Case.all, .{ &case, 5, hour }, .{ .priority = 20 });
        try case.s.spawn(first[0], .{&case} ++ first[1], .{});
        try case.s.run();
        if (std.mem.eql(u8, first[2], "5s")) std.mem.sort(u8, case.text[0..case.len], {}, std.sort.asc(u8));
        try case.expect(first[2]);
    }
}

test "a select for which nothing comes ends with its time, and not before" {
    var case: Case = undefined;
    case.init(0);
    defer case.s.deinit();
    case.group.add(1);
    const begun = zco.now();
    try case.s.spawn(Case.all, .{ &case, 5, 10 * std.time.ns_per_ms }, .{});
    try case.s.run();
    try case.expect("l");
    try std.testing.expect(zco.now() - begun >= 10 * std.time.ns_per_ms);
}

test "what can be done at once is done before any time is over" {
    var case: Case = undefined;
    case.init(1);
    defer case.s.deinit();
    case.group.add(1);
    try case.s.spawn(Case.all, .{ &case, 5, 0 }, .{});
    try case.s.run();
    try case.expect("s");
    try std.testing.expectEqual(5, case.channels[1].tryReceive());
}

fn selectOften(case: *Case, counts: *[3]usize) void {
    for (0..3000) |_| switch (zco.select(&case.s, .{ .a = case.channels[0].receiving(), .b = case.channels[1].sending(1), .c = case.group.waiting() }) catch return) {
        .a => counts[0] += 1,
        .b => counts[1] += 1,
        .c => counts[2] += 1,
    };
}

test "of what can always be done nothing is passed over" {
    var case: Case = undefined;
    case.init(0);
    defer case.s.deinit();
    for (&case.channels) |*channel| channel.close();
    var counts: [3]usize = @splat(0);
    try case.s.spawn(selectOften, .{ &case, &counts }, .{});
    try case.s.run();
    for (counts) |count| try std.testing.expect(count > 800 and count < 1200); // by the numbers of pick, which are always the same
}

/// exchange selects between sending one of its own numbers and receiving one of the others', on the same channel.
fn exchange(case: *Case, from: u64, n: u64, sum: *u64) void {
    var next = from;
    while (next < from + n) switch (zco.select(&case.s, .{ .sent = case.channels[0].sending(next), .received = case.channels[0].receiving() }) catch return) {
        .sent => |sent| {
            sent catch return;
            next += 1;
        },
        .received => |value| sum.* += value orelse return,
    };
}

fn receiveRest(case: *Case, sum: *u64) void {
    while (case.channels[0].receive() catch null) |value| sum.* += value;
}

fn closeWhenAlone(case: *Case) void {
    while (case.s.live > 2) case.s.yield();
    case.channels[0].close();
}

test "coroutines that send and receive in the same select lose nothing" {
    for ([_]usize{ 0, 1, 4 }) |capacity| {
        var case: Case = undefined;
        case.init(capacity);
        defer case.s.deinit();
        var sums: [6]u64 = @splat(0);
        for (sums[0..5], 0..) |*sum, i| try case.s.spawn(exchange, .{ &case, i * 1000, 1000, sum }, .{});
        try case.s.spawn(receiveRest, .{ &case, &sums[5] }, .{});
        try case.s.spawn(closeWhenAlone, .{&case}, .{ .priority = 1 });
        try case.s.run();
        var total: u64 = 0;
        for (sums) |sum| total += sum;
        try std.testing.expectEqual(4999 * 2500, total);
        try case.expect("");
    }
}

/// merge receives of both channels until both are closed, with a time that is never over.
fn merge(case: *Case, sum: *u64) void {
    var ended: [2]bool = @splat(false);
    while (!ended[0] or !ended[1]) switch (zco.select(&case.s, .{ .a = case.channels[0].receiving(), .b = case.channels[1].receiving(), .late = zco.after(hour) }) catch return) {
        .a => |value| if (value) |n| {
            sum.* += n;
        } else {
            ended[0] = true;
            case.s.yield();
        },
        .b => |value| if (value) |n| {
            sum.* += n;
        } else {
            ended[1] = true;
            case.s.yield();
        },
        .late => return,
    };
}

fn fill(case: *Case, at: usize) void {
    for (1..5001) |n| {
        if (n % 100 == 0) case.s.yield();
        case.channels[at].send(n) catch return;
    }
    case.channels[at].close();
}

test "many coroutines that select over the same channels and timers lose nothing while turns are ended at any instruction" {
    var case: Case = undefined;
    case.init(2);
    defer case.s.deinit();
    try zco.Slice.start(&case.s);
    const fast = try zco.Slice.tickEvery(5 * preempt_test.fast_tick, .MONOTONIC);
    defer _ = std.os.linux.syscall1(.timer_delete, @intCast(fast));
    var sums: [5]u64 = @splat(0);
    for (&sums) |*sum| try case.s.spawn(merge, .{ &case, sum }, .{});
    for (0..2) |at| try case.s.spawn(fill, .{ &case, at }, .{});
    try case.s.run();
    var total: u64 = 0;
    for (sums) |sum| {
        total += sum;
        try std.testing.expect(sum > 0);
    }
    try std.testing.expectEqual(2 * 5000 * 5001 / 2, total);
    try case.expect("");
}
