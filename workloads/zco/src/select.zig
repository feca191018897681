//! Waiting for the first of several things.
const std = @import("std");
const scheduler = @import("scheduler.zig");
const Scheduler = scheduler.Scheduler;
const Wait = scheduler.Wait;
const Timer = scheduler.Timer;

/// select does what can be done first of several things, and returns which that was, with its result:
///
///     switch (try zco.select(s, .{ .number = numbers.receiving(), .sent = sums.sending(sum), .late = zco.after(std.time.ns_per_s) })) {
///         .number => |number| ..., // null when the channel is closed and empty, as receive returns it
///         .sent => |sent| ..., // error.Closed as send returns it
///         .late => ...,
///     }
///
/// Of what can be done at once it takes the first after a place that is drawn by lot, so that nothing is passed over for ever. Of the
/// others nothing is done, and when it is cancelled nothing at all.
pub fn select(s: *Scheduler, cases: anytype) error{Canceled}!Selected(@TypeOf(cases)) {
    s.enter();
    defer s.leave();
    try s.check();
    var waiting: Waiting(@TypeOf(cases)) = .{ .cases = cases };
    if (waiting.attempt(s)) |done| return done;
    waiting.join(s);
    s.park(&waiting.wait);
    return waiting.result() orelse error.Canceled;
}

/// selectUncancelable is select where cancelling is to end no wait.
pub fn selectUncancelable(s: *Scheduler, cases: anytype) Selected(@TypeOf(cases)) {
    s.enter();
    defer s.leave();
    var waiting: Waiting(@TypeOf(cases)) = .{ .cases = cases };
    if (waiting.attempt(s)) |done| return done;
    waiting.join(s);
    s.parkUncancelable(&waiting.wait);
    return waiting.result().?;
}

/// Selected is a union of what the cases of a struct result in, by their names.
pub fn Selected(comptime Cases: type) type {
    const fields = std.meta.fields(Cases);
    var members: [fields.len]std.builtin.Type.UnionField = undefined;
    for (&members, fields) |*member, field| {
        member.* = .{ .name = field.name, .type = field.type.Result, .alignment = @alignOf(field.type.Result) };
    }
    return @Type(.{ .@"union" = .{ .layout = .auto, .tag_type = std.meta.FieldEnum(Cases), .fields = &members, .decls = &.{} } });
}

/// Waiting is a select that is under way. Of a case it needs a type Result and
/// - attempt, which does it if that needs no wait, and returns null otherwise;
/// - join, which makes it possible for others to do it; these say so in the case, and call the wait's end;
/// - leave, which makes that impossible again, whether it was done or not;
/// - result, which is null when it was not done.
fn Waiting(comptime Cases: type) type {
    const fields = std.meta.fields(Cases);
    return struct {
        wait: Wait = .{ .end = end },
        cases: Cases,

        const Self = @This();

        inline fn attempt(w: *Self, s: *Scheduler) ?Selected(Cases) {
            const first = if (fields.len > 1) s.pick(fields.len) else 0;
            inline for (0..2) |round| {
                // From the one that was picked to the last one, and then those before it.
                inline for (fields, 0..) |field, i| if ((i >= first) == (round == 0)) {
                    if (@field(w.cases, field.name).attempt()) |done| return @unionInit(Selected(Cases), field.name, done);
                };
            }
            return null;
        }

        fn join(w: *Self, s: *Scheduler) void {
            inline for (fields) |field| @field(w.cases, field.name).join(&w.wait, s);
        }

        fn end(wait: *Wait, s: *Scheduler) void {
            const w: *Self = @fieldParentPtr("wait", wait);
            inline for (fields) |field| @field(w.cases, field.name).leave(s);
            s.wake(wait.coroutine.?);
        }

        fn result(w: *Self) ?Selected(Cases) {
            inline for (fields) |field| {
                if (@field(w.cases, field.name).result()) |done| return @unionInit(Selected(Cases), field.name, done);
            }
            return null;
        }
    };
}

/// after is a case that is done when so many nanoseconds have passed. What can be done at once is done before.
pub fn after(nanoseconds: u64) After {
    return .{ .nanoseconds = nanoseconds };
}

const After = struct {
    nanoseconds: u64,
    timer: Timer = .{ .due = due },
    wait: *Wait = undefined,
    over: bool = false,

    pub const Result = void;

    pub fn attempt(_: *After) ?void {
        return null;
    }

    pub fn join(a: *After, wait: *Wait, s: *Scheduler) void {
        a.wait = wait;
        s.startTimer(&a.timer, a.nanoseconds);
    }

    pub fn leave(a: *After, s: *Scheduler) void {
        if (!a.over) s.timers.remove(&a.timer);
    }

    pub fn result(a: *After) ?void {
        return if (a.over) {} else null;
    }

    fn due(timer: *Timer, s: *Scheduler) void {
        const a: *After = @fieldParentPtr("timer", timer);
        a.over = true;
        a.wait.end(a.wait, s);
    }
};
