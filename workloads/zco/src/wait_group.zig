//! Waiting for the end of other coroutines of a scheduler.
const Scheduler = @import("scheduler.zig").Scheduler;
const Coroutine = @import("scheduler.zig").Coroutine;
const Fifo = @import("queue.zig").Fifo;

/// WaitGroup counts what is still to be done. Those that wait go on when it is nothing, in the order they came.
pub const WaitGroup = struct {
    scheduler: *Scheduler,
    left: usize = 0,
    waiters: Fifo(Waiter) = .{},

    const Waiter = struct { coroutine: *Coroutine, next: *Waiter = undefined };

    pub fn init(scheduler: *Scheduler) WaitGroup {
        return .{ .scheduler = scheduler };
    }

    /// add is called before what it counts can be done.
    pub fn add(g: *WaitGroup, n: usize) void {
        g.scheduler.enter();
        defer g.scheduler.leave();
        g.left += n;
    }

    /// done takes one off what add has counted.
    pub fn done(g: *WaitGroup) void {
        g.scheduler.enter();
        defer g.scheduler.leave();
        g.left -= 1;
        if (g.left > 0) return;
        while (g.waiters.pop()) |waiter| g.scheduler.wake(waiter.coroutine);
    }

    /// wait returns at once when there is nothing left.
    pub fn wait(g: *WaitGroup) void {
        const s = g.scheduler;
        s.enter();
        defer s.leave();
        if (g.left == 0) return;
        var waiter: Waiter = .{ .coroutine = s.current.? };
        g.waiters.push(&waiter);
        s.park();
    }
};
