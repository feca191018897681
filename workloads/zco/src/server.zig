//! zco's server: a coroutine accepts, each connection has a coroutine of its own, one counts the time, and one waits for the end.
//! With several threads there are as many servers, each with a scheduler, a poller and a listener of its own. With workers connections
//! have no coroutines of their own: they go through a channel to the next worker that is free.
const std = @import("std");
const linux = std.os.linux;
const posix = std.posix;
const zco = @import("zco.zig");
const http = @import("http.zig");
const Connection = @import("connection.zig").Connection;
const counts = @import("counts.zig");

const backlog = 4096;
/// Connections taken or refused before those that are open have their turn.
const accept_max = 64;
pub const threads_max = 64;
pub const workers_max = 10_000;
/// Connections that have been taken and wait for a worker. Further ones wait in the kernel.
const waiting_max = 1000;
/// One read of so many, on the average, has the time of its answers taken: that of each would cost two looks at the clock.
const timed_reads = 64;
/// A connection matters less than the coroutine that accepts, and that less than the end.
const accept_priority = 17;
const end_priority = 18;

/// Patience is how long the server waits for a client. It counts in ticks, which wait when the server itself is kept from running: then
/// no client is blamed for it.
pub const Patience = struct {
    tick_nanoseconds: u64 = std.time.ns_per_s,
    /// For the first byte of all, for the rest of a request that has begun, and for the end after a refusal.
    request: u32 = 10,
    /// Between two requests.
    idle: u32 = 120,
    /// For the client to take what is written at once, 64 answers at most.
    answers: u32 = 30,
    /// For all connections to end after SIGTERM. It goes by the clock, not by ticks.
    drain_nanoseconds: u64 = 500 * std.time.ns_per_ms,
};

