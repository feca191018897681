//! Channels between the coroutines of a scheduler.
const scheduler = @import("scheduler.zig");
const Scheduler = scheduler.Scheduler;
const Wait = scheduler.Wait;
const List = @import("queue.zig").List;
const select = @import("select.zig");

/// Channel carries values in the order in which they were sent. It takes as many as its buffer has room for before a sender waits;
/// with no buffer at all a sender waits for a receiver. Senders and receivers that wait are served in the order they came.
pub fn Channel(comptime T: type) type {
    return struct {
        scheduler: *Scheduler,
        buffer: []T,
        head: usize = 0,
        len: usize = 0,
        closed: bool = false,
        senders: List(Waiter) = .{},
        receivers: List(Waiter) = .{},

        const Self = @This();
        const Waiter = struct {
            wait: *Wait = undefined,
            value: ?T = null,
            state: enum { waits, served, closed } = .waits,
            before: ?*Waiter = null,
            after: ?*Waiter = null,
        };

        pub fn init(s: *Scheduler, buffer: []T) Self {
            return .{ .scheduler = s, .buffer = buffer };
        }

        /// send waits while the buffer is full. Closed and Canceled mean that the value was not taken.
        pub fn send(c: *Self, value: T) error{ Closed, Canceled }!void {
            const s = c.scheduler;
            s.enter();
            defer s.leave();
            try s.check();
            if (!try c.offer(value)) return c.waitToSend(value);
        }

        noinline fn waitToSend(c: *Self, value: T) error{ Closed, Canceled }!void {
            return (try select.select(c.scheduler, .{ .sent = c.sending(value) })).sent;
        }

        /// trySend is false where send would wait.
        pub fn trySend(c: *Self, value: T) error{Closed}!bool {
            c.scheduler.enter();
            defer c.scheduler.leave();
            return c.offer(value);
        }

        /// receive waits for a value. It returns null when the channel is closed and empty.
        pub fn receive(c: *Self) error{Canceled}!?T {
            const s = c.scheduler;
            s.enter();
            defer s.leave();
            try s.check();
            return c.take() orelse c.waitToReceive();
        }

        noinline fn waitToReceive(c: *Self) error{Canceled}!?T {
            return (try select.select(c.scheduler, .{ .received = c.receiving() })).received;
        }

        /// tryReceive is null where receive would wait.
        pub fn tryReceive(c: *Self) ?T {
            c.scheduler.enter();
            defer c.scheduler.leave();
            return c.take();
        }

        /// close ends the wait of all senders and receivers. Values in the buffer can still be received.
        pub fn close(c: *Self) void {
            c.scheduler.enter();
            defer c.scheduler.leave();
            c.closed = true;
            while (c.senders.first) |waiter| c.end(waiter, .closed);
            while (c.receivers.first) |waiter| c.end(waiter, .closed);
        }

        /// sending is send as a case of select.
        pub fn sending(c: *Self, value: T) Sending {
            return .{ .channel = c, .waiter = .{ .value = value } };
        }

        /// receiving is receive as a case of select.
        pub fn receiving(c: *Self) Receiving {
            return .{ .channel = c };
        }

        pub const Sending = struct {
            channel: *Self,
            waiter: Waiter,

            pub const Result = error{Closed}!void;

            pub fn attempt(case: *Sending) ?Result {
                const taken = case.channel.offer(case.waiter.value.?) catch |err| return @as(Result, err);
                return if (taken) @as(Result, {}) else null;
            }

            pub fn join(case: *Sending, wait: *Wait, _: *Scheduler) void {
                case.waiter.wait = wait;
                case.channel.senders.push(&case.waiter);
            }

            pub fn leave(case: *Sending, _: *Scheduler) void {
                case.channel.senders.remove(&case.waiter);
            }

            pub fn result(case: *Sending) ?Result {
                return switch (case.waiter.state) {
                    .waits => null,
                    .served => @as(Result, {}),
                    .closed => @as(Result, error.Closed),
                };
            }
        };

        pub const Receiving = struct {
            channel: *Self,
            waiter: Waiter = .{},

            pub const Result = ?T;

            pub fn attempt(case: *Receiving) ?Result {
                const c = case.channel;
                if (c.take()) |value| return @as(Result, value);
                return if (c.closed) @as(Result, null) else null;
            }

            pub fn join(case: *Receiving, wait: *Wait, _: *Scheduler) void {
                case.waiter.wait = wait;
                case.channel.receivers.push(&case.waiter);
            }

            pub fn leave(case: *Receiving, _: *Scheduler) void {
                case.channel.receivers.remove(&case.waiter);
            }

            pub fn result(case: *Receiving) ?Result {
                return if (case.waiter.state == .waits) null else case.waiter.value;
            }
        };

        inline fn offer(c: *Self, value: T) error{Closed}!bool {
            if (c.closed) return error.Closed;
            if (c.receivers.first) |waiter| {
                waiter.value = value;
                c.end(waiter, .served);
                return true;
            }
            if (c.len == c.buffer.len) return false;
            const free = c.head + c.len;
            c.buffer[if (free < c.buffer.len) free else free - c.buffer.len] = value;
            c.len += 1;
            return true;
        }

        inline fn take(c: *Self) ?T {
            if (c.len == 0) return c.takeFromSender();
            const value = c.buffer[c.head];
            c.head = if (c.head + 1 < c.buffer.len) c.head + 1 else 0;
            c.len -= 1;
            if (c.takeFromSender()) |next| {
                const free = c.head + c.len;
                c.buffer[if (free < c.buffer.len) free else free - c.buffer.len] = next;
                c.len += 1;
            }
            return value;
        }

        fn takeFromSender(c: *Self) ?T {
            const waiter = c.senders.first orelse return null;
            c.end(waiter, .served);
            return waiter.value;
        }

        /// end lets a waiter go on, out of all queues in which it waits.
        fn end(c: *Self, waiter: *Waiter, state: @FieldType(Waiter, "state")) void {
            waiter.state = state;
            waiter.wait.end(waiter.wait, c.scheduler);
        }
    };
}
