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
