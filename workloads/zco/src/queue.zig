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

        /// rotate makes the first item, which the caller knows, the last. It returns the one that is first then.
        pub inline fn rotate(q: *Self, first: *T) *T {
            q.last = first;
            return first.next;
        }
    };
}

/// List is a queue out of which any item can be taken. T has fields `before` and `after`, both `?*T`, that belong to the list it is in.
pub fn List(comptime T: type) type {
    return struct {
        first: ?*T = null,
        last: ?*T = null,

        const Self = @This();

        pub fn push(q: *Self, item: *T) void {
            item.before = q.last;
            item.after = null;
            if (q.last) |last| last.after = item else q.first = item;
            q.last = item;
        }

        /// remove takes out an item that is in the list.
        pub fn remove(q: *Self, item: *T) void {
            if (item.before) |before| before.after = item.after else q.first = item.after;
            if (item.after) |after| after.before = item.before else q.last = item.before;
        }
    };
}

pub const Priority = u5;

/// Ready has a Fifo for each of 32 priorities (T has a field `priority`) and a bitmap of those that are not empty. The highest
/// priority goes first; each 64th turn goes to the priorities one after the other, so that none waits for ever.
///
/// Who has the turn stays the first of its Fifo, and so the next one is known by its link alone: where all are of one priority, a
/// turn that ends waits for no other load, and stores little.
pub fn Ready(comptime T: type) type {
    return struct {
        levels: [32]Fifo(T) = @splat(.{}),
        filled: u32 = 0,
        len: usize = 0,
        /// Turns that are left in this batch, and the number of its last turn.
        left: u32 = 0,
        end: u64 = 0,
        /// The priority that has had the last of the turns which go to all.
        served: Priority = 31,

        pub const turns_of_highest = 64;
        const Self = @This();

        pub inline fn push(q: *Self, item: *T) void {
            q.levels[item.priority].push(item);
            q.filled |= @as(u32, 1) << item.priority;
            q.len += 1;
        }

        /// begin begins a batch of so many turns.
        pub fn begin(q: *Self, turns: u32) void {
            q.end = q.turn() + turns;
            q.left = turns;
        }

        /// turn is the number of turns since the start. Wrapping, because a tick may ask in the middle of begin.
        pub fn turn(q: *const Self) u64 {
            return q.end -% q.left;
        }

        /// next gives somebody a turn, until the batch is over or nobody is ready.
        pub inline fn next(q: *Self) ?*T {
            if (q.left == 0 or q.filled == 0) return null;
            q.left -= 1;
            const level: Priority = if (q.turn() % turns_of_highest == 0) q.nextServed() else @intCast(31 - @clz(q.filled));
            return q.levels[level].last.?.next; // its bit is set
        }

        /// nextServed is the next higher priority that is not empty, and after the highest the lowest.
        fn nextServed(q: *Self) Priority {
            const above = q.filled & ~((@as(u32, 2) << q.served) -% 1);
            q.served = @intCast(@ctz(if (above != 0) above else q.filled));
            return q.served;
        }

        /// counts are the numbers of items by priority. It looks at each.
        pub fn counts(q: *const Self) [32]u64 {
            var all: [32]u64 = @splat(0);
            for (q.levels, &all) |level, *n| {
                var item = level.last orelse continue;
                while (true) {
                    n.* += 1;
                    item = item.next;
                    if (item == level.last.?) break;
                }
            }
            return all;
        }

        /// remove takes out the one that has the turn.
        pub inline fn remove(q: *Self, item: *T) void {
            q.len -= 1;
            _ = q.levels[item.priority].pop();
            if (q.levels[item.priority].last == null) q.filled &= ~(@as(u32, 1) << item.priority);
        }

        /// rotate puts the one that has the turn behind the others of its priority.
        pub inline fn rotate(q: *Self, item: *T) void {
            _ = q.levels[item.priority].rotate(item);
        }

        /// quick is true when rotateToNext may end the turn: the batch goes on, and all that are ready are of one priority.
        pub inline fn quick(q: *const Self) bool {
            return q.left != 0 and @popCount(q.filled) == 1;
        }

        /// rotateToNext is rotate and next where quick is true.
        pub inline fn rotateToNext(q: *Self, item: *T) *T {
            q.left -= 1;
            return q.levels[item.priority].rotate(item);
        }
    };
}
