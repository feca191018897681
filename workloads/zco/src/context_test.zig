const std = @import("std");
const context = @import("context.zig");

comptime {
    _ = @import("arch/x86_64_test.zig");
}

/// zco_test_hold fills all registers and flags with values that follow from seed, until it is over. It returns which bits are others
/// then, 0 for none.
pub extern fn zco_test_hold(seed: u64, over: *const volatile bool) callconv(.c) u64;

/// zco_test_call fills all registers that a function must keep with values that follow from seed, calls one, and returns which bits are
/// others then, 0 for none.
extern fn zco_test_call(seed: u64, call: *const fn (*Pair) callconv(.c) void, pair: *Pair) callconv(.c) u64;

/// Pair is two contexts, of which each gives way to the other when it has filled its registers.
const Pair = struct {
    here: context.Context = undefined,
    there: context.Context = undefined,
    wrong_here: u64 = 0,
    wrong_there: u64 = 0,
    begun: [2]usize = .{ 1, 1 },

    const times = 1000;
    threadlocal var case: Pair = undefined;

    /// other is entered for the first time by leave. Its frame begins with that of its caller, and the address that it returns to.
    fn other(_: *context.Context, _: *context.Context) callconv(.c) noreturn {
        const frame: *const [2]usize = @ptrFromInt(@frameAddress());
        case.begun = frame.*;
        for (0..times) |i| case.wrong_there |= zco_test_call(~@as(u64, i), back, &case);
        back(&case);
        unreachable;
    }

    fn leave(pair: *Pair) callconv(.c) void {
        context.swap(&pair.here, &pair.there);
    }

    fn back(pair: *Pair) callconv(.c) void {
        context.swap(&pair.there, &pair.here);
    }
};

test "a function that leaves its stack and comes back has kept all registers that it must keep" {
    const stack = try std.testing.allocator.alignedAlloc(u8, 16, 64 * 1024);
    defer std.testing.allocator.free(stack);
    const pair = &Pair.case;
    pair.* = .{ .there = context.fresh(@intFromPtr(stack.ptr) + stack.len, Pair.other) };
    for (0..Pair.times) |i| pair.wrong_here |= zco_test_call(i, Pair.leave, pair);
    try std.testing.expectEqual(0, pair.wrong_here);
    try std.testing.expectEqual(0, pair.wrong_there);
}

test "a stack begins where a stack trace ends" {
    const stack = try std.testing.allocator.alignedAlloc(u8, 16, 64 * 1024);
    defer std.testing.allocator.free(stack);
    const pair = &Pair.case;
    pair.* = .{ .there = context.fresh(@intFromPtr(stack.ptr) + stack.len - 8, Pair.other) };
    Pair.leave(pair);
    try std.testing.expectEqual([_]usize{ 0, 0 }, pair.begun);
}
