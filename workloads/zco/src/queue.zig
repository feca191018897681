//! Queues whose links lie in what is queued: they need no memory, cannot be full, and take and give in constant time.
const std = @import("std");

/// Fifo is first in, first out. T has a field `next: ?*T` that belongs to the queue it is in.
pub fn Fifo(comptime T: type) type {
    return struct {
        head: ?*T = null,
        tail: ?*T = null,

        const Self = @This();

        pub fn push(q: *Self, item: *T) void {
            item.next = null;
            if (q.tail) |tail| tail.next = item else q.head = item;
            q.tail = item;
        }

        pub fn pop(q: *Self) ?*T {
            const item = q.head orelse return null;
            q.head = item.next;
            if (q.head == null) q.tail = null;
            return item;
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
        len: usize = 0,
        turn: u8 = 0,

        pub const turns_of_lowest = 64;
        const Self = @This();

        pub fn push(q: *Self, item: *T) void {
            q.levels[item.priority].push(item);
            q.filled |= @as(u32, 1) << item.priority;
            q.len += 1;
        }

        pub fn pop(q: *Self) ?*T {
            if (q.filled == 0) return null;
            q.turn = (q.turn + 1) % turns_of_lowest;
            const level: u5 = @intCast(if (q.turn == 0) @ctz(q.filled) else 31 - @clz(q.filled));
            const item = q.levels[level].pop() orelse unreachable; // its bit is set
            if (q.levels[level].head == null) q.filled &= ~(@as(u32, 1) << level);
            q.len -= 1;
            return item;
        }
    };
}
