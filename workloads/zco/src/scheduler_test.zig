const std = @import("std");
const zco = @import("zco.zig");

/// Log is what coroutines write down, in the order in which they ran.
const Log = struct {
    text: [256]u8 = undefined,
    len: usize = 0,

    fn write(log: *Log, c: u8) void {
        log.text[log.len] = c;
        log.len += 1;
    }

    fn expect(log: *const Log, wanted: []const u8) !void {
        try std.testing.expectEqualStrings(wanted, log.text[0..log.len]);
    }
};

fn writeAndYield(s: *zco.Scheduler, log: *Log, c: u8, times: usize) void {
    for (0..times) |_| {
        log.write(c);
        s.yield();
    }
}

test "coroutines of the same priority take turns" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var log: Log = .{};
    for ("abc") |c| try s.spawn(writeAndYield, .{ &s, &log, c, 3 }, .{});
    try s.run();
    try log.expect("abcabcabc");
}

test "a higher priority goes first" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var log: Log = .{};
    try s.spawn(writeAndYield, .{ &s, &log, 'l', 2 }, .{ .priority = 3 });
    try s.spawn(writeAndYield, .{ &s, &log, 'h', 2 }, .{ .priority = 30 });
    try s.run();
    try log.expect("hhll");
}

test "the lowest priority has its turn although a higher one never waits" {
    const Case = struct {
        ran: bool = false,
        fn high(s: *zco.Scheduler, case: *@This(), turns: *usize) void {
            while (!case.ran) : (turns.* += 1) s.yield();
        }
        fn low(case: *@This()) void {
            case.ran = true;
        }
    };
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var case: Case = .{};
    var turns: usize = 0;
    try s.spawn(Case.high, .{ &s, &case, &turns }, .{ .priority = 31 });
    try s.spawn(Case.low, .{&case}, .{ .priority = 0 });
    try s.run();
    try std.testing.expect(turns > 0 and turns <= 64);
}

test "each priority has its turns although two others never wait" {
    const Case = struct {
        turns: [3]usize = @splat(0),
        fn run(s: *zco.Scheduler, case: *@This(), place: usize) void {
            while (case.turns[0] < 1000) {
                case.turns[place] += 1;
                s.yield();
            }
        }
    };
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var case: Case = .{};
    for ([_]u5{ 31, 7, 0 }, 0..) |priority, place| try s.spawn(Case.run, .{ &s, &case, place }, .{ .priority = priority });
    try s.run();
    for (case.turns) |turns| try std.testing.expect(turns >= 1000 / 64 / 3);
}

fn sleepAndWrite(s: *zco.Scheduler, log: *Log, milliseconds: u64) void {
    s.sleep(milliseconds * std.time.ns_per_ms) catch return;
    log.write('0' + @as(u8, @intCast(milliseconds / 5)));
}

/// Sleepers sleep one after the other, for some milliseconds each. The machine may be busy between them: the deadline of each lies between
/// the instant before it slept and the instant before the next one did.
const Sleepers = struct {
    const milliseconds = [_]u64{ 20, 5, 15, 10, 25 };

    begun: [milliseconds.len + 1]u64 = undefined,
    order: [milliseconds.len]usize = undefined,
    woken: usize = 0,
    early: bool = false,

    fn sleep(sleepers: *Sleepers, s: *zco.Scheduler, i: usize) void {
        sleepers.begun[i] = zco.now();
        s.sleep(milliseconds[i] * std.time.ns_per_ms) catch return;
        sleepers.early = sleepers.early or zco.now() < sleepers.earliest(i);
        sleepers.order[sleepers.woken] = i;
        sleepers.woken += 1;
    }

    fn allSleep(sleepers: *Sleepers) void {
        sleepers.begun[milliseconds.len] = zco.now();
    }

    fn earliest(sleepers: *const Sleepers, i: usize) u64 {
        return sleepers.begun[i] + milliseconds[i] * std.time.ns_per_ms;
    }

    fn latest(sleepers: *const Sleepers, i: usize) u64 {
        return sleepers.begun[i + 1] + milliseconds[i] * std.time.ns_per_ms;
    }
};

test "sleepers wake in the order of their deadlines, and not early" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var sleepers: Sleepers = .{};
    for (0..Sleepers.milliseconds.len) |i| try s.spawn(Sleepers.sleep, .{ &sleepers, &s, i }, .{});
    try s.spawn(Sleepers.allSleep, .{&sleepers}, .{});
    try s.run();
    try std.testing.expect(!sleepers.early);
    try std.testing.expectEqual(sleepers.order.len, sleepers.woken);
    for (sleepers.order[1..], sleepers.order[0 .. sleepers.order.len - 1]) |later, sooner| {
        try std.testing.expect(sleepers.earliest(sooner) <= sleepers.latest(later));
    }
}

fn sleepForEver(s: *zco.Scheduler) void {
    while (true) s.sleep(std.time.ns_per_ms) catch return;
}

