//! What threads share, for a detector of races, which knows nothing of coroutines.
const std = @import("std");

comptime {
    _ = @import("counts_test.zig");
    _ = @import("bench_test.zig");
}

var planted: u64 = 0;

fn count() void {
    for (0..1000) |_| planted += 1;
}

test "a race that is planted, to see that the detector sees" {
    if (!std.process.hasEnvVarConstant("ZCO_PLANTED_RACE")) return error.SkipZigTest;
    const other = try std.Thread.spawn(.{}, count, .{});
    count();
    other.join();
}
