//! The server as its clients see it: it runs in a child process, and the tests are clients.
const std = @import("std");
const builtin = @import("builtin");
const linux = std.os.linux;
const posix = std.posix;
const zco = @import("zco.zig");
const http = @import("http.zig");
const server = @import("server.zig");
const backends = @import("poller_test.zig").backends;

const request = "GET / HTTP/1.1\r\nHost: bench\r\n\r\n";
const answer = http.answer(.{});
/// It bounds every wait of a client, and that for the end of the server.
const patience_seconds = 300;

/// So that no client is let go, however slow the machine is.
const endless: server.Patience = .{ .request = 3600, .idle = 3600, .answers = 3600 };
/// So that all that has come is answered after SIGTERM, too. A server with a client that does not read never ends.
const unhurried: server.Patience = .{ .request = 3600, .idle = 3600, .answers = 3600, .drain_nanoseconds = 3600 * std.time.ns_per_s };

const Options = struct {
    /// Files that the server may open; as many as this process when null.
    files: ?u64 = null,
    patience: server.Patience = endless,
    threads: usize = 1,
    workers: u16 = 0,
    connections: ?u16 = null,
    pin: bool = false,
};

const Running = struct {
    child: posix.pid_t,
    address: std.net.Address,

    /// start returns when the server answers.
    fn start(backend: zco.Backend, options: Options) !Running {
        var room: [server.threads_max]i32 = undefined;
        const listeners = room[0..options.threads];
        try server.listen(0, listeners);
        defer for (listeners) |fd| posix.close(fd);
        const address = std.net.Address.initIp4(.{ 127, 0, 0, 1 }, try server.portOf(listeners[0]));
        const r: Running = .{ .child = try posix.fork(), .address = address };
        if (r.child == 0) {
            _ = linux.prctl(@intFromEnum(linux.PR.SET_PDEATHSIG), linux.SIG.KILL, 0, 0, 0); // a test that fails leaves nothing
            if (options.files) |n| posix.setrlimit(.NOFILE, .{ .cur = n, .max = n }) catch posix.exit(3);
            server.serve(.{
                .listeners = listeners,
                .backend = backend,
                .patience = options.patience,
                .workers = options.workers,
                .connections = options.connections,
                .pin = options.pin,
            }) catch posix.exit(1);
            posix.exit(0);
        }
        const fd = try r.connect();
        defer posix.close(fd);
        try ask(fd);
        return r;
    }

    fn connect(r: Running) !posix.fd_t {
        const fd = try posix.socket(linux.AF.INET, linux.SOCK.STREAM | linux.SOCK.CLOEXEC, 0);
        errdefer posix.close(fd);
        const patience = std.mem.toBytes(linux.timeval{ .sec = patience_seconds, .usec = 0 });
        try posix.setsockopt(fd, linux.SOL.SOCKET, linux.SO.RCVTIMEO, &patience);
        try posix.setsockopt(fd, linux.SOL.SOCKET, linux.SO.SNDTIMEO, &patience);
        try posix.connect(fd, &r.address.any, r.address.getOsSockLen());
        return fd;
    }

    /// stop makes everything pile up until the server is resumed.
    fn stop(r: Running) !void {
        try posix.kill(r.child, linux.SIG.STOP);
        _ = posix.waitpid(r.child, posix.W.UNTRACED);
    }

    fn resumeServing(r: Running) !void {
        try posix.kill(r.child, linux.SIG.CONT);
    }

    /// end sends SIGTERM.
    fn end(r: Running) !void {
        try posix.kill(r.child, linux.SIG.TERM);
    }

    fn expectEnded(r: Running) !void {
        for (0..patience_seconds * 100) |_| {
            const ended = posix.waitpid(r.child, posix.W.NOHANG);
            if (ended.pid == r.child) return std.testing.expectEqual(0, ended.status);
            std.Thread.sleep(10 * std.time.ns_per_ms);
        }
        try posix.kill(r.child, linux.SIG.KILL);
        return error.DidNotEnd;
    }
};

