//! What a queue of those that are ready would be if other threads could take coroutines out of it. It is there to be measured only: zco's own
//! queue belongs to one thread.
const std = @import("std");

/// Stealable is a queue out of which any thread may take, and into which its owner puts: the ring of Chase and Lev, whose owner takes from
/// the same end as thieves, since turns go to those that have been ready for longest. It does not grow.
pub fn Stealable(comptime T: type) type {
    return struct {
        /// Where the next is taken, and where the next is put. Thieves move the first: they have lines of their own.
        first: std.atomic.Value(u64) align(std.atomic.cache_line) = .init(0),
        end: std.atomic.Value(u64) align(std.atomic.cache_line) = .init(0),
        items: [room]std.atomic.Value(?*T) = @splat(.init(null)),

        const room = 256;
        const Self = @This();

        /// push is the owner's. There must be room.
        pub inline fn push(q: *Self, item: *T) void {
            const end = q.end.load(.monotonic);
            std.debug.assert(end - q.first.load(.acquire) < room);
            q.items[end % room].store(item, .monotonic);
            q.end.store(end + 1, .release);
        }

        /// pop is anybody's.
        pub inline fn pop(q: *Self) ?*T {
            var first = q.first.load(.acquire);
            while (true) {
                if (first == q.end.load(.acquire)) return null;
                const item = q.items[first % room].load(.monotonic);
                first = q.first.cmpxchgStrong(first, first + 1, .acq_rel, .acquire) orelse return item;
            }
        }
    };
}
