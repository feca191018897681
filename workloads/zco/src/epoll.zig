//! Waiting with epoll, edge-triggered: a descriptor is added once, when somebody first has to wait for it, and stays.
const std = @import("std");
const linux = std.os.linux;
const E = linux.E;
const Scheduler = @import("scheduler.zig").Scheduler;
const Wait = @import("scheduler.zig").Wait;
const Source = @import("poller.zig").Source;

/// Reads and writes that a coroutine may do without a wait before the others have their turn.
const credit = 64;

const reading = linux.EPOLL.IN | linux.EPOLL.RDHUP | linux.EPOLL.ET;

pub const Epoll = struct {
    fd: i32,
    waiters: usize = 0,
    events: [256]linux.epoll_event = undefined,

    pub fn init() error{Poll}!Epoll {
        const fd = linux.epoll_create1(linux.EPOLL.CLOEXEC);
        if (E.init(fd) != .SUCCESS) return error.Poll;
        return .{ .fd = @intCast(fd) };
    }

    pub fn deinit(p: *Epoll) void {
        _ = linux.close(p.fd);
    }

    /// read tries before it waits. A short read has emptied the socket, so the next read waits before it tries.
    pub fn read(p: *Epoll, s: *Scheduler, source: *Source, buffer: []u8) error{ Broken, Canceled }!usize {
        try spend(s);
        while (true) {
            if (source.readable) {
                const n = linux.recvfrom(source.fd, buffer.ptr, buffer.len, 0, null, null);
                switch (E.init(n)) {
                    .SUCCESS => {
                        if (n < buffer.len and !source.ended) source.readable = false;
                        return n;
                    },
                    .AGAIN => {
                        source.readable = false;
                        try s.check();
                    },
                    .INTR => continue,
                    else => return error.Broken,
                }
            }
            try p.want(source, source.interest | reading);
            p.pause(s, &source.reader);
        }
    }

    /// write writes at least a byte.
    pub fn write(p: *Epoll, s: *Scheduler, source: *Source, bytes: []const u8) error{ Broken, Canceled }!usize {
        try spend(s);
        while (true) {
            if (source.writable) {
                const n = linux.sendto(source.fd, bytes.ptr, bytes.len, linux.MSG.NOSIGNAL, null, 0);
                switch (E.init(n)) {
                    .SUCCESS => return n,
                    .AGAIN => {
                        source.writable = false;
                        try s.check();
                    },
                    .INTR => continue,
                    else => return error.Broken,
                }
            }
            try p.want(source, source.interest | reading | linux.EPOLL.OUT);
            p.pause(s, &source.writer);
        }
    }

    pub fn waitReadable(p: *Epoll, s: *Scheduler, source: *Source) error{ Broken, Canceled }!void {
        try s.check();
        try p.want(source, source.interest | reading);
        p.pause(s, &source.reader);
        try s.check();
    }

    /// want adds what epoll is to tell. It tells at once what is so already.
    fn want(p: *Epoll, source: *Source, interest: u32) error{Broken}!void {
        if (source.interest == interest) return;
        var event: linux.epoll_event = .{ .events = interest, .data = .{ .ptr = @intFromPtr(source) } };
        const operation: u32 = if (source.interest == 0) linux.EPOLL.CTL_ADD else linux.EPOLL.CTL_MOD;
        if (E.init(linux.epoll_ctl(p.fd, operation, source.fd, &event)) != .SUCCESS) return error.Broken;
        source.interest = interest;
    }

    fn pause(p: *Epoll, s: *Scheduler, wait: *Wait) void {
        s.current.?.credit = credit;
        p.waiters += 1;
        s.park(wait);
        p.waiters -= 1;
    }

    fn spend(s: *Scheduler) error{Canceled}!void {
        const co = s.current.?;
        if (co.credit > 0) {
            co.credit -= 1;
            return;
        }
        try s.check(); // cancel leaves no credit
        co.credit = credit;
        s.requeueAndPark();
        try s.check();
    }

    pub fn poll(p: *Epoll, s: *Scheduler, patience: ?u64) error{Poll}!void {
        // Rounded up, lest a sleeper be asked for in a loop during its last millisecond.
        const milliseconds: i32 = if (patience) |nanoseconds| @intCast(@min(std.math.divCeil(u64, nanoseconds, std.time.ns_per_ms) catch unreachable, std.math.maxInt(i32))) else -1;
        const n = linux.epoll_wait(p.fd, &p.events, p.events.len, milliseconds);
        switch (E.init(n)) {
            .SUCCESS => {},
            .INTR => return,
            else => return error.Poll,
        }
        // All events are passed on before any coroutine runs: none can refer to a source that is gone.
        for (p.events[0..n]) |event| {
            const source: *Source = @ptrFromInt(event.data.ptr);
            const over = event.events & (linux.EPOLL.RDHUP | linux.EPOLL.HUP | linux.EPOLL.ERR) != 0;
            if (over) source.ended = true;
            if (over or event.events & linux.EPOLL.IN != 0) {
                source.readable = true;
                if (source.reader.coroutine) |co| s.wake(co);
                source.reader.coroutine = null;
            }
            if (over or event.events & linux.EPOLL.OUT != 0) {
                source.writable = true;
                if (source.writer.coroutine) |co| s.wake(co);
                source.writer.coroutine = null;
            }
        }
    }
};
