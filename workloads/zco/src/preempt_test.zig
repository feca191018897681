const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;
const posix = std.posix;
const zco = @import("zco.zig");
const context_test = @import("context_test.zig");

/// What ends turns at any instruction. An emulator would do nothing but take signals, if there were a hundred thousand in a second.
pub const fast_tick: isize = if (builtin.cpu.arch == .x86_64) 10 * std.time.ns_per_us else std.time.ns_per_ms / 2;
/// After how many turns that it ended, among many that end anyway, a test is over.
const fast_turns: u64 = if (builtin.cpu.arch == .x86_64) 1000 else 100;

fn spin(over: *volatile bool, spins: *u64) void {
    var n: u64 = 1; // It has a turn, even when all was over before.
    while (!over.*) n += 1;
    spins.* = n;
}

fn endAll(over: *volatile bool) void {
    over.* = true;
}

test "a coroutine that computes for ever does not keep the others from their turn" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    var over = false;
    var spins: [3]u64 = @splat(0);
    for (&spins) |*each| try s.spawn(spin, .{ &over, each }, .{});
    try s.spawn(endAll, .{&over}, .{ .priority = 15 });
    try s.spawn(endAll, .{&over}, .{});
    try s.run();
    for (spins) |each| try std.testing.expect(each > 0);
    try std.testing.expect(s.preemptions >= 3 and s.preemptions < 50);
}

fn sleepThenEnd(s: *zco.Scheduler, over: *volatile bool) void {
    s.sleep(30 * std.time.ns_per_ms) catch return;
    over.* = true;
}

test "a coroutine that computes for ever does not keep a sleeper from waking" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    var over = false;
    var spins: u64 = 0;
    try s.spawn(sleepThenEnd, .{ &s, &over }, .{});
    try s.spawn(spin, .{ &over, &spins }, .{});
    try s.run();
    try std.testing.expect(spins > 0);
}

const Sunk = struct { least: u5 = 31, after: u5 = 0 };

/// spinThenSleep notes the priority that it has in the end, and the one that it has when it has waited.
fn spinThenSleep(s: *zco.Scheduler, over: *volatile bool, sunk: *Sunk) void {
    while (!over.*) {}
    sunk.least = s.current.?.priority;
    s.sleep(1) catch return;
    sunk.after = s.current.?.priority;
}

/// sleepOften notes how many turns were ended, at most, while it waited for its own: ten times, after so many that do not count. It then
/// ends all.
fn sleepOften(s: *zco.Scheduler, preemptions: u64, over: *bool, most: *u64) void {
    while (s.preemptions < preemptions) s.sleep(std.time.ns_per_ms) catch return;
    for (0..10) |_| {
        const before = s.preemptions;
        s.sleep(std.time.ns_per_ms) catch return;
        most.* = @max(most.*, s.preemptions - before);
    }
    over.* = true;
}

test "those that use up their slices sink, those that wait go before them, and who waits has its own priority again" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    var over = false;
    var most: u64 = 0;
    var sunk: [6]Sunk = @splat(.{});
    for (&sunk) |*each| try s.spawn(spinThenSleep, .{ &s, &over, each }, .{});
    try s.spawn(sleepOften, .{ &s, 30, &over, &most }, .{});
    try s.run();
    for (sunk) |each| try std.testing.expectEqual(Sunk{ .least = 16 - 3, .after = 16 }, each);
    // The one that had the turn, perhaps another one before the millisecond was over, and the one that has each 64th turn.
    try std.testing.expect(most >= 1 and most <= 3);
}

test "a coroutine sinks no deeper than the lowest priority" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    var over = false;
    var most: u64 = 0;
    var sunk: [2]Sunk = @splat(.{});
    for (&sunk) |*each| try s.spawn(spinThenSleep, .{ &s, &over, each }, .{ .priority = 1 });
    try s.spawn(sleepOften, .{ &s, 6, &over, &most }, .{});
    try s.run();
    for (sunk) |each| try std.testing.expectEqual(Sunk{ .least = 0, .after = 1 }, each);
}

