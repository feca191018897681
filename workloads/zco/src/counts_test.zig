const std = @import("std");
const counts = @import("counts.zig");

test "a time is counted in the place of its power of two" {
    const us = std.time.ns_per_us;
    for ([_]struct { u64, usize }{
        .{ 0, 0 },
        .{ us - 1, 0 },
        .{ us, 1 },
        .{ 2 * us - 1, 1 },
        .{ 2 * us, 2 },
        .{ 1023 * us, 10 },
        .{ 1024 * us, 11 },
        .{ std.math.maxInt(u64), 23 },
    }) |case| {
        var times: counts.Times = .{};
        times.record(case[0], 3);
        for (times.places, 0..) |n, place| try std.testing.expectEqual(if (place == case[1]) @as(u64, 3) else 0, n);
    }
}

test "what several threads have counted is added up, number by number" {
    var one: counts.Counts = .{ .switches = 1, .requests = 5 };
    one.readyByPriority[31] = 2;
    one.serviceTimes.record(0, 7);
    var lines: [2]counts.Line = @splat(.{});
    for (&lines) |*line| line.write(one);
    var sum: counts.Counts = .{};
    for (&lines) |*line| sum.add(line.read());
    try std.testing.expectEqual(2, sum.switches);
    try std.testing.expectEqual(10, sum.requests);
    try std.testing.expectEqual(0, sum.connections);
    try std.testing.expectEqual(4, sum.readyByPriority[31]);
    try std.testing.expectEqual(14, sum.serviceTimes.places[0]);
}

/// same has one number in all its places.
fn same(n: u64) counts.Counts {
    var all: counts.Counts = undefined;
    const numbers: *[@divExact(@sizeOf(counts.Counts), @sizeOf(u64))]u64 = @ptrCast(&all);
    numbers.* = @splat(n);
    return all;
}

fn countOn(line: *counts.Line, over: *const std.atomic.Value(bool)) void {
    var n: u64 = 0;
    while (!over.load(.monotonic)) : (n += 1) line.write(same(n));
}

test "what a thread counts others may read meanwhile, and no number of it goes back" {
    var line: counts.Line = .{};
    var over: std.atomic.Value(bool) = .init(false);
    const other = try std.Thread.spawn(.{}, countOn, .{ &line, &over });
    defer other.join();
    defer over.store(true, .monotonic);
    var before = line.read();
    for (0..20_000) |_| {
        const now = line.read();
        try std.testing.expect(now.switches >= before.switches and now.requests >= before.requests);
        for (now.serviceTimes.places, before.serviceTimes.places) |n, was| try std.testing.expect(n >= was);
        before = now;
    }
}
