const std = @import("std");
const Stealable = @import("bench_stealable.zig").Stealable;

const Item = struct { taken: std.atomic.Value(u32) = .init(0) };

var queue: Stealable(Item) = .{};
var over: std.atomic.Value(bool) = .init(false);

/// steal takes until all is over and nothing is left.
fn steal() void {
    while (true) {
        const last = over.load(.acquire);
        while (queue.pop()) |item| _ = item.taken.fetchAdd(1, .monotonic);
        if (last) return;
    }
}

test "what several threads take out of a queue they take once" {
    const items = try std.testing.allocator.alloc(Item, 100_000);
    defer std.testing.allocator.free(items);
    @memset(items, Item{});
    var thieves: [2]std.Thread = undefined;
    for (&thieves) |*thief| thief.* = try std.Thread.spawn(.{}, steal, .{});
    for (items, 0..) |*item, i| {
        if (i >= 100) {
            if (queue.pop()) |own| _ = own.taken.fetchAdd(1, .monotonic);
        }
        queue.push(item);
    }
    over.store(true, .release);
    for (thieves) |thief| thief.join();
    for (items) |*item| try std.testing.expectEqual(1, item.taken.load(.monotonic));
}