test "the end does not wait for a coroutine in the background" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var log: Log = .{};
    try s.spawn(sleepForEver, .{&s}, .{ .background = true });
    try s.spawn(sleepAndWrite, .{ &s, &log, 5 }, .{});
    try s.run();
    try log.expect("1");
}

fn sleepWhileBusy(s: *zco.Scheduler, log: *Log, awake: *bool) void {
    s.sleep(2 * std.time.ns_per_ms) catch return;
    awake.* = true;
    log.write('w');
}

fn yieldUntil(s: *zco.Scheduler, awake: *bool) void {
    while (!awake.*) s.yield();
}

test "a sleeper wakes although another coroutine is always ready" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var log: Log = .{};
    var awake = false;
    try s.spawn(sleepWhileBusy, .{ &s, &log, &awake }, .{});
    try s.spawn(yieldUntil, .{ &s, &awake }, .{});
    try s.run();
    try log.expect("w");
}

fn countTurnsUntil(s: *zco.Scheduler, awake: *bool, asleep: *bool, turns: *usize) void {
    while (!awake.*) {
        if (asleep.*) turns.* += 1;
        s.yield();
    }
}

fn sleepOnce(s: *zco.Scheduler, awake: *bool, asleep: *bool) void {
    asleep.* = true;
    s.sleep(1) catch return;
    awake.* = true;
}

test "the first sleeper does not wait for the end of a batch that began without one" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var awake = false;
    var asleep = false;
    var turns: usize = 0;
    try s.spawn(countTurnsUntil, .{ &s, &awake, &asleep, &turns }, .{});
    try s.spawn(sleepOnce, .{ &s, &awake, &asleep }, .{});
    try s.run();
    try std.testing.expect(turns > 0 and turns <= 64);
}

fn addAndSleep(s: *zco.Scheduler, sum: *u64, n: u64) void {
    s.sleep(std.time.ns_per_ms) catch return;
    sum.* += n;
}

test "ten thousand coroutines live at the same time, and their stacks are used again" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    s.stacks.keep = 10_000;
    var sum: u64 = 0;
    for (0..3) |_| {
        for (0..10_000) |n| try s.spawn(addAndSleep, .{ &s, &sum, n }, .{});
        try std.testing.expectEqual(10_000, s.live);
        try s.run();
    }
    try std.testing.expectEqual(3 * 49_995_000, sum);
    try std.testing.expectEqual(10_000, s.stacks.peak);
}

test "stacks beyond those to keep go back to the kernel" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    s.stacks.keep = 10;
    var sum: u64 = 0;
    for (0..100) |n| try s.spawn(addAndSleep, .{ &s, &sum, n }, .{});
    try s.run();
    try std.testing.expectEqual(10, s.stacks.mapped);
    try std.testing.expectEqual(100, s.stacks.peak);
}

fn spawnNext(s: *zco.Scheduler, left: usize) void {
    if (left > 0) s.spawn(spawnNext, .{ s, left - 1 }, .{}) catch unreachable;
}

test "a coroutine that makes another one and ends costs two stacks, however often" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try s.spawn(spawnNext, .{ &s, 100_000 }, .{});
    try s.run();
    try std.testing.expectEqual(2, s.stacks.peak);
}

fn keepRegisters(s: *zco.Scheduler, seed: u64, good: *usize) void {
    var a: f64 = @floatFromInt(seed);
    var x: [6]u64 = @splat(seed);
    for (0..1000) |i| {
        for (&x, 0..) |*each, n| each.* = each.* *% 6364136223846793005 +% n;
        a = a * 1.000001;
        if (i % 10 == 0) s.yield();
    }
    var b: f64 = @floatFromInt(seed);
    var y: [6]u64 = @splat(seed);
    for (0..1000) |_| {
        for (&y, 0..) |*each, n| each.* = each.* *% 6364136223846793005 +% n;
        b = b * 1.000001;
    }
    if (a == b and std.mem.eql(u64, &x, &y)) good.* += 1;
}

test "what a coroutine has in registers is there again after a switch" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var good: usize = 0;
    for (1..51) |seed| try s.spawn(keepRegisters, .{ &s, seed, &good }, .{});
    try s.run();
    try std.testing.expectEqual(50, good);
}

fn receiveOne(channel: *zco.Channel(u8)) void {
    _ = channel.receive() catch return;
}

test "coroutines that wait for each other are an error and not a hang" {
    var s: zco.Scheduler = .{};
    var channel = zco.Channel(u8).init(&s, &.{});
    try s.spawn(receiveOne, .{&channel}, .{});
    try std.testing.expectError(error.Deadlock, s.run());
}

test "turns are counted" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    var log: Log = .{};
    for ("ab") |c| try s.spawn(writeAndYield, .{ &s, &log, c, 10 }, .{});
    try s.run();
    try std.testing.expectEqual(22, s.switches());
    try std.testing.expectEqual(0, s.preemptions);
}
