//! Waiting for the end of other coroutines of a scheduler.
const scheduler = @import("scheduler.zig");
const Scheduler = scheduler.Scheduler;
const List = @import("queue.zig").List;
const select = @import("select.zig");

/// WaitGroup counts what is still to be done. Those that wait go on when it is nothing, in the order they came.
pub const WaitGroup = struct {
    scheduler: *Scheduler,
    left: usize = 0,
    waiters: List(Waiter) = .{},

    const Waiter = struct { wait: *scheduler.Wait = undefined, done: bool = false, before: ?*Waiter = null, after: ?*Waiter = null };

    pub fn init(s: *Scheduler) WaitGroup {
        return .{ .scheduler = s };
    }

    /// add is called before what it counts can be done.
    pub fn add(g: *WaitGroup, n: usize) void {
        g.scheduler.enter();
        defer g.scheduler.leave();
        g.left += n;
    }

    /// done takes one off what add has counted.
    pub fn done(g: *WaitGroup) void {
        const s = g.scheduler;
        s.enter();
        defer s.leave();
        g.left -= 1;
        if (g.left > 0) return;
        while (g.waiters.first) |waiter| {
            waiter.done = true;
            waiter.wait.end(waiter.wait, s);
        }
    }

    /// wait returns at once when there is nothing left.
    pub fn wait(g: *WaitGroup) error{Canceled}!void {
        _ = try select.select(g.scheduler, .{ .done = g.waiting() });
    }

    /// waiting is wait as a case of select.
    pub fn waiting(g: *WaitGroup) Case {
        return .{ .group = g };
    }

    pub const Case = struct {
        group: *WaitGroup,
        waiter: Waiter = .{},

        pub const Result = void;

        pub fn attempt(c: *Case) ?void {
            return if (c.group.left == 0) {} else null;
        }

        pub fn join(c: *Case, w: *scheduler.Wait, _: *Scheduler) void {
            c.waiter.wait = w;
            c.group.waiters.push(&c.waiter);
        }

        pub fn leave(c: *Case, _: *Scheduler) void {
            c.group.waiters.remove(&c.waiter);
        }

        pub fn result(c: *Case) ?void {
            return if (c.waiter.done) {} else null;
        }
    };
};
