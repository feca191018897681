//! What servers count, and how those of several threads show it to one another.
const std = @import("std");

/// Counts are numbers of one server, or sums of those of several.
pub const Counts = struct {
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

    pub fn add(sum: *Counts, other: Counts) void {
        inline for (std.meta.fields(Counts)) |field| @field(sum, field.name) += @field(other, field.name);
    }
};

/// Line is where the server of a thread writes what it has counted, now and then, for the others to read. That is all that threads
/// share. Each number is whole; together they may be of two moments.
pub const Line = struct {
    numbers: [fields.len]std.atomic.Value(u64) align(std.atomic.cache_line) = @splat(.init(0)),

    const fields = std.meta.fields(Counts);

    pub fn write(line: *Line, counts: Counts) void {
        inline for (fields, &line.numbers) |field, *number| number.store(@field(counts, field.name), .monotonic);
    }

    pub fn read(line: *const Line) Counts {
        var counts: Counts = .{};
        inline for (fields, &line.numbers) |field, *number| @field(counts, field.name) = number.load(.monotonic);
        return counts;
    }
};