pub const Server = struct {
    scheduler: zco.Scheduler = .{},
    poller: zco.Poller,
    listener: zco.Source,
    signals: zco.Source,
    patience: Patience,
    /// The lines of all servers, and which of them is this one's.
    lines: []counts.Line,
    place: usize,
    ticks: u64 = 0,
    connections: ?*Connection = null,
    /// None when each connection has a coroutine of its own.
    workers: u16,
    /// Connections that wait for a worker.
    waiting: zco.Channel(i32) = undefined,
    /// How many connections there may be, those that wait for a worker included.
    connections_max: u64,
    held: u64 = 0,
    /// How connections are shut down since SIGTERM has come, those that are opened later too.
    ending: ?i32 = null,
    open: u64 = 0,
    accepted: u64 = 0,
    refused: u64 = 0,
    late: u64 = 0,
    requests: u64 = 0,
    /// Reads until one is timed, which are drawn by lot, lest it be always the same connection's.
    untimed: u32 = 1,
    service_times: counts.Times = .{},

    /// accept is the coroutine that accepts.
    fn accept(server: *Server) void {
        defer server.waiting.close();
        var reserve: i32 = duplicate(server.listener.fd);
        const s = &server.scheduler;
        var taken: usize = 0;
        while (true) : (taken += 1) {
            if (taken % accept_max == accept_max - 1) s.sleep(0) catch return; // until all that are ready have had a turn
            const fd = server.poller.accept(s, &server.listener) catch |err| switch (err) {
                error.Closed, error.Canceled => return,
                error.TooManyFiles => {
                    // With the reserved descriptor the client can be told; else it would wait for ever, and be reported for ever.
                    if (reserve >= 0) _ = linux.close(reserve);
                    const fd = linux.accept4(server.listener.fd, null, null, linux.SOCK.CLOEXEC);
                    if (linux.E.init(fd) == .SUCCESS) server.refuse(@intCast(fd)) else s.sleep(10 * std.time.ns_per_ms) catch return;
                    reserve = duplicate(server.listener.fd);
                    continue;
                },
            };
            server.hand(fd) catch server.refuse(fd);
        }
    }

    /// hand gives a connection to a coroutine of its own, or to the workers.
    fn hand(server: *Server, fd: i32) error{ Full, OutOfMemory, Closed, Canceled }!void {
        if (!server.hold()) return error.Full;
        errdefer server.release();
        if (server.workers > 0) return server.waiting.send(fd);
        return server.scheduler.spawn(Connection.serve, .{ server, fd }, .{});
    }

    /// hold counts a connection more, unless there are as many as there may be.
    fn hold(server: *Server) bool {
        server.scheduler.enter();
        defer server.scheduler.leave();
        if (server.held == server.connections_max) return false;
        server.held += 1;
        return true;
    }

    fn release(server: *Server) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.held -= 1;
    }

    /// work is the coroutine of a worker, which has a connection until that ends.
    fn work(server: *Server) void {
        while (server.waiting.receive() catch null) |fd| Connection.serve(server, fd);
    }

    /// refuse reads what has come before it closes, for else that would reset the connection.
    fn refuse(server: *Server, fd: i32) void {
        var rubbish: [http.head_max]u8 = undefined;
        server.refused += 1; // only the accepting coroutine does
        _ = linux.sendto(fd, http.busy.ptr, http.busy.len, linux.MSG.NOSIGNAL | linux.MSG.DONTWAIT, null, 0);
        _ = linux.recvfrom(fd, &rubbish, rubbish.len, linux.MSG.DONTWAIT, null, null);
        _ = linux.close(fd);
    }

    /// count is the coroutine that counts the time, and lets go of the clients that are late.
    fn count(server: *Server) void {
        const s = &server.scheduler;
        while (true) {
            s.sleep(server.patience.tick_nanoseconds) catch return;
            s.enter();
            server.ticks += 1;
            server.lines[server.place].write(server.counted());
            var next = server.connections;
            while (next) |c| : (next = c.after) {
                if (c.deadline > server.ticks) continue;
                server.late += @intFromBool(!c.late);
                c.letGo();
            }
            s.leave();
        }
    }

    /// end is the coroutine that waits for SIGTERM. Connections then read what has come and no more, and so end after the answers
    /// they owe.
    fn end(server: *Server) void {
        const s = &server.scheduler;
        server.poller.waitReadable(s, &server.signals) catch {};
        _ = linux.shutdown(server.listener.fd, linux.SHUT.RDWR);
        server.shutAll(linux.SHUT.RD);
        const limit = zco.now() + server.patience.drain_nanoseconds;
        // By what lives, for a connection that is accepted may not be open yet.
        while (s.live > 1 and zco.now() < limit) s.sleep(5 * std.time.ns_per_ms) catch return;
        // Clients that do not read are left. Other threads may still have some that do.
        if (s.live > 1) server.shutAll(linux.SHUT.RDWR);
    }

    fn shutAll(server: *Server, how: i32) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.ending = how;
        var next = server.connections;
        while (next) |c| : (next = c.after) _ = linux.shutdown(c.source.fd, how);
    }

    pub fn opened(server: *Server, c: *Connection) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.open += 1;
        server.accepted += 1;
        c.after = server.connections;
        if (c.after) |after| after.before = c;
        server.connections = c;
        if (server.ending) |how| _ = linux.shutdown(c.source.fd, how);
    }

    pub fn closed(server: *Server, c: *Connection) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.open -= 1;
        server.held -= 1;
        if (c.after) |after| after.before = c.before;
        if (c.before) |before| before.after = c.after else server.connections = c.after;
    }

    pub fn answered(server: *Server, n: usize) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.requests += n;
    }

    /// readAt is the time if the answers to what has been read are to be timed.
    pub inline fn readAt(server: *Server) ?u64 {
        // Without enter and leave: where a turn ends in the middle another read is timed, and no harm is done. The number that is stored
        // is the one that is looked at, and never wraps, or no read would be timed for four thousand million.
        const left = server.untimed -| 1;
        server.untimed = left;
        return if (left == 0) server.drawAndTime() else null;
    }

    noinline fn drawAndTime(server: *Server) u64 {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.untimed = server.scheduler.pick(2 * timed_reads - 1) + 1;
        return zco.now();
    }

    /// handedOver counts answers that the kernel has taken, if they are timed.
    pub inline fn handedOver(server: *Server, read_at: ?u64, n: usize) void {
        if (read_at) |begun| server.recordTime(begun, n);
    }

    noinline fn recordTime(server: *Server, begun: u64, n: usize) void {
        const nanoseconds = zco.now() - begun;
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.service_times.record(nanoseconds, n);
    }

    fn counted(server: *const Server) counts.Counts {
        const s = &server.scheduler;
        return .{
            .switches = s.switches(),
            .preemptions = s.preemptions,
            .ready = s.ready.len,
            .stacks = s.stacks.mapped,
            .connectionsOpen = server.open,
            .waiting = server.waiting.len,
            .connections = server.accepted,
            .refused = server.refused,
            .timedOut = server.late,
            .requests = server.requests,
            .readyByPriority = s.ready.counts(),
            .serviceTimes = server.service_times,
        };
    }

    /// statsAnswer has the sums of all threads: of this one as they are, of the others as they were at their last tick.
    pub fn statsAnswer(server: *Server, out: []u8, request: http.Request) []const u8 {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.lines[server.place].write(server.counted());
        var sum: counts.Counts = .{};
        var open: [threads_max]u64 = undefined;
        for (server.lines, open[0..server.lines.len]) |*line, *of_thread| {
            const counted_there = line.read();
            of_thread.* = counted_there.connectionsOpen;
            sum.add(counted_there);
        }
        return http.statsAnswer(out, request, .{
            .backend = @tagName(server.poller),
            .switches = sum.switches,
            .preemptions = sum.preemptions,
            .ready = sum.ready,
            .stacks = sum.stacks,
            .connectionsOpen = sum.connectionsOpen,
            .openByThread = open[0..server.lines.len],
            .waiting = sum.waiting,
            .connections = sum.connections,
            .refused = sum.refused,
            .timedOut = sum.timedOut,
            .requests = sum.requests,
            .readyByPriority = sum.readyByPriority,
            .serviceTimes = sum.serviceTimes.places,
        }) catch unreachable; // the numbers of 64 threads fit
    }
};