fn send(fd: posix.fd_t, text: []const u8) !void {
    var done: usize = 0;
    while (done < text.len) done += try posix.send(fd, text[done..], linux.MSG.NOSIGNAL);
}

/// receive fills the buffer unless the server ends the connection before.
fn receive(fd: posix.fd_t, buffer: []u8) ![]u8 {
    var used: usize = 0;
    while (used < buffer.len) {
        const n = try posix.recv(fd, buffer[used..], 0);
        if (n == 0) break;
        used += n;
    }
    return buffer[0..used];
}

fn ask(fd: posix.fd_t) !void {
    try send(fd, request);
    var text: [answer.len]u8 = undefined;
    try std.testing.expectEqualStrings(answer, try receive(fd, &text));
}

/// sendMuch sends requests, and reads no answer, until the server has long stopped reading.
fn sendMuch(fd: posix.fd_t) !void {
    for (0..3) |_| {
        while (posix.send(fd, request ** 100, linux.MSG.NOSIGNAL | linux.MSG.DONTWAIT)) |_| {} else |err| if (err != error.WouldBlock) return err;
        std.Thread.sleep(20 * std.time.ns_per_ms);
    }
}

test "after SIGTERM what has come is answered, all connections end, and so does the server" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{ .patience = unhurried });
        var idle: [100]posix.fd_t = undefined;
        for (&idle) |*fd| fd.* = try r.connect();
        defer for (idle) |fd| posix.close(fd);
        const busy = try r.connect();
        defer posix.close(busy);
        const n = 1000;
        try send(busy, request ** n);
        try ask(idle[50]); // then the last of the idle ones is accepted too

        try r.end();
        var text: [answer.len * n + 1]u8 = undefined;
        try std.testing.expectEqual(answer.len * n, (try receive(busy, &text)).len);
        for (idle) |fd| try std.testing.expectEqual(0, (try receive(fd, text[0..1])).len);
        try r.expectEnded();
    }
}

test "after SIGTERM a client that does not read is cut off, and the server ends" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{}); // its clients have an hour to read their answers
        const deaf = try r.connect();
        defer posix.close(deaf);
        try sendMuch(deaf);
        try r.end();
        try r.expectEnded();
    }
}

test "a client that sends a byte now and then keeps nobody else waiting" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{});
        const slow = try r.connect();
        defer posix.close(slow);
        const fast = try r.connect();
        defer posix.close(fast);
        for (request) |byte| {
            try send(slow, &.{byte});
            for (0..20) |_| try ask(fast);
        }
        var text: [answer.len]u8 = undefined;
        try std.testing.expectEqualStrings(answer, try receive(slow, &text));
        try r.end();
        try r.expectEnded();
    }
}

test "ten thousand connections that do nothing leave room for others" {
    const n = 10_000;
    server.raiseFiles() catch {};
    if ((try posix.getrlimit(.NOFILE)).cur < n + 100) return error.SkipZigTest;
    for (backends()) |backend| {
        const r = try Running.start(backend, .{});
        const idle = try std.testing.allocator.alloc(posix.fd_t, n);
        defer std.testing.allocator.free(idle);
        for (idle) |*fd| fd.* = try r.connect();
        defer for (idle) |fd| posix.close(fd);
        const other = try r.connect();
        defer posix.close(other);
        try ask(other);
        for (0..10) |i| try ask(idle[i * 1000 + 999]);
        try r.end();
        try r.expectEnded();
    }
}

/// served is false where the server says that it is busy, or closes the connection.
fn served(fd: posix.fd_t) !bool {
    send(fd, request) catch return false;
    var text: [answer.len]u8 = undefined;
    const got = receive(fd, &text) catch |err| switch (err) {
        error.ConnectionResetByPeer => return false,
        else => return err,
    };
    if (std.mem.eql(u8, got, answer)) return true;
    try std.testing.expect(std.mem.startsWith(u8, http.busy, got));
    return false;
}

