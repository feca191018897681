//! What servers count, and how those of several threads show it to one another.
const std = @import("std");

/// Counts are numbers of one server, or sums of those of several: nothing but u64.
pub const Counts = extern struct {
    switches: u64 = 0,
    preemptions: u64 = 0,
    ready: u64 = 0,
    stacks: u64 = 0,
    connectionsOpen: u64 = 0,
    /// Connections that wait for a worker.
    waiting: u64 = 0,
    connections: u64 = 0,
    refused: u64 = 0,
    timedOut: u64 = 0,
    requests: u64 = 0,
    /// Coroutines that are ready, by priority.
    readyByPriority: [32]u64 = @splat(0),
    serviceTimes: Times = .{},

    const Numbers = [@divExact(@sizeOf(Counts), @sizeOf(u64))]u64;

    pub fn add(sum: *Counts, other: Counts) void {
        const into: *Numbers = @ptrCast(sum);
        const from: *const Numbers = @ptrCast(&other);
        for (into, from) |*a, b| a.* += b;
    }
};

/// Times is a histogram of times in microseconds: place i has those below 2^i and not below half of that, the last one all the rest.
pub const Times = extern struct {
    places: [24]u64 = @splat(0),

    pub fn record(t: *Times, nanoseconds: u64, n: usize) void {
        t.places[@min(t.places.len - 1, 64 - @clz(nanoseconds / std.time.ns_per_us))] += n;
    }
};

/// Line is where the server of a thread writes what it has counted, now and then, for the others to read. That is all that threads
/// share. Each number is whole; together they may be of two moments.
pub const Line = struct {
    numbers: [@typeInfo(Counts.Numbers).array.len]std.atomic.Value(u64) align(std.atomic.cache_line) = @splat(.init(0)),

    pub fn write(line: *Line, counts: Counts) void {
        const from: *const Counts.Numbers = @ptrCast(&counts);
        for (&line.numbers, from) |*number, value| number.store(value, .monotonic);
    }

    pub fn read(line: *const Line) Counts {
        var counts: Counts = .{};
        const into: *Counts.Numbers = @ptrCast(&counts);
        for (into, &line.numbers) |*value, *number| value.* = number.load(.monotonic);
        return counts;
    }
};
