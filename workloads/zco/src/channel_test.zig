const std = @import("std");
const zco = @import("zco.zig");
const Channel = zco.Channel(u64);

fn sendRange(channel: *Channel, from: u64, to: u64, sent: *u64) void {
    for (from..to) |value| {
        channel.send(value) catch return;
        sent.* += 1;
    }
}

fn receiveAll(channel: *Channel, sum: *u64, ordered: *bool) void {
    var last: ?u64 = null;
    while (channel.receive() catch null) |value| {
        if (last) |before| if (value <= before) {
            ordered.* = false;
        };
        last = value;
        sum.* += value;
    }
}

test "a channel takes as many values as its buffer has room for before its sender waits" {
    for ([_]usize{ 0, 1, 4, 7 }) |capacity| {
        var s: zco.Scheduler = .{};
        var buffer: [7]u64 = undefined;
        var channel = Channel.init(&s, buffer[0..capacity]);
        var sent: u64 = 0;
        try s.spawn(sendRange, .{ &channel, 0, 100, &sent }, .{});
        try std.testing.expectError(error.Deadlock, s.run());
        try std.testing.expectEqual(capacity, sent);
    }
}

fn closeAfter(s: *zco.Scheduler, channel: *Channel, sent: *u64, wanted: u64) void {
    while (sent.* < wanted) s.yield();
    channel.close();
}

test "values arrive once and in order, with any buffer" {
    for ([_]usize{ 0, 1, 2, 5, 64 }) |capacity| {
        var s: zco.Scheduler = .{};
        defer s.deinit();
        var buffer: [64]u64 = undefined;
        var channel = Channel.init(&s, buffer[0..capacity]);
        var sent: u64 = 0;
        var sum: u64 = 0;
        var ordered = true;
        try s.spawn(sendRange, .{ &channel, 0, 10_000, &sent }, .{});
        try s.spawn(receiveAll, .{ &channel, &sum, &ordered }, .{});
        try s.spawn(closeAfter, .{ &s, &channel, &sent, 10_000 }, .{});
        try s.run();
        try std.testing.expectEqual(49_995_000, sum);
        try std.testing.expect(ordered);
    }
}

test "many senders and receivers lose nothing" {
    for ([_]usize{ 0, 3, 64 }) |capacity| {
        var s: zco.Scheduler = .{};
        defer s.deinit();
        var buffer: [64]u64 = undefined;
        var channel = Channel.init(&s, buffer[0..capacity]);
        var sent: u64 = 0;
        var sums: [7]u64 = @splat(0);
        var ordered = true;
        for (0..10) |n| try s.spawn(sendRange, .{ &channel, n * 1000, (n + 1) * 1000, &sent }, .{});
        for (&sums) |*sum| try s.spawn(receiveAll, .{ &channel, sum, &ordered }, .{});
        try s.spawn(closeAfter, .{ &s, &channel, &sent, 10_000 }, .{});
        try s.run();
        var total: u64 = 0;
        for (sums) |sum| {
            total += sum;
            try std.testing.expect(sum > 0); // each had its share
        }
        try std.testing.expectEqual(49_995_000, total);
    }
}

fn expectClosed(channel: *Channel, value: u64, closed: *usize) void {
    channel.send(value) catch {
        closed.* += 1;
    };
}

fn closeOnce(channel: *Channel) void {
    channel.close();
}

test "closing gives senders back what was not taken, and receivers what was" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var buffer: [1]u64 = undefined;
    var channel = Channel.init(&s, &buffer);
    var closed: usize = 0;
    var sum: u64 = 0;
    var ordered = true;
    for (1..4) |value| try s.spawn(expectClosed, .{ &channel, value, &closed }, .{});
    try s.spawn(closeOnce, .{&channel}, .{});
    try s.spawn(expectClosed, .{ &channel, 9, &closed }, .{});
    try s.spawn(receiveAll, .{ &channel, &sum, &ordered }, .{});
    try s.run();
    try std.testing.expectEqual(3, closed); // two that waited and one that came later
    try std.testing.expectEqual(1, sum);
}

fn tryBoth(channel: *Channel, good: *bool) void {
    good.* = channel.tryReceive() == null and (channel.trySend(1) catch false) and (channel.trySend(2) catch false) and
        !(channel.trySend(3) catch true) and channel.tryReceive() == 1 and (channel.trySend(4) catch false) and
        channel.tryReceive() == 2 and channel.tryReceive() == 4 and channel.tryReceive() == null;
    channel.close();
    good.* = good.* and channel.trySend(5) == error.Closed and (channel.receive() catch 1) == null;
}

test "trying never waits" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var buffer: [2]u64 = undefined;
    var channel = Channel.init(&s, &buffer);
    var good = false;
    try s.spawn(tryBoth, .{ &channel, &good }, .{});
    try s.run();
    try std.testing.expect(good);
}