test "a connection for which there is no file is refused, and those that are open live on" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{ .files = 64 });
        var fds: [100]posix.fd_t = undefined;
        var open: usize = 0;
        for (&fds, 0..) |*fd, i| {
            fd.* = try r.connect();
            if (try served(fd.*)) open = i + 1;
        }
        try std.testing.expect(open > 40 and open < 64);
        for (fds[0..open]) |fd| try ask(fd);
        for (fds) |fd| posix.close(fd);
        // The server needs a moment to see that they are closed.
        for (0..patience_seconds * 100) |_| {
            const fd = try r.connect();
            defer posix.close(fd);
            if (try served(fd)) break;
            std.Thread.sleep(10 * std.time.ns_per_ms);
        } else return error.StillRefused;
        try r.end();
        try r.expectEnded();
    }
}

/// connectServed connects until the server takes it: it needs a moment to see that others are closed.
fn connectServed(r: Running) !posix.fd_t {
    for (0..patience_seconds * 100) |_| {
        const fd = try r.connect();
        if (try served(fd)) return fd;
        posix.close(fd);
        std.Thread.sleep(10 * std.time.ns_per_ms);
    }
    return error.StillRefused;
}

test "a connection more than there may be is refused, with workers too, and has a place when another one ends" {
    for (backends()) |backend| for ([_]u16{ 0, 3 }) |workers| {
        const r = try Running.start(backend, .{ .connections = 3, .workers = workers });
        var fds: [3]posix.fd_t = undefined;
        for (&fds) |*fd| fd.* = try connectServed(r);
        for (0..10) |_| {
            const more = try r.connect();
            defer posix.close(more);
            try std.testing.expect(!try served(more));
        }
        for (fds) |fd| try ask(fd);
        posix.close(fds[1]);
        fds[1] = try connectServed(r);
        for (fds) |fd| try ask(fd);
        for (fds) |fd| posix.close(fd);
        try r.end();
        try r.expectEnded();
    };
}

/// processors are how many a process's threads are kept on, and how many of the threads are kept on one.
fn processors(child: posix.pid_t) !struct { kept: usize, different: usize } {
    var path: [64]u8 = undefined;
    var tasks = try std.fs.openDirAbsolute(try std.fmt.bufPrint(&path, "/proc/{d}/task", .{child}), .{ .iterate = true });
    defer tasks.close();
    var all: linux.cpu_set_t = @splat(0);
    var kept: usize = 0;
    var each = tasks.iterate();
    while (try each.next()) |task| {
        const may = try posix.sched_getaffinity(try std.fmt.parseInt(posix.pid_t, task.name, 10));
        if (linux.CPU_COUNT(may) == 1) kept += 1;
        for (&all, may) |*sum, word| sum.* |= word;
    }
    return .{ .kept = kept, .different = linux.CPU_COUNT(all) };
}

test "threads that are pinned are on a processor of their own each, as far as there are some" {
    if (builtin.cpu.arch != .x86_64) return error.SkipZigTest; // an emulator has threads of its own
    const threads = 3;
    const may = linux.CPU_COUNT(try posix.sched_getaffinity(0));
    const r = try Running.start(.epoll, .{ .threads = threads, .pin = true });
    for (0..patience_seconds * 100) |_| {
        const seen = try processors(r.child);
        if (seen.kept == threads and seen.different == @min(threads, may)) break;
        std.Thread.sleep(10 * std.time.ns_per_ms);
    } else return error.NeverPinned;
    try r.end();
    try r.expectEnded();
}

/// impatient lets go of a client after 200 to 210 ms in which it runs.
const impatient: server.Patience = .{ .tick_nanoseconds = 10 * std.time.ns_per_ms, .request = 20, .idle = 20, .answers = 20 };

fn expectLetGo(fd: posix.fd_t, last: []const u8) !void {
    var text: [1024]u8 = undefined;
    try std.testing.expectEqualStrings(last, try receive(fd, &text));
}

/// trickle sends a header that does not end, byte by byte, until the server has had enough.
fn trickle(fd: posix.fd_t) !void {
    try send(fd, "GET / HTTP/1.1\r\nX: ");
    const end = zco.now() + patience_seconds * std.time.ns_per_s;
    while (zco.now() < end) {
        std.Thread.sleep(10 * std.time.ns_per_ms);
        send(fd, "x") catch return;
        var polled = [_]posix.pollfd{.{ .fd = fd, .events = linux.POLL.IN, .revents = 0 }};
        if (try posix.poll(&polled, 0) > 0) return;
    }
    return error.NotLetGo;
}

