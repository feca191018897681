const std = @import("std");
const queue = @import("queue.zig");
const Timers = @import("timers.zig").Timers;

const Item = struct { id: u32, priority: queue.Priority, next: *Item = undefined };

fn firstOf(list: []const *Item, turn: usize, served: *queue.Priority) usize {
    if (turn % queue.Ready(Item).turns_of_highest == 0) {
        while (true) {
            served.* +%= 1;
            for (list, 0..) |item, i| if (item.priority == served.*) return i;
        }
    }
    var best: usize = 0;
    for (list, 0..) |item, i| {
        if (item.priority > list[best].priority) best = i;
    }
    return best;
}

test "the ready queue gives turns as a list searched for the first of the priority whose turn it is" {
    var random = std.Random.DefaultPrng.init(1);
    const r = random.random();
    var items: [200]Item = undefined;
    var model = std.ArrayList(*Item).init(std.testing.allocator);
    defer model.deinit();
    var ready: queue.Ready(Item) = .{};
    var running: ?*Item = null;
    var served: queue.Priority = 31;
    var turns: usize = 0;
    var next: usize = 0;
    var quick: usize = 0;
    var is_quick = false;
    for (0..100_000) |i| {
        if (ready.left == 0) ready.begin(r.intRangeAtMost(u32, 1, 100));
        const many = i / 500 % 2 == 0; // else few, and all of one priority
        const operation = r.enumValue(enum { push, remove, rotate });
        if (operation == .push and model.items.len < @as(usize, if (many) 100 else 3)) {
            next = (next + 1) % items.len;
            const item = &items[next];
            if (std.mem.indexOfScalar(*Item, model.items, item) != null) continue;
            item.* = .{ .id = r.int(u32), .priority = if (next % 2 == 0 or !many) 16 else r.int(u5) };
            try model.append(item);
            ready.push(item);
        }
        if (running) |item| {
            const place = std.mem.indexOfScalar(*Item, model.items, item).?;
            if (operation == .push) continue; // it goes on
            _ = model.orderedRemove(place);
            if (operation == .rotate) try model.append(item);
            is_quick = operation == .rotate and ready.quick();
            if (is_quick) {
                quick += 1;
                running = ready.rotateToNext(item);
            } else {
                if (operation == .rotate) ready.rotate(item) else ready.remove(item);
                if (ready.left == 0) ready.begin(1);
                running = ready.next();
            }
        } else {
            is_quick = false;
            running = ready.next();
        }
        if (running) |item| {
            turns += 1;
            // Where there is one priority only, its turns need not be anybody's in particular.
            var nobody: queue.Priority = 0;
            try std.testing.expectEqual(model.items[firstOf(model.items, turns, if (is_quick) &nobody else &served)], item);
        } else try std.testing.expectEqual(0, model.items.len);
        try std.testing.expectEqual(model.items.len, ready.len);
        try std.testing.expectEqual(turns, ready.turn());
        if (i % 100 == 0) {
            var counts: [32]u64 = @splat(0);
            for (model.items) |item| counts[item.priority] += 1;
            try std.testing.expectEqual(counts, ready.counts());
        }
    }
    try std.testing.expect(turns > 10_000 and quick > 1000);
}

test "a batch gives the turns that it has, and none more" {
    var item: Item = .{ .id = 1, .priority = 7 };
    var ready: queue.Ready(Item) = .{};
    ready.push(&item);
    try std.testing.expectEqual(null, ready.next());
    ready.begin(3);
    try std.testing.expectEqual(&item, ready.next());
    for (0..2) |_| {
        try std.testing.expect(ready.quick());
        try std.testing.expectEqual(&item, ready.rotateToNext(&item));
    }
    try std.testing.expect(!ready.quick());
    try std.testing.expectEqual(null, ready.next());
    try std.testing.expectEqual(3, ready.turn());
    ready.begin(5);
    ready.begin(0); // what is left of a batch does not count
    try std.testing.expectEqual(3, ready.turn());
}

const Listed = struct { id: usize, in: bool = false, before: ?*Listed = null, after: ?*Listed = null };

