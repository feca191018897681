//! Coroutines on one thread: one sends numbers, two take them and add them up, one waits for these. Prints the sum of 1 to 1000.
const std = @import("std");
const zco = @import("zco");

const Numbers = zco.Channel(u64);

fn produce(numbers: *Numbers) void {
    for (1..1001) |n| numbers.send(n) catch return; // it is closed
    numbers.close();
}

fn add(numbers: *Numbers, sum: *u64, group: *zco.WaitGroup) void {
    while (numbers.receive() catch null) |n| sum.* += n;
    group.done();
}

fn print(sums: []const u64, group: *zco.WaitGroup) void {
    group.wait() catch return; // nobody cancels it
    std.io.getStdOut().writer().print("{d}\n", .{sums[0] + sums[1]}) catch {}; // nobody has to read it
}

pub fn main() !void {
    var scheduler: zco.Scheduler = .{};
    defer scheduler.deinit();
    var buffer: [16]u64 = undefined;
    var numbers = Numbers.init(&scheduler, &buffer);
    var sums: [2]u64 = .{ 0, 0 };

    var group = zco.WaitGroup.init(&scheduler);
    group.add(sums.len);
    try scheduler.spawn(print, .{ &sums, &group }, .{});
    try scheduler.spawn(produce, .{&numbers}, .{});
    for (&sums) |*sum| try scheduler.spawn(add, .{ &numbers, sum, &group }, .{});
    try scheduler.run();
}