test "a client that does nothing, sends half a request, or takes no answers, is let go when its time is over, and not before" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{ .patience = impatient });
        try r.stop();
        var fds: [5]posix.fd_t = undefined;
        for (&fds) |*fd| fd.* = try r.connect();
        defer for (fds) |fd| posix.close(fd);
        const silent, const idle, const half, const slow, const deaf = fds;
        try send(idle, request);
        try send(half, request ++ request[0..20]);
        try posix.setsockopt(deaf, linux.SOL.SOCKET, linux.SO.RCVBUF, &std.mem.toBytes(@as(c_int, 4096)));
        try sendMuch(deaf);
        const begun = zco.now();
        try r.resumeServing();

        const late = comptime http.answer(.{ .status = .late });
        try expectLetGo(silent, "");
        try expectLetGo(idle, answer);
        try expectLetGo(half, answer ++ late);
        try std.testing.expect(zco.now() - begun >= 200 * std.time.ns_per_ms);
        try trickle(slow);
        var polled = [_]posix.pollfd{.{ .fd = deaf, .events = 0, .revents = 0 }};
        try std.testing.expectEqual(1, try posix.poll(&polled, patience_seconds * 1000));
        try r.end();
        try r.expectEnded();
    }
}

/// number reads a number of the statistics.
fn number(stats: []const u8, comptime name: []const u8) !u64 {
    const key = "\"" ++ name ++ "\":";
    const begin = (std.mem.indexOf(u8, stats, key) orelse return error.NoSuchNumber) + key.len;
    const end = std.mem.indexOfNonePos(u8, stats, begin, "0123456789") orelse stats.len;
    return std.fmt.parseInt(u64, stats[begin..end], 10);
}

test "a flood of connections, served or refused, keeps nobody waiting for his turn" {
    const flood = 1000;
    server.raiseFiles() catch {};
    if ((try posix.getrlimit(.NOFILE)).cur < flood + 200) return error.SkipZigTest;
    for ([_]?u64{ null, 64 }) |files| for (backends()) |backend| {
        const r = try Running.start(backend, .{ .files = files });
        var open: [40]posix.fd_t = undefined;
        for (&open) |*fd| fd.* = try r.connect();
        defer for (open) |fd| posix.close(fd);
        for (open) |fd| try ask(fd);

        try r.stop();
        for (open) |fd| try send(fd, "GET /stats HTTP/1.1\r\nHost: bench\r\n\r\n");
        var others: [flood]posix.fd_t = undefined;
        for (&others) |*fd| fd.* = try r.connect();
        defer for (others) |fd| posix.close(fd);
        try send(others[flood - 1], request);
        try r.resumeServing();
        for (open) |fd| {
            var text: [1024]u8 = undefined;
            const stats = text[0..try posix.recv(fd, &text, 0)];
            try std.testing.expect(try number(stats, "connections") + try number(stats, "refused") < flood / 2);
        }
        // The last has asked before it was refused, and is told so without a reset.
        var last: [1024]u8 = undefined;
        try std.testing.expectEqualStrings(if (files == null) answer else http.busy, try receive(others[flood - 1], last[0..if (files == null) answer.len else last.len]));
        try r.end();
        try r.expectEnded();
    };
}

/// timesTold is how many answers the statistics have the time of.
fn timesTold(stats: []const u8) !u64 {
    const parsed = try std.json.parseFromSlice(struct { serviceTimes: []u64 }, std.testing.allocator, stats, .{ .ignore_unknown_fields = true });
    defer parsed.deinit();
    var sum: u64 = 0;
    for (parsed.value.serviceTimes) |n| sum += n;
    return sum;
}

