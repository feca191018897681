//! Queues whose links lie in what is queued: they need no memory, cannot be full, and take and give in constant time.
const std = @import("std");

/// Fifo is first in, first out: a ring, of which the last item is known. T has a field `next: *T` that belongs to the queue it is in.
pub fn Fifo(comptime T: type) type {
    return struct {
        last: ?*T = null,

        const Self = @This();

        pub inline fn push(q: *Self, item: *T) void {
            item.next = item;
            if (q.last) |last| {
                item.next = last.next;
                last.next = item;
            }
            q.last = item;
        }

        pub inline fn pop(q: *Self) ?*T {
            const last = q.last orelse return null;
            const first = last.next;
            if (first == last) q.last = null else last.next = first.next;
            return first;
        }

        /// rotate pushes an item and pops the first, of a queue that is not empty.
        pub inline fn rotate(q: *Self, item: *T) *T {
            const last = q.last.?;
            const first = last.next;
            item.next = if (first == last) item else first.next;
            last.next = item;
            q.last = item;
            return first;
        }
    };
}

pub const Priority = u5;

/// Ready has a Fifo for each of 32 priorities (T has a field `priority`) and a bitmap of those that are not empty. The highest
/// priority goes first; each 64th turn is the lowest one's, so that none waits for ever.
pub fn Ready(comptime T: type) type {
    return struct {
        levels: [32]Fifo(T) = @splat(.{}),
        filled: u32 = 0,
        /// What was ever pushed and popped: popped is also the number of turns.
        pushed: u64 = 0,
        popped: u64 = 0,

        pub const turns_of_lowest = 64;
        const Self = @This();

        pub inline fn push(q: *Self, item: *T) void {
            q.levels[item.priority].push(item);
            q.filled |= @as(u32, 1) << item.priority;
            q.pushed += 1;
        }

        pub inline fn pop(q: *Self) ?*T {
            if (q.filled == 0) return null;
            q.popped += 1;
            const level: u5 = @intCast(if (q.popped % turns_of_lowest == 0) @ctz(q.filled) else 31 - @clz(q.filled));
            const item = q.levels[level].pop() orelse unreachable; // its bit is set
            if (q.levels[level].last == null) q.filled &= ~(@as(u32, 1) << level);
            return item;
        }

        /// rotate pushes an item and pops the next, which may be the same.
        pub inline fn rotate(q: *Self, item: *T) *T {
            if (q.filled == @as(u32, 1) << item.priority) { // coroutines of one priority that yield to each other
                q.pushed += 1;
                q.popped += 1;
                // By the bitmap, which is known long before the item's own field is.
                return q.levels[@ctz(q.filled)].rotate(item);
            }
            q.push(item);
            return q.pop().?;
        }

        pub fn len(q: *const Self) u64 {
            return q.pushed - q.popped;
        }
    };
}
