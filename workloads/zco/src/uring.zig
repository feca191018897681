//! Waiting with io_uring: each read and write is handed to the kernel, many with one system call.
const std = @import("std");
const linux = std.os.linux;
const scheduler = @import("scheduler.zig");
const Scheduler = scheduler.Scheduler;
const Source = @import("poller.zig").Source;

const submissions = 4096;
const completions = 16384;
const taken_at_once = 256;

/// An operation lies on the stack of the coroutine that waits for it.
const Operation = struct {
    wait: scheduler.Wait = .{ .end = end },
    ring: *Uring,
    result: i32 = 0,

    /// end asks the kernel to let go of the coroutine's memory; the completion then wakes the coroutine.
    fn end(wait: *scheduler.Wait, _: *Scheduler) void {
        const operation: *Operation = @fieldParentPtr("wait", wait);
        const entry = operation.ring.next() catch {
            operation.ring.broken = true;
            return;
        };
        entry.prep_cancel(@intFromPtr(operation), 0);
        entry.user_data = of_nobody;
    }
};

/// What completes for no coroutine.
const of_nobody = 0;

pub const Uring = struct {
    ring: linux.IoUring,
    waiters: usize = 0,
    /// It takes no more, although somebody is cancelled: the next poll says so.
    broken: bool = false,
    taken: [taken_at_once]linux.io_uring_cqe = undefined,

    /// init fails where the kernel or a container's policy does not allow io_uring.
    pub fn init() !Uring {
        var parameters = std.mem.zeroInit(linux.io_uring_params, .{
            .flags = linux.IORING_SETUP_SINGLE_ISSUER | linux.IORING_SETUP_DEFER_TASKRUN | linux.IORING_SETUP_CQSIZE,
            .cq_entries = completions,
        });
        return .{ .ring = try linux.IoUring.init_params(submissions, &parameters) };
    }

    pub fn deinit(p: *Uring) void {
        p.ring.deinit();
    }

    pub fn read(p: *Uring, s: *Scheduler, source: *Source, buffer: []u8) error{ Broken, Canceled }!usize {
        try s.check();
        const entry = try p.next();
        entry.prep_recv(source.fd, buffer, 0);
        entry.ioprio = linux.IORING_RECVSEND_POLL_FIRST;
        return p.perform(s, entry);
    }

    /// write writes at least a byte.
    pub fn write(p: *Uring, s: *Scheduler, source: *Source, bytes: []const u8) error{ Broken, Canceled }!usize {
        try s.check();
        const entry = try p.next();
        entry.prep_send(source.fd, bytes, linux.MSG.NOSIGNAL);
        return p.perform(s, entry);
    }

    pub fn waitReadable(p: *Uring, s: *Scheduler, source: *Source) error{ Broken, Canceled }!void {
        try s.check();
        const entry = try p.next();
        entry.prep_poll_add(source.fd, linux.POLL.IN);
        _ = try p.perform(s, entry);
    }

    fn next(p: *Uring) error{Broken}!*linux.io_uring_sqe {
        return p.ring.get_sqe() catch {
            _ = p.ring.submit() catch return error.Broken;
            return p.ring.get_sqe() catch error.Broken;
        };
    }

    fn perform(p: *Uring, s: *Scheduler, entry: *linux.io_uring_sqe) error{ Broken, Canceled }!usize {
        var operation: Operation = .{ .ring = p };
        entry.user_data = @intFromPtr(&operation);
        p.waiters += 1;
        s.park(&operation.wait);
        p.waiters -= 1;
        if (operation.result < 0) return if (operation.result == -@as(i32, @intFromEnum(linux.E.CANCELED))) error.Canceled else error.Broken;
        return @intCast(operation.result);
    }

    pub fn poll(p: *Uring, s: *Scheduler, patience: ?u64) error{Poll}!void {
        if (p.broken) return error.Poll;
        try p.submitAndWait(patience);
        while (true) {
            const n = p.ring.copy_cqes(&p.taken, 0) catch return error.Poll;
            for (p.taken[0..n]) |completion| {
                if (completion.user_data == of_nobody) continue;
                const operation: *Operation = @ptrFromInt(completion.user_data);
                operation.result = completion.res;
                s.wake(operation.wait.coroutine.?);
            }
            if (n < p.taken.len) return;
        }
    }

    fn submitAndWait(p: *Uring, patience: ?u64) error{Poll}!void {
        const least: u32 = if (patience) |nanoseconds| @intFromBool(nanoseconds > 0) else 1;
        var time: linux.kernel_timespec = undefined;
        var argument: linux.io_uring_getevents_arg = .{ .sigmask = 0, .sigmask_sz = 0, .pad = 0, .ts = 0 };
        if (patience) |nanoseconds| {
            time = .{ .sec = @intCast(nanoseconds / std.time.ns_per_s), .nsec = @intCast(nanoseconds % std.time.ns_per_s) };
            argument.ts = @intFromPtr(&time);
        }
        const flags = linux.IORING_ENTER_GETEVENTS | linux.IORING_ENTER_EXT_ARG;
        const fd: usize = @intCast(p.ring.fd);
        const result = linux.syscall6(.io_uring_enter, fd, p.ring.flush_sq(), least, flags, @intFromPtr(&argument), @sizeOf(linux.io_uring_getevents_arg));
        switch (linux.E.init(result)) {
            // BUSY: completions are to be taken first.
            .SUCCESS, .INTR, .TIME, .BUSY, .AGAIN => {},
            else => return error.Poll,
        }
    }
};