test "the times of some answers are taken, of a pipeline's all together" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{});
        const fd = try r.connect();
        defer posix.close(fd);
        var text: [8192]u8 = undefined;
        var before: u64 = 0;
        for ([_]u64{ 1, 50 }) |pipelined| {
            for (0..1000) |_| {
                try send(fd, (request ** 50)[0 .. request.len * pipelined]);
                _ = try receive(fd, text[0 .. answer.len * pipelined]);
            }
            const times = try timesTold(try statistics(fd, &text)) - before;
            // One read of 127 is timed at least, and not each.
            try std.testing.expect(times > pipelined and times < 500 * pipelined);
            before += times;
        }
        try r.end();
        try r.expectEnded();
    }
}

/// statistics returns the body of an answer with the statistics.
fn statistics(fd: posix.fd_t, text: []u8) ![]const u8 {
    try send(fd, "GET /stats HTTP/1.1\r\nHost: bench\r\n\r\n");
    const whole = text[0..try posix.recv(fd, text, 0)];
    return whole[(std.mem.indexOf(u8, whole, "\r\n\r\n") orelse return error.NoBody) + 4 ..];
}

const Statistics = struct { connectionsOpen: u64, openByThread: []u64, connections: u64, requests: u64, ready: u64 };

test "several threads share the connections, add up what they have counted, and end together" {
    const brisk: server.Patience = .{ .tick_nanoseconds = 10 * std.time.ns_per_ms, .request = 1_000_000, .idle = 1_000_000, .answers = 1_000_000 };
    for (backends()) |backend| {
        const r = try Running.start(backend, .{ .threads = 3, .patience = brisk });
        var fds: [90]posix.fd_t = undefined;
        for (&fds) |*fd| fd.* = try r.connect();
        defer for (fds) |fd| posix.close(fd);
        const n = 100;
        for (fds) |fd| try send(fd, request ** n);
        var text: [answer.len * n]u8 = undefined;
        for (fds) |fd| try std.testing.expectEqual(text.len, (try receive(fd, &text)).len);

        // What the others have counted is told with their next tick. The first connection was that of start.
        var asked: u64 = 0;
        while (true) {
            asked += 1;
            const parsed = try std.json.parseFromSlice(Statistics, std.testing.allocator, try statistics(fds[0], &text), .{ .ignore_unknown_fields = true });
            defer parsed.deinit();
            const stats = parsed.value;
            try std.testing.expectEqual(3, stats.openByThread.len);
            if (stats.requests == 1 + fds.len * n + asked and stats.connectionsOpen == fds.len and stats.connections == 1 + fds.len) {
                for (stats.openByThread) |open| try std.testing.expect(open > 0);
                break;
            }
            if (asked == patience_seconds * 100) return error.NeverTold;
            std.Thread.sleep(10 * std.time.ns_per_ms);
        }

        const deaf = fds[17];
        try sendMuch(deaf);
        try r.end();
        for (fds) |fd| if (fd != deaf) try std.testing.expectEqual(0, (try receive(fd, text[0..1])).len);
        try r.expectEnded();
    }
}

test "a port that another server has is refused, however many threads either has" {
    for ([_]usize{ 1, 3 }) |threads| {
        const r = try Running.start(.epoll, .{ .threads = threads });
        for ([_]usize{ 1, 2 }) |more| {
            var listeners: [2]i32 = undefined;
            try std.testing.expectError(error.AddressInUse, server.listen(r.address.getPort(), listeners[0..more]));
        }
        try r.end();
        try r.expectEnded();
    }
}

test "the numbers of threads and workers are those that the server can have" {
    for ([_][*:0]const u8{ "--threads=0", "--threads=65", "--threads=-1", "--threads=", "--threads=2x", "--threads", "--workers=0", "--workers=10001", "--connections=0", "--connections=65536", "--pin=1" }) |bad| {
        try std.testing.expectEqual(null, server.parseOptions(&.{bad}));
    }
    try std.testing.expectEqual(64, server.parseOptions(&.{"--threads=64"}).?.threads);
    try std.testing.expectEqual(1, server.parseOptions(&.{}).?.threads);
    try std.testing.expectEqual(100, server.parseOptions(&.{"--workers=100"}).?.workers);
    try std.testing.expectEqual(0, server.parseOptions(&.{}).?.workers);
    const all = server.parseOptions(&.{ "--pin", "--connections", "10000", "--threads=2" }).?;
    try std.testing.expect(all.pin and all.connections == 10_000 and all.threads == 2);
    try std.testing.expect(server.parseOptions(&.{}).?.connections == null);
}

