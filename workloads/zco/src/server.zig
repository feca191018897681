//! zco's server: a coroutine accepts, each connection has a coroutine of its own, one counts the time, and one waits for the end.
const std = @import("std");
const linux = std.os.linux;
const posix = std.posix;
const zco = @import("zco.zig");
const http = @import("http.zig");
const Connection = @import("connection.zig").Connection;

/// How long connections may take to end after SIGTERM.
const drain_nanoseconds = 500 * std.time.ns_per_ms;
const backlog = 4096;
/// Connections taken or refused before those that are open have their turn.
const accept_max = 64;
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
};

pub const Server = struct {
    scheduler: zco.Scheduler = .{},
    poller: zco.Poller,
    listener: zco.Source,
    signals: zco.Source,
    patience: Patience = .{},
    ticks: u64 = 0,
    connections: ?*Connection = null,
    /// SIGTERM has come.
    ending: bool = false,
    open: u64 = 0,
    accepted: u64 = 0,
    refused: u64 = 0,
    late: u64 = 0,
    requests: u64 = 0,

    /// accept is the coroutine that accepts.
    fn accept(server: *Server) void {
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
            s.spawn(Connection.serve, .{ server, fd }, .{}) catch server.refuse(fd);
        }
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
        s.enter();
        server.ending = true;
        var next = server.connections;
        while (next) |c| : (next = c.after) _ = linux.shutdown(c.source.fd, linux.SHUT.RD);
        s.leave();
        const limit = zco.now() + drain_nanoseconds;
        // By what lives, for a connection that is accepted may not be open yet.
        while (s.live > 1 and zco.now() < limit) s.sleep(5 * std.time.ns_per_ms) catch return;
        if (s.live > 1) std.process.exit(0); // clients that do not read
    }

    pub fn opened(server: *Server, c: *Connection) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.open += 1;
        server.accepted += 1;
        c.after = server.connections;
        if (c.after) |after| after.before = c;
        server.connections = c;
        if (server.ending) _ = linux.shutdown(c.source.fd, linux.SHUT.RD);
    }

    pub fn closed(server: *Server, c: *Connection) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.open -= 1;
        if (c.after) |after| after.before = c.before;
        if (c.before) |before| before.after = c.after else server.connections = c.after;
    }

    pub fn answered(server: *Server, n: usize) void {
        server.scheduler.enter();
        defer server.scheduler.leave();
        server.requests += n;
    }

    pub fn statsAnswer(server: *Server, out: []u8, request: http.Request) []const u8 {
        server.scheduler.enter();
        defer server.scheduler.leave();
        const s = &server.scheduler;
        return http.statsAnswer(out, request, .{
            .backend = @tagName(server.poller),
            .switches = s.switches(),
            .preemptions = s.preemptions,
            .ready = s.ready.len,
            .stacks = s.stacks.mapped,
            .connectionsOpen = server.open,
            .connections = server.accepted,
            .refused = server.refused,
            .timedOut = server.late,
            .requests = server.requests,
        }) catch unreachable; // nine numbers fit
    }
};

fn duplicate(fd: i32) i32 {
    const copy = linux.dup(fd);
    return if (linux.E.init(copy) == .SUCCESS) @intCast(copy) else -1;
}

const Options = struct { port: u16 = 8080, backend: zco.Backend = .epoll };

/// parseOptions reads "--port N" and "--port=N", and the same of --backend. It returns null when there is anything else.
fn parseOptions(arguments: []const [*:0]const u8) ?Options {
    var options: Options = .{};
    var i: usize = 0;
    while (i < arguments.len) : (i += 1) {
        const argument = std.mem.span(arguments[i]);
        const equals = std.mem.indexOfScalar(u8, argument, '=');
        const name = argument[0 .. equals orelse argument.len];
        const value = if (equals) |at| argument[at + 1 ..] else value: {
            i += 1;
            if (i == arguments.len) return null;
            break :value std.mem.span(arguments[i]);
        };
        if (std.mem.eql(u8, name, "--port")) {
            for (value) |digit| if (!std.ascii.isDigit(digit)) return null;
            options.port = std.fmt.parseInt(u16, value, 10) catch return null;
            if (options.port == 0) return null;
        } else if (std.mem.eql(u8, name, "--backend")) {
            options.backend = std.meta.stringToEnum(zco.Backend, value) orelse return null;
        } else return null;
    }
    return options;
}

/// listen takes any free port for 0.
pub fn listen(port: u16) !i32 {
    const fd = try posix.socket(linux.AF.INET, linux.SOCK.STREAM | linux.SOCK.NONBLOCK | linux.SOCK.CLOEXEC, 0);
    const one = std.mem.toBytes(@as(c_int, 1));
    try posix.setsockopt(fd, linux.SOL.SOCKET, linux.SO.REUSEADDR, &one);
    try posix.setsockopt(fd, linux.IPPROTO.TCP, linux.TCP.NODELAY, &one); // connections inherit it
    const address = std.net.Address.initIp4(.{ 0, 0, 0, 0 }, port);
    try posix.bind(fd, &address.any, address.getOsSockLen());
    try posix.listen(fd, backlog);
    return fd;
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

/// serve returns after SIGTERM.
pub fn serve(listener: i32, poller: zco.Poller, patience: Patience) !void {
    var server: Server = .{ .poller = poller, .listener = .{ .fd = listener }, .signals = .{ .fd = try catchEnd() }, .patience = patience };
    const s = &server.scheduler;
    s.poller = &server.poller;
    try zco.Slice.start(s);
    try s.spawn(Server.accept, .{&server}, .{ .priority = accept_priority });
    try s.spawn(Server.end, .{&server}, .{ .priority = end_priority });
    try s.spawn(Server.count, .{&server}, .{ .priority = end_priority, .background = true });
    try s.run();
}

fn start(options: Options) !void {
    try raiseFiles();
    const listener = try listen(options.port);
    const poller = try zco.Poller.init(options.backend);
    var text: [96]u8 = undefined;
    const greeting = try std.fmt.bufPrint(&text, "zco: port {d}, backend {s}\n", .{ options.port, @tagName(poller) });
    std.io.getStdOut().writeAll(greeting) catch {}; // nobody has to listen
    try serve(listener, poller, .{});
}

pub fn main() u8 {
    const options = parseOptions(std.os.argv[1..]) orelse {
        std.io.getStdErr().writeAll("usage: zco [--port PORT] [--backend epoll|io_uring]\n") catch {};
        return 2;
    };
    start(options) catch |err| {
        var text: [128]u8 = undefined;
        const sentence = std.fmt.bufPrint(&text, "zco: port {d}: {s}\n", .{ options.port, @errorName(err) }) catch "zco: an error\n";
        std.io.getStdErr().writeAll(sentence) catch {};
        return 1;
    };
    return 0;
}