fn duplicate(fd: i32) i32 {
    const copy = linux.dup(fd);
    return if (linux.E.init(copy) == .SUCCESS) @intCast(copy) else -1;
}

pub const Options = struct {
    port: u16 = 8080,
    backend: zco.Backend = .epoll,
    threads: u16 = 1,
    workers: u16 = 0,
    /// Of each thread; as many as there are descriptors and memory for when null.
    connections: ?u16 = null,
    /// Each thread on a processor of its own.
    pin: bool = false,
};

/// parseOptions reads "--port N" and "--port=N", the same of the others, and "--pin". It returns null when there is anything else.
pub fn parseOptions(arguments: []const [*:0]const u8) ?Options {
    var options: Options = .{};
    var i: usize = 0;
    while (i < arguments.len) : (i += 1) {
        const argument = std.mem.span(arguments[i]);
        if (std.mem.eql(u8, argument, "--pin")) {
            options.pin = true;
            continue;
        }
        const equals = std.mem.indexOfScalar(u8, argument, '=');
        const name = argument[0 .. equals orelse argument.len];
        const value = if (equals) |at| argument[at + 1 ..] else value: {
            i += 1;
            if (i == arguments.len) return null;
            break :value std.mem.span(arguments[i]);
        };
        if (std.mem.eql(u8, name, "--port")) {
            options.port = parseNumber(value, std.math.maxInt(u16)) orelse return null;
        } else if (std.mem.eql(u8, name, "--threads")) {
            options.threads = parseNumber(value, threads_max) orelse return null;
        } else if (std.mem.eql(u8, name, "--workers")) {
            options.workers = parseNumber(value, workers_max) orelse return null;
        } else if (std.mem.eql(u8, name, "--connections")) {
            options.connections = parseNumber(value, std.math.maxInt(u16)) orelse return null;
        } else if (std.mem.eql(u8, name, "--backend")) {
            options.backend = std.meta.stringToEnum(zco.Backend, value) orelse return null;
        } else return null;
    }
    return options;
}

