//! Channels between the coroutines of a scheduler.
const Scheduler = @import("scheduler.zig").Scheduler;
const Coroutine = @import("scheduler.zig").Coroutine;
const Fifo = @import("queue.zig").Fifo;

/// Channel carries values in the order in which they were sent. It takes as many as its buffer has room for before a sender waits;
/// with no buffer at all a sender waits for a receiver. Senders and receivers that wait are served in the order they came.
pub fn Channel(comptime T: type) type {
    return struct {
        scheduler: *Scheduler,
        buffer: []T,
        head: usize = 0,
        len: usize = 0,
        closed: bool = false,
        senders: Fifo(Waiter) = .{},
        receivers: Fifo(Waiter) = .{},

        const Self = @This();
        const Waiter = struct { coroutine: *Coroutine, value: ?T, next: *Waiter = undefined };

        pub fn init(scheduler: *Scheduler, buffer: []T) Self {
            return .{ .scheduler = scheduler, .buffer = buffer };
        }

        /// send waits while the buffer is full. Closed means that the value was not taken.
        pub fn send(c: *Self, value: T) error{Closed}!void {
            const s = c.scheduler;
            s.enter();
            defer s.leave();
            if (try c.offer(value)) return;
            var waiter: Waiter = .{ .coroutine = s.current.?, .value = value };
            c.senders.push(&waiter);
            s.park();
            if (waiter.value != null) return error.Closed;
        }

        /// trySend is false where send would wait.
        pub fn trySend(c: *Self, value: T) error{Closed}!bool {
            c.scheduler.enter();
            defer c.scheduler.leave();
            return c.offer(value);
        }

        /// receive waits for a value. It returns null when the channel is closed and empty.
        pub fn receive(c: *Self) ?T {
            const s = c.scheduler;
            s.enter();
            defer s.leave();
            if (c.take()) |value| return value;
            if (c.closed) return null;
            var waiter: Waiter = .{ .coroutine = s.current.?, .value = null };
            c.receivers.push(&waiter);
            s.park();
            return waiter.value;
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
            while (c.senders.pop()) |waiter| c.scheduler.wake(waiter.coroutine);
            while (c.receivers.pop()) |waiter| c.scheduler.wake(waiter.coroutine);
        }

        fn offer(c: *Self, value: T) error{Closed}!bool {
            if (c.closed) return error.Closed;
            if (c.receivers.pop()) |waiter| {
                waiter.value = value;
                c.scheduler.wake(waiter.coroutine);
                return true;
            }
            if (c.len == c.buffer.len) return false;
            const free = c.head + c.len;
            c.buffer[if (free < c.buffer.len) free else free - c.buffer.len] = value;
            c.len += 1;
            return true;
        }

        fn take(c: *Self) ?T {
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
            const waiter = c.senders.pop() orelse return null;
            const value = waiter.value;
            waiter.value = null;
            c.scheduler.wake(waiter.coroutine);
            return value;
        }
    };
}
