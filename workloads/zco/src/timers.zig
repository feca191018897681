//! Timers by the time that they wait for: a pairing heap, linked through the timers themselves.
const std = @import("std");

/// Timers needs of T the fields `deadline: u64`, `order: u64`, `child: ?*T`, `sibling: ?*T` and `link: *?*T`, and sets all but the
/// first. Of equal deadlines the one added first comes first.
pub fn Timers(comptime T: type) type {
    return struct {
        root: ?*T = null,
        added: u64 = 0,

        // An item's link is the pointer that leads to it from its parent or from the sibling before it; the root's means nothing.

        const Self = @This();

        pub fn add(t: *Self, item: *T) void {
            item.order = t.added;
            item.child = null;
            item.sibling = null;
            t.added += 1;
            t.root = if (t.root) |root| merge(root, item) else item;
        }

        /// takeUntil removes the first item whose deadline is not after now.
        pub fn takeUntil(t: *Self, now: u64) ?*T {
            const first = t.root orelse return null;
            if (first.deadline > now) return null;
            t.root = mergePairs(first.child);
            return first;
        }

        /// remove takes out an item that was added and not taken.
        pub fn remove(t: *Self, item: *T) void {
            const below = mergePairs(item.child);
            if (t.root == item) {
                t.root = below;
                return;
            }
            item.link.* = item.sibling;
            if (item.sibling) |sibling| sibling.link = item.link;
            if (below) |heap| t.root = merge(t.root.?, heap);
        }

        fn before(a: *T, b: *T) bool {
            return a.deadline < b.deadline or (a.deadline == b.deadline and a.order < b.order);
        }

        fn merge(a: *T, b: *T) *T {
            const parent, const child = if (before(a, b)) .{ a, b } else .{ b, a };
            child.sibling = parent.child;
            if (parent.child) |sibling| sibling.link = &child.sibling;
            parent.child = child;
            child.link = &parent.child;
            return parent;
        }

        /// mergePairs makes one heap of a list of siblings: in pairs from the left, then the pairs from the right. It uses the
        /// links as a stack, for a list may be long and a stack short.
        fn mergePairs(list: ?*T) ?*T {
            var rest = list;
            var pairs: ?*T = null;
            while (rest) |a| {
                const b = a.sibling orelse {
                    a.sibling = pairs;
                    pairs = a;
                    break;
                };
                rest = b.sibling;
                const pair = merge(a, b);
                pair.sibling = pairs;
                pairs = pair;
            }
            var heap = pairs orelse return null;
            rest = heap.sibling;
            while (rest) |pair| {
                rest = pair.sibling;
                heap = merge(heap, pair);
            }
            heap.sibling = null;
            return heap;
        }
    };
}