test "the more are ready, the shorter is a slice, within limits" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    const slice = &s.slice.?;
    for ([_]struct { usize, u64 }{ .{ 0, 10 }, .{ 1, 10 }, .{ 4, 2 }, .{ 100_000, 2 }, .{ 2, 5 }, .{ 1, 10 } }) |case| {
        slice.fit(case[0]);
        try std.testing.expectEqual(case[1], slice.tick_every / std.time.ns_per_ms);
    }
}

/// cpuNow is the time that this thread has computed: what a busy machine takes away does not count.
fn cpuNow() u64 {
    const t = posix.clock_gettime(.THREAD_CPUTIME_ID) catch unreachable; // every Linux has this clock
    return @as(u64, @intCast(t.sec)) * std.time.ns_per_s + @as(u64, @intCast(t.nsec));
}

/// The same sum with integer, floating-point and vector registers, in one long loop without a call.
fn compute(rounds: u64, seed: u64) u64 {
    var a = seed | 1;
    var b = seed ^ 0x9e3779b97f4a7c15;
    var f: f64 = @floatFromInt(seed & 0xffff);
    var v: @Vector(4, u32) = @splat(@truncate(seed));
    for (0..rounds) |i| {
        a = a *% 6364136223846793005 +% b;
        b = std.math.rotl(u64, b, 7) ^ a;
        f = f * 0.999 + 1.5;
        v = v *% @as(@Vector(4, u32), @splat(1664525)) +% @as(@Vector(4, u32), @splat(@truncate(i)));
    }
    return a ^ b ^ @as(u64, @bitCast(f)) ^ @reduce(.Xor, v);
}

fn computeAndCompare(rounds: u64, seed: u64, wanted: u64, good: *usize, s: *zco.Scheduler) void {
    const got = compute(rounds, seed);
    s.enter();
    defer s.leave();
    if (got == wanted) good.* += 1;
}

/// computeTogether lets six coroutines compute, checks what they get, and returns how many turns were ended meanwhile.
fn computeTogether(rounds: u64) !u64 {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    var good: usize = 0;
    for (1..7) |seed| try s.spawn(computeAndCompare, .{ rounds, seed, compute(rounds, seed), &good, &s }, .{});
    try s.run();
    try std.testing.expectEqual(6, good);
    return s.preemptions;
}

test "a computation that is interrupted anywhere has the same result" {
    // A machine that is taken away for a while may skip ticks: so it is computed until turns enough were ended, and not for some time.
    var rounds: u64 = 1_000_000;
    while (try computeTogether(rounds) <= 6) : (rounds *= 2) try std.testing.expect(rounds < 1 << 30);
}

fn holdRegisters(seed: u64, over: *const bool, wrong: *u64) void {
    wrong.* |= context_test.zco_test_hold(seed, over);
}

fn endAfter(s: *zco.Scheduler, preemptions: u64, over: *bool) void {
    while (s.preemptions < preemptions) s.yield();
    over.* = true;
}

test "a coroutine that is interrupted anywhere has all its registers and flags again" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    const fast = try zco.Slice.tickEvery(fast_tick, .MONOTONIC);
    defer _ = linux.syscall1(.timer_delete, @intCast(fast));
    var over = false;
    var wrong: u64 = 0;
    for (0..16) |i| try s.spawn(holdRegisters, .{ i *% 0x9e3779b97f4a7c15 +% i, &over, &wrong }, .{});
    try s.spawn(endAfter, .{ &s, 1000, &over }, .{});
    try s.run();
    try std.testing.expectEqual(0, wrong);
}

fn countTurns(s: *zco.Scheduler, over: *bool, turns: *usize) void {
    while (!over.*) {
        turns.* += 1;
        s.yield();
    }
}

/// trySendLong sends until its turn was ended twice, or it is clear that nothing ends it.
fn trySendLong(channel: *zco.Channel(u64), over: *bool, turns: *volatile usize) void {
    const begun = cpuNow();
    while (turns.* < 2 and cpuNow() - begun < 20 * std.time.ns_per_s) {
        for (0..1000) |value| _ = channel.trySend(value) catch return;
    }
    over.* = true;
}