/// parseNumber reads a number from 1 to max.
fn parseNumber(text: []const u8, max: u16) ?u16 {
    for (text) |digit| if (!std.ascii.isDigit(digit)) return null;
    const number = std.fmt.parseInt(u16, text, 10) catch return null;
    return if (number >= 1 and number <= max) number else null;
}

/// listen opens as many listeners as out has room for, on one port: any free one for 0. The kernel chooses for each connection, by its
/// address, the listener that gets it.
pub fn listen(port: u16, out: []i32) !void {
    var taken = port;
    for (out, 0..) |*fd, i| {
        fd.* = try bind(taken, i > 0);
        if (i > 0) continue;
        // Only now, for a port that another process has would else be shared with it.
        if (out.len > 1) try posix.setsockopt(fd.*, linux.SOL.SOCKET, linux.SO.REUSEPORT, &one);
        taken = try portOf(fd.*);
    }
    for (out) |fd| try posix.listen(fd, backlog);
}

const one = std.mem.toBytes(@as(c_int, 1));

fn bind(port: u16, share: bool) !i32 {
    const fd = try posix.socket(linux.AF.INET, linux.SOCK.STREAM | linux.SOCK.NONBLOCK | linux.SOCK.CLOEXEC, 0);
    errdefer posix.close(fd);
    try posix.setsockopt(fd, linux.SOL.SOCKET, linux.SO.REUSEADDR, &one);
    if (share) try posix.setsockopt(fd, linux.SOL.SOCKET, linux.SO.REUSEPORT, &one);
    try posix.setsockopt(fd, linux.IPPROTO.TCP, linux.TCP.NODELAY, &one); // connections inherit it
    const address = std.net.Address.initIp4(.{ 0, 0, 0, 0 }, port);
    try posix.bind(fd, &address.any, address.getOsSockLen());
    return fd;
}

pub fn portOf(listener: i32) !u16 {
    var address: std.net.Address = undefined;
    var size: posix.socklen_t = @sizeOf(posix.sockaddr);
    try posix.getsockname(listener, &address.any, &size);
    return address.getPort();
}

/// catchEnd makes SIGTERM and SIGINT readable instead of deadly.
fn catchEnd() !i32 {
    var signals = posix.empty_sigset;
    linux.sigaddset(&signals, linux.SIG.TERM);
    linux.sigaddset(&signals, linux.SIG.INT);
    posix.sigprocmask(linux.SIG.BLOCK, &signals, null);
    return posix.signalfd(-1, &signals, linux.SFD.CLOEXEC | linux.SFD.NONBLOCK);
}

pub fn raiseFiles() !void {
    var files = try posix.getrlimit(.NOFILE);
    files.cur = files.max;
    try posix.setrlimit(.NOFILE, files);
}

/// Setup is what the servers of all threads have in common.
pub const Setup = struct {
    listeners: []const i32,
    backend: zco.Backend = .epoll,
    patience: Patience = .{},
    /// Of each thread.
    workers: u16 = 0,
    connections: ?u16 = null,
    pin: bool = false,
};

/// serve serves with a thread for each listener, this one among them, and returns after SIGTERM, when all are done.
pub fn serve(setup: Setup) !void {
    // Before there are threads, so that all of them leave the signals alone.
    const signals = try catchEnd();
    var lines: [threads_max]counts.Line = @splat(.{});
    var others: [threads_max - 1]std.Thread = undefined;
    const n = setup.listeners.len;
    for (others[0 .. n - 1], 1..) |*thread, place| {
        thread.* = try std.Thread.spawn(.{}, serveOrExit, .{ setup, signals, lines[0..n], place });
    }
    try serveOne(setup, signals, lines[0..n], 0);
    for (others[0 .. n - 1]) |thread| thread.join();
}

