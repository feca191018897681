const std = @import("std");
const zco = @import("zco.zig");

const Case = struct {
    s: zco.Scheduler = .{},
    group: zco.WaitGroup = undefined,
    finished: usize = 0,
    /// How many had finished when each of those that wait went on.
    seen: [2]usize = .{ 99, 99 },

    fn work(case: *Case, milliseconds: u64) void {
        case.s.sleep(milliseconds * std.time.ns_per_ms) catch return;
        case.finished += 1;
        case.group.done();
    }

    fn wait(case: *Case, place: usize) void {
        case.group.wait() catch return;
        case.seen[place] = case.finished;
    }
};

test "those that wait go on when all is done, and not before" {
    for ([_]usize{ 0, 1, 5 }) |workers| {
        var case: Case = .{};
        defer case.s.deinit();
        case.group = zco.WaitGroup.init(&case.s);
        case.group.add(workers);
        for (0..2) |place| try case.s.spawn(Case.wait, .{ &case, place }, .{});
        for (0..workers) |i| try case.s.spawn(Case.work, .{ &case, i % 3 }, .{});
        try case.s.run();
        try std.testing.expectEqual([_]usize{ workers, workers }, case.seen);
    }
}

test "a group may be used again" {
    var case: Case = .{};
    defer case.s.deinit();
    case.group = zco.WaitGroup.init(&case.s);
    for (1..4) |round| {
        case.group.add(1);
        try case.s.spawn(Case.wait, .{ &case, 0 }, .{});
        try case.s.spawn(Case.work, .{ &case, 0 }, .{});
        try case.s.run();
        try std.testing.expectEqual(round, case.seen[0]);
    }
}

test "what is never done is told" {
    var case: Case = .{};
    case.group = zco.WaitGroup.init(&case.s);
    case.group.add(1);
    try case.s.spawn(Case.wait, .{ &case, 0 }, .{});
    try std.testing.expectError(error.Deadlock, case.s.run());
}
