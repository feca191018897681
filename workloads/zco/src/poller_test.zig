const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;
const posix = std.posix;
const zco = @import("zco.zig");

/// Pair is two connected sockets, as a backend wants them.
pub const Pair = struct {
    ends: [2]zco.Source,

    pub fn init(backend: zco.Backend) !Pair {
        var fds: [2]i32 = undefined;
        const mode: i32 = if (backend == .epoll) linux.SOCK.NONBLOCK else 0;
        if (linux.E.init(linux.socketpair(linux.AF.UNIX, linux.SOCK.STREAM | mode, 0, &fds)) != .SUCCESS) return error.Unexpected;
        return .{ .ends = .{ .{ .fd = fds[0] }, .{ .fd = fds[1] } } };
    }
};

const Case = struct {
    s: zco.Scheduler = .{},
    poller: zco.Poller,
    read: usize = 0,
    good: bool = true,
    errors: usize = 0,

    fn init(case: *Case, backend: zco.Backend) !void {
        case.* = .{ .poller = try zco.Poller.init(backend) };
        case.s.poller = &case.poller;
    }

    fn deinit(case: *Case) void {
        case.s.deinit();
        case.poller.deinit();
    }

    fn writeBytes(case: *Case, source: *zco.Source, n: usize) void {
        var text: [10_000]u8 = undefined;
        var done: usize = 0;
        while (done < n) {
            const piece = text[0..@min(text.len, n - done)];
            for (piece, done..) |*c, at| c.* = @truncate(at *% 31);
            case.poller.write(&case.s, source, piece) catch {
                case.errors += 1;
                break;
            };
            done += piece.len;
        }
        posix.close(source.fd);
    }

    fn readBytes(case: *Case, source: *zco.Source) void {
        var text: [4096]u8 = undefined;
        while (true) {
            const n = case.poller.read(&case.s, source, &text) catch {
                case.errors += 1;
                break;
            };
            if (n == 0) break;
            for (text[0..n], case.read..) |c, at| case.good = case.good and c == @as(u8, @truncate(at *% 31));
            case.read += n;
        }
        posix.close(source.fd);
    }

    fn closeLater(case: *Case, source: *zco.Source) void {
        case.s.sleep(5 * std.time.ns_per_ms) catch return;
        posix.close(source.fd);
    }
};

/// backends are those that this machine allows.
pub fn backends() []const zco.Backend {
    var poller = zco.Poller.init(.io_uring) catch return &.{.epoll};
    defer poller.deinit();
    return if (poller == .io_uring) &.{ .epoll, .io_uring } else &.{.epoll};
}

test "bytes arrive in order, and both sides wait for each other" {
    for (backends()) |backend| {
        var case: Case = undefined;
        try case.init(backend);
        defer case.deinit();
        var pair = try Pair.init(backend);
        const n = 3_000_001;
        try case.s.spawn(Case.writeBytes, .{ &case, &pair.ends[0], n }, .{});
        try case.s.spawn(Case.readBytes, .{ &case, &pair.ends[1] }, .{});
        try case.s.run();
        try std.testing.expectEqual(n, case.read);
        try std.testing.expect(case.good);
        try std.testing.expectEqual(0, case.errors);
    }
}

test "a reader that waits sees the other side close" {
    for (backends()) |backend| {
        var case: Case = undefined;
        try case.init(backend);
        defer case.deinit();
        var pair = try Pair.init(backend);
        try case.s.spawn(Case.readBytes, .{ &case, &pair.ends[1] }, .{});
        try case.s.spawn(Case.closeLater, .{ &case, &pair.ends[0] }, .{});
        try case.s.run();
        try std.testing.expectEqual(0, case.read);
        try std.testing.expectEqual(0, case.errors);
    }
}

test "a writer whose other side has gone is told" {
    for (backends()) |backend| {
        var case: Case = undefined;
        try case.init(backend);
        defer case.deinit();
        var pair = try Pair.init(backend);
        try case.s.spawn(Case.writeBytes, .{ &case, &pair.ends[0], 100_000_000 }, .{});
        try case.s.spawn(Case.closeLater, .{ &case, &pair.ends[1] }, .{});
        try case.s.run();
        try std.testing.expectEqual(1, case.errors);
    }
}

/// The status of a child that cannot have a filter: in an emulator.
const no_filters = 3;

/// Statement is an instruction of a seccomp filter.
const Statement = extern struct { code: u16, jt: u8 = 0, jf: u8 = 0, k: u32 };

/// refuseUring is what a container's policy does, or a kernel without io_uring.
fn refuseUring(how: linux.E) void {
    const filter = [_]Statement{
        .{ .code = 0x20, .k = 0 }, // load the number of the system call
        .{ .code = 0x15, .jf = 1, .k = @intFromEnum(linux.SYS.io_uring_setup) },
        .{ .code = 0x06, .k = 0x00050000 | @as(u32, @intFromEnum(how)) },
        .{ .code = 0x06, .k = 0x7fff0000 },
    };
    const program: extern struct { len: u16, filter: *const Statement } = .{ .len = filter.len, .filter = &filter[0] };
    _ = linux.prctl(@intFromEnum(linux.PR.SET_NO_NEW_PRIVS), 1, 0, 0, 0);
    if (linux.prctl(@intFromEnum(linux.PR.SET_SECCOMP), 2, @intFromPtr(&program), 0, 0) != 0) posix.exit(no_filters);
}

test "where io_uring is refused epoll takes its place" {
    for ([_]linux.E{ .PERM, .NOSYS }) |how| {
        const child = try posix.fork();
        if (child == 0) {
            refuseUring(how);
            const poller = zco.Poller.init(.io_uring) catch posix.exit(2);
            posix.exit(if (poller == .epoll) 0 else 1);
        }
        const status = posix.waitpid(child, 0).status;
        if (builtin.cpu.arch != .x86_64 and posix.W.EXITSTATUS(status) == no_filters) return error.SkipZigTest;
        try std.testing.expectEqual(0, status);
    }
}