test "any command line is refused, or asks for what the server can have" {
    const words = [_][]const u8{ "--port", "--threads", "--workers", "--backend", "=", "1", "64", "65", "65535", "65536", "10000", "0", "-", "+", " ", "epoll", "io_uring", "99999999999999999999", "\xff", "_" };
    var drawn = std.Random.DefaultPrng.init(1);
    const random = drawn.random();
    var taken: usize = 0;
    for (0..100_000) |_| {
        var text: [4][128]u8 = undefined;
        var line: [4][*:0]const u8 = undefined;
        const n = random.uintAtMost(usize, line.len);
        for (text[0..n], line[0..n]) |*room, *argument| {
            var out = std.io.fixedBufferStream(room);
            // A name, an equals sign and a value each time but some.
            for ([_]usize{ 0, 4, 5 }, [_]usize{ 4, 1, words.len - 5 }) |first, choices| {
                const usual = random.uintLessThan(usize, 8) > 0;
                try out.writer().writeAll(words[if (usual) first + random.uintLessThan(usize, choices) else random.uintLessThan(usize, words.len)]);
            }
            try out.writer().writeByte(0);
            argument.* = @ptrCast(room);
        }
        const options = server.parseOptions(line[0..n]) orelse continue;
        try std.testing.expect(options.port >= 1 and options.threads >= 1 and options.threads <= server.threads_max and options.workers <= server.workers_max);
        taken += @intFromBool(n > 0);
    }
    try std.testing.expect(taken > 100);
}

/// expectNothing fails when an answer is there.
fn expectNothing(fd: posix.fd_t) !void {
    var byte: [1]u8 = undefined;
    try std.testing.expectError(error.WouldBlock, posix.recv(fd, &byte, linux.MSG.DONTWAIT));
}

test "workers serve as many connections as they are, and the next ones when these have ended, in their order" {
    for (backends()) |backend| {
        const r = try Running.start(backend, .{ .workers = 2 });
        var fds: [6]posix.fd_t = undefined;
        for (&fds) |*fd| fd.* = try r.connect();
        for (fds) |fd| try send(fd, request);
        var text: [answer.len]u8 = undefined;
        for (fds, 0..) |fd, i| {
            try std.testing.expectEqualStrings(answer, try receive(fd, &text));
            if (i == 0) continue;
            // The workers have this one and the one before.
            for (0..20) |_| try ask(fd);
            for (fds[i + 1 ..]) |later| try expectNothing(later);
            posix.close(fds[i - 1]);
        }
        posix.close(fds[fds.len - 1]);
        try r.end();
        try r.expectEnded();
    }
}

/// expectWaiting returns when so many connections wait for a worker, of which fd has one.
fn expectWaiting(fd: posix.fd_t, n: u64) !void {
    for (0..patience_seconds * 100) |_| {
        var text: [8192]u8 = undefined;
        if (try number(try statistics(fd, &text), "waiting") == n) return;
        std.Thread.sleep(10 * std.time.ns_per_ms);
    }
    return error.NeverWaiting;
}

test "after SIGTERM those that wait for a worker are answered too, unless it has a client that does not read" {
    for (backends()) |backend| for ([_]bool{ false, true }) |deaf| {
        const r = try Running.start(backend, .{ .workers = 1, .patience = if (deaf) endless else unhurried });
        const first = try r.connect();
        defer posix.close(first);
        try ask(first);
        var fds: [20]posix.fd_t = undefined;
        for (&fds) |*fd| fd.* = try r.connect();
        defer for (fds) |fd| posix.close(fd);
        for (fds) |fd| try send(fd, request);
        try expectWaiting(first, fds.len);
        if (deaf) try sendMuch(first);
        try r.end();
        var text: [answer.len + 1]u8 = undefined;
        if (!deaf) for (fds) |fd| try std.testing.expectEqualStrings(answer, try receive(fd, &text));
        try r.expectEnded();
    };
}
