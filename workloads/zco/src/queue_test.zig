const std = @import("std");
const queue = @import("queue.zig");
const Timers = @import("timers.zig").Timers;

const Item = struct { id: u32, priority: queue.Priority, next: *Item = undefined };

fn firstOf(list: []const *Item, pops: usize) usize {
    const lowest = pops % queue.Ready(Item).turns_of_lowest == 0;
    var best: usize = 0;
    for (list, 0..) |item, i| {
        const than = list[best].priority;
        if (if (lowest) item.priority < than else item.priority > than) best = i;
    }
    return best;
}

test "the ready queue gives what a list searched for the first of the highest priority gives" {
    var random = std.Random.DefaultPrng.init(1);
    const r = random.random();
    var items: [200]Item = undefined;
    var model = std.ArrayList(*Item).init(std.testing.allocator);
    defer model.deinit();
    var ready: queue.Ready(Item) = .{};
    var pops: usize = 0;
    var next: usize = 0;
    for (0..100_000) |_| {
        const few = model.items.len < items.len / 2;
        const operation = r.enumValue(enum { push, pop, rotate });
        if (operation != .pop and few) {
            next = (next + 1) % items.len;
            const item = &items[next];
            if (std.mem.indexOfScalar(*Item, model.items, item) != null) continue;
            item.* = .{ .id = r.int(u32), .priority = if (next % 2 == 0) 16 else r.int(u5) };
            try model.append(item);
            if (operation == .push) ready.push(item) else {
                pops += 1;
                try std.testing.expectEqual(model.orderedRemove(firstOf(model.items, pops)), ready.rotate(item));
            }
        } else if (model.items.len > 0) {
            pops += 1;
            try std.testing.expectEqual(model.orderedRemove(firstOf(model.items, pops)), ready.pop().?);
        } else try std.testing.expectEqual(null, ready.pop());
        try std.testing.expectEqual(model.items.len, ready.len());
    }
    try std.testing.expect(pops > 10_000);
}

const Alarm = struct { deadline: u64, order: u64 = 0, child: ?*Alarm = null, sibling: ?*Alarm = null };

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