fn serveOrExit(setup: Setup, signals: i32, lines: []counts.Line, place: usize) void {
    serveOne(setup, signals, lines, place) catch |err| {
        complain("thread {d}: {s}\n", .{ place, @errorName(err) });
        std.process.exit(1);
    };
}

/// pin keeps this thread on one of the processors that the process may use: on each in turn, by its place.
fn pin(place: usize) !void {
    const may = try posix.sched_getaffinity(0);
    const n = linux.CPU_COUNT(may);
    if (n == 0) return; // more processors than the set has room for
    var left = place % n;
    for (may, 0..) |word, i| {
        var bits = word;
        while (bits != 0) : (bits &= bits - 1) {
            if (left == 0) {
                var only: linux.cpu_set_t = @splat(0);
                only[i] = bits & (~bits +% 1); // the lowest one
                return linux.sched_setaffinity(0, &only);
            }
            left -= 1;
        }
    }
}

/// serveOne is the server of a thread.
fn serveOne(setup: Setup, signals: i32, lines: []counts.Line, place: usize) !void {
    if (setup.pin) try pin(place);
    const poller = try zco.Poller.init(setup.backend);
    if (@as(zco.Backend, poller) != setup.backend) return error.BackendRefused;
    var server: Server = .{
        .poller = poller,
        .listener = .{ .fd = setup.listeners[place] },
        .signals = .{ .fd = signals },
        .patience = setup.patience,
        .lines = lines,
        .place = place,
        .workers = setup.workers,
        .connections_max = if (setup.connections) |most| most else std.math.maxInt(u64),
    };
    const s = &server.scheduler;
    s.poller = &server.poller;
    var waiting: [waiting_max]i32 = undefined;
    server.waiting = zco.Channel(i32).init(s, &waiting);
    try zco.Slice.start(s);
    for (0..setup.workers) |_| try s.spawn(Server.work, .{&server}, .{});
    try s.spawn(Server.accept, .{&server}, .{ .priority = accept_priority });
    try s.spawn(Server.end, .{&server}, .{ .priority = end_priority });
    try s.spawn(Server.count, .{&server}, .{ .priority = end_priority, .background = true });
    try s.run();
}

fn complain(comptime format: []const u8, arguments: anytype) void {
    var text: [128]u8 = undefined;
    std.io.getStdErr().writeAll(std.fmt.bufPrint(&text, "zco: " ++ format, arguments) catch "zco: an error\n") catch {};
}

fn start(options: Options) !void {
    try raiseFiles();
    var listeners: [threads_max]i32 = undefined;
    try listen(options.port, listeners[0..options.threads]);
    const backend = try zco.Poller.allowed(options.backend);
    var text: [96]u8 = undefined;
    const greeting = try std.fmt.bufPrint(&text, "zco: port {d}, backend {s}, threads {d}, workers {d}\n", .{ options.port, @tagName(backend), options.threads, options.workers });
    std.io.getStdOut().writeAll(greeting) catch {}; // nobody has to listen
    try serve(.{
        .listeners = listeners[0..options.threads],
        .backend = backend,
        .workers = options.workers,
        .connections = options.connections,
        .pin = options.pin,
    });
}

pub fn main() u8 {
    const options = parseOptions(std.os.argv[1..]) orelse {
        std.io.getStdErr().writeAll("usage: zco [--port PORT] [--backend epoll|io_uring] [--threads 1..64] [--workers 1..10000] [--connections 1..65535] [--pin]\n") catch {};
        return 2;
    };
    start(options) catch |err| {
        complain("port {d}: {s}\n", .{ options.port, @errorName(err) });
        return 1;
    };
    return 0;
}
