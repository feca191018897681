//! Files that coroutines wait for, whichever way the kernel tells of them.
const std = @import("std");
const linux = std.os.linux;
const scheduler = @import("scheduler.zig");
const Scheduler = scheduler.Scheduler;
const Wait = scheduler.Wait;
const Epoll = @import("epoll.zig").Epoll;
const Uring = @import("uring.zig").Uring;

/// Source is a non-blocking file descriptor that coroutines wait for: one reads and one writes at most. It must stay where it is
/// until the descriptor is closed.
pub const Source = struct {
    fd: i32,
    /// What epoll has been asked to tell; 0 until somebody had to wait.
    interest: u32 = 0,
    /// Whether a try is worth a system call.
    readable: bool = true,
    writable: bool = true,
    /// The other side has ended, or there is an error: epoll tells it once, so from then on each read is a try.
    ended: bool = false,
    reader: Wait = .{ .end = endReading },
    writer: Wait = .{ .end = endWriting },

    // With epoll a wait that ends is followed by a try, which finds nothing and then asks whether the coroutine was cancelled.

    fn endReading(wait: *Wait, s: *Scheduler) void {
        const source: *Source = @fieldParentPtr("reader", wait);
        source.readable = true;
        s.wake(wait.coroutine.?);
        wait.coroutine = null;
    }

    fn endWriting(wait: *Wait, s: *Scheduler) void {
        const source: *Source = @fieldParentPtr("writer", wait);
        source.writable = true;
        s.wake(wait.coroutine.?);
        wait.coroutine = null;
    }
};

pub const Backend = enum { epoll, io_uring };

pub const Poller = union(Backend) {
    epoll: Epoll,
    io_uring: Uring,

    pub const Error = error{Poll};
    pub const AcceptError = error{ TooManyFiles, Closed, Canceled };

    /// init uses io_uring only where it is allowed.
    pub fn init(wanted: Backend) error{Poll}!Poller {
        if (wanted == .io_uring) {
            if (Uring.init()) |uring| return .{ .io_uring = uring } else |_| {}
        }
        return .{ .epoll = try Epoll.init() };
    }

    /// allowed is the backend that init uses here.
    pub fn allowed(wanted: Backend) error{Poll}!Backend {
        var p = try init(wanted);
        defer p.deinit();
        return p;
    }

    pub fn deinit(p: *Poller) void {
        switch (p.*) {
            inline else => |*backend| backend.deinit(),
        }
    }

    /// read waits for something to read from a socket. 0 is the end.
    pub fn read(p: *Poller, s: *Scheduler, source: *Source, buffer: []u8) error{ Broken, Canceled }!usize {
        s.enter();
        defer s.leave();
        return switch (p.*) {
            inline else => |*backend| backend.read(s, source, buffer),
        };
    }

    /// write writes everything to a socket, waiting when it must. After an error nobody knows how much of it.
    pub fn write(p: *Poller, s: *Scheduler, source: *Source, bytes: []const u8) error{ Broken, Canceled }!void {
        s.enter();
        defer s.leave();
        var rest = bytes;
        while (rest.len > 0) {
            const wrote = try switch (p.*) {
                inline else => |*backend| backend.write(s, source, rest),
            };
            rest = rest[wrote..];
        }
    }

    /// accept waits for a connection. It is as the backend wants it, and not inherited by other programs.
    pub fn accept(p: *Poller, s: *Scheduler, listener: *Source) AcceptError!i32 {
        s.enter();
        defer s.leave();
        const mode: u32 = switch (p.*) {
            .epoll => linux.SOCK.NONBLOCK,
            .io_uring => 0, // of a non-blocking socket it would tell at once that there is nothing to read
        };
        while (true) {
            const fd = linux.accept4(listener.fd, null, null, mode | linux.SOCK.CLOEXEC);
            switch (linux.E.init(fd)) {
                .SUCCESS => return @intCast(fd),
                .AGAIN => p.waitReadable(s, listener) catch |err| return if (err == error.Canceled) error.Canceled else error.Closed,
                .INTR, .CONNABORTED, .PROTO, .NETDOWN, .NOPROTOOPT, .HOSTDOWN, .NONET, .HOSTUNREACH, .OPNOTSUPP, .NETUNREACH => {},
                .MFILE, .NFILE, .NOBUFS, .NOMEM => return error.TooManyFiles,
                else => return error.Closed,
            }
        }
    }

    /// waitReadable waits until a read is worth a try; it may be wrong.
    pub fn waitReadable(p: *Poller, s: *Scheduler, source: *Source) error{ Broken, Canceled }!void {
        s.enter();
        defer s.leave();
        return switch (p.*) {
            inline else => |*backend| backend.waitReadable(s, source),
        };
    }

    /// waiting is the number of coroutines that only the kernel can wake.
    pub fn waiting(p: *const Poller) usize {
        return switch (p.*) {
            inline else => |*backend| backend.waiters,
        };
    }

    /// poll wakes those for whom something has happened. It blocks for so many nanoseconds at most (null: for ever).
    pub fn poll(p: *Poller, s: *Scheduler, patience: ?u64) error{Poll}!void {
        return switch (p.*) {
            inline else => |*backend| backend.poll(s, patience),
        };
    }
};