test "a coroutine that is nearly always inside the library loses its turn too" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    var buffer: [1]u64 = undefined;
    var channel = zco.Channel(u64).init(&s, &buffer);
    var turns: usize = 0;
    var over = false;
    try s.spawn(trySendLong, .{ &channel, &over, &turns }, .{});
    try s.spawn(countTurns, .{ &s, &over, &turns }, .{});
    try s.run();
    try std.testing.expect(turns >= 2);
}

/// sendUntil sends until turns have been ended often enough. Its turns are long for its buffer is.
fn sendUntil(s: *zco.Scheduler, channel: *zco.Channel(u64), preemptions: u64, sum: *u64) void {
    const begun = cpuNow();
    var value: u64 = 1;
    while (s.preemptions < preemptions) : (value += 1) {
        channel.send(value) catch return;
        sum.* += value;
        if (value % 100 == 0) std.mem.doNotOptimizeAway(compute(1000, value));
        if (value % 5000 == 0) s.sleep(1) catch return;
        if (value % 5000 == 2500) s.yield();
        // In an emulator most turns end before its ticks.
        if (builtin.cpu.arch != .x86_64 and value % 5000 == 0 and cpuNow() - begun > 5 * std.time.ns_per_s) break;
    }
    channel.close();
}

fn sumUp(channel: *zco.Channel(u64), sum: *u64) void {
    while (channel.receive() catch null) |value| sum.* += value;
}

test "queues and channels stay whole while turns are ended at any instruction" {
    var s: zco.Scheduler = .{};
    defer s.deinit();
    try zco.Slice.start(&s);
    const fast = try zco.Slice.tickEvery(fast_tick, .MONOTONIC);
    defer _ = linux.syscall1(.timer_delete, @intCast(fast));
    var buffers: [4][4096]u64 = undefined;
    var channels: [4]zco.Channel(u64) = undefined;
    var sent: [4]u64 = @splat(0);
    var received: [4]u64 = @splat(0);
    for (&channels, &buffers, &sent, &received) |*channel, *buffer, *in, *out| {
        channel.* = zco.Channel(u64).init(&s, buffer);
        try s.spawn(sendUntil, .{ &s, channel, fast_turns, in }, .{});
        try s.spawn(sumUp, .{ channel, out }, .{});
    }
    try s.run();
    try std.testing.expectEqual(sent, received);
    if (builtin.cpu.arch == .x86_64) try std.testing.expect(s.preemptions >= fast_turns);
}

fn dive(depth: u64) u64 {
    var space: [512]u8 = undefined;
    const seen: *volatile [512]u8 = &space;
    seen[depth % 512] = @truncate(depth);
    const below = dive(depth + 1);
    return below + seen[depth % 512];
}

fn diveForEver() void {
    std.mem.doNotOptimizeAway(dive(0));
}

fn overflowInChild(stderr: posix.fd_t) noreturn {
    posix.dup2(stderr, 2) catch posix.exit(3);
    posix.setrlimit(.CORE, .{ .cur = 0, .max = 0 }) catch {};
    var s: zco.Scheduler = .{};
    zco.Slice.start(&s) catch posix.exit(3);
    s.spawn(diveForEver, .{}, .{}) catch posix.exit(3);
    s.run() catch posix.exit(3);
    posix.exit(0);
}

test "a stack that overflows ends the process with a sentence" {
    const pipe = try posix.pipe();
    const child = try posix.fork();
    if (child == 0) overflowInChild(pipe[1]);
    posix.close(pipe[1]);
    var text: [256]u8 = undefined;
    const n = try posix.read(pipe[0], &text);
    posix.close(pipe[0]);
    const status = posix.waitpid(child, 0).status;
    // An emulator adds a sentence of its own.
    try std.testing.expectStringStartsWith(text[0..n], "zco: a coroutine has used up its stack of 64 KiB\n");
    try std.testing.expect(posix.W.IFSIGNALED(status) and posix.W.TERMSIG(status) == posix.SIG.ABRT);
}
