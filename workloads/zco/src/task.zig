//! Ending coroutines before they end by themselves.
//!
//! A coroutine is never stopped where it stands: its waits end with error.Canceled, it returns, and so frees what it has. Once it is
//! cancelled all that may wait fails, whether it would have to wait or not. What had been done for it before is not lost: a value that
//! was handed to it is still received.
const std = @import("std");
const scheduler = @import("scheduler.zig");
const Scheduler = scheduler.Scheduler;
const Coroutine = scheduler.Coroutine;
const Timer = scheduler.Timer;
const WaitGroup = @import("wait_group.zig").WaitGroup;
const select = @import("select.zig");

/// Task is a handle to a coroutine, given to spawn. It must stay where it is until the coroutine has ended, and may then be used again.
pub const Task = struct {
    group: WaitGroup,
    /// Null before spawn and after the end.
    coroutine: ?*Coroutine = null,

    pub fn init(s: *Scheduler) Task {
        return .{ .group = WaitGroup.init(s) };
    }

    /// wait returns when the coroutine has ended. When the one that waits is cancelled, the other goes on.
    pub fn wait(t: *Task) error{Canceled}!void {
        return t.group.wait();
    }

    /// waiting is wait as a case of select.
    pub fn waiting(t: *Task) WaitGroup.Case {
        return t.group.waiting();
    }

    /// cancel cancels the coroutine, and returns when it has ended: however long that takes, and also when its caller is cancelled. It
    /// is for other coroutines, and does nothing when there is none that it could end.
    pub fn cancel(t: *Task) void {
        const s = t.group.scheduler;
        s.enter();
        defer s.leave();
        const co = t.coroutine orelse return;
        std.debug.assert(co != s.current.?);
        s.cancel(co);
        _ = select.selectUncancelable(s, .{ .ended = t.waiting() });
    }

    /// begun and ended are for the scheduler.
    pub fn begun(t: *Task, co: *Coroutine) void {
        std.debug.assert(t.coroutine == null);
        t.coroutine = co;
        t.group.add(1);
    }

    pub fn ended(t: *Task) void {
        t.coroutine = null;
        t.group.done();
    }
};

/// Deadline cancels the coroutine that has set it, until it is cleared. The coroutine must clear it before it ends, and before the
/// deadline is somewhere else: `defer deadline.clear()`. Several may be set; each counts for itself.
pub const Deadline = struct {
    scheduler: *Scheduler,
    coroutine: *Coroutine = undefined,
    timer: Timer = .{ .due = due },
    state: enum { cleared, set, passed } = .cleared,

    pub fn init(s: *Scheduler) Deadline {
        return .{ .scheduler = s };
    }

    /// set makes it pass after so many nanoseconds.
    pub fn set(d: *Deadline, nanoseconds: u64) void {
        const s = d.scheduler;
        s.enter();
        defer s.leave();
        d.clear();
        d.coroutine = s.current.?;
        d.state = .set;
        s.startTimer(&d.timer, nanoseconds);
    }

    /// passed tells this deadline from other reasons for error.Canceled.
    pub fn passed(d: *const Deadline) bool {
        return d.state == .passed;
    }

    /// clear lets the coroutine wait again, where nothing else has cancelled it.
    pub fn clear(d: *Deadline) void {
        const s = d.scheduler;
        s.enter();
        defer s.leave();
        switch (d.state) {
            .cleared => {},
            .set => s.timers.remove(&d.timer),
            .passed => d.coroutine.cancels -= 1,
        }
        d.state = .cleared;
    }

    fn due(timer: *Timer, s: *Scheduler) void {
        const d: *Deadline = @fieldParentPtr("timer", timer);
        d.state = .passed;
        s.cancel(d.coroutine);
    }
};