test "a list keeps its order, whichever items are taken out of it" {
    var random = std.Random.DefaultPrng.init(3);
    const r = random.random();
    var items: [50]Listed = undefined;
    for (&items, 0..) |*item, id| item.* = .{ .id = id };
    var model = std.ArrayList(usize).init(std.testing.allocator);
    defer model.deinit();
    var list: queue.List(Listed) = .{};
    for (0..100_000) |_| {
        const item = &items[r.uintLessThan(usize, items.len)];
        if (item.in) {
            list.remove(item);
            _ = model.orderedRemove(std.mem.indexOfScalar(usize, model.items, item.id).?);
        } else {
            list.push(item);
            try model.append(item.id);
        }
        item.in = !item.in;
        var next = list.first;
        var before: ?*Listed = null;
        for (model.items) |id| {
            try std.testing.expectEqual(id, next.?.id);
            try std.testing.expectEqual(before, next.?.before);
            before = next;
            next = next.?.after;
        }
        try std.testing.expectEqual(null, next);
        try std.testing.expectEqual(before, list.last);
    }
}

const Alarm = struct { deadline: u64, order: u64 = 0, child: ?*Alarm = null, sibling: ?*Alarm = null, link: *?*Alarm = undefined };

test "timers come by deadline, and of equal deadlines as they were added" {
    var random = std.Random.DefaultPrng.init(2);
    const r = random.random();
    var timers: Timers(Alarm) = .{};
    var alarms: [5000]Alarm = undefined;
    for (&alarms) |*alarm| {
        alarm.* = .{ .deadline = r.uintLessThan(u64, 500) };
        timers.add(alarm);
    }
    var last: ?*Alarm = null;
    var taken: usize = 0;
    var again: usize = 0;
    for (0..1000) |time| {
        while (timers.takeUntil(time)) |alarm| {
            try std.testing.expect(alarm.deadline <= time);
            if (last) |before| {
                try std.testing.expect(before.deadline < alarm.deadline or (before.deadline == alarm.deadline and before.order < alarm.order));
            }
            last = alarm;
            taken += 1;
            if (taken % 7 == 0 and time < 500) { // some sleep again
                again += 1;
                last = null;
                alarm.deadline = time + r.uintLessThan(u64, 500);
                timers.add(alarm);
            }
        }
        if (timers.root) |root| try std.testing.expect(root.deadline > time);
    }
    try std.testing.expect(again > 100);
    try std.testing.expectEqual(alarms.len + again, taken);
}

test "timers that are taken out are not due, and the others come in their order" {
    var random = std.Random.DefaultPrng.init(4);
    const r = random.random();
    var timers: Timers(Alarm) = .{};
    var alarms: [300]Alarm = undefined;
    var waits: [alarms.len]bool = @splat(false);
    var time: u64 = 0;
    var removed: usize = 0;
    for (0..50_000) |_| {
        const i = r.uintLessThan(usize, alarms.len);
        switch (r.uintLessThan(u8, 4)) {
            0 => if (waits[i]) {
                timers.remove(&alarms[i]);
                waits[i] = false;
                removed += 1;
            },
            1 => {
                time += r.uintLessThan(u64, 20);
                while (timers.takeUntil(time)) |alarm| {
                    const at = (@intFromPtr(alarm) - @intFromPtr(&alarms)) / @sizeOf(Alarm);
                    try std.testing.expect(waits[at]);
                    waits[at] = false;
                    for (&alarms, waits) |*other, is_waiting| {
                        if (is_waiting) try std.testing.expect(alarm.deadline < other.deadline or (alarm.deadline == other.deadline and alarm.order < other.order));
                    }
                }
                for (&alarms, waits) |*other, is_waiting| try std.testing.expect(!is_waiting or other.deadline > time);
            },
            else => if (!waits[i]) {
                alarms[i] = .{ .deadline = time + r.uintLessThan(u64, 500) };
                timers.add(&alarms[i]);
                waits[i] = true;
            },
        }
    }
    try std.testing.expect(removed > 1000);
}
