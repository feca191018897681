//! One connection: a coroutine that reads requests and writes answers until one side has had enough.
const std = @import("std");
const linux = std.os.linux;
const zco = @import("zco.zig");
const http = @import("http.zig");
const Server = @import("server.zig").Server;

/// Answers written at once.
const batch = 64;
/// Bytes read and thrown away after the last answer.
const drain_max = 1024 * 1024;

/// Nobody cancels a connection: its descriptor is shut down, so that what has come is answered.
const Error = error{ Broken, Canceled };

pub const Connection = struct {
    server: *Server,
    source: zco.Source,
    /// In the server's list of connections.
    before: ?*Connection = null,
    after: ?*Connection = null,
    /// The tick of the server at which it lets go of a client that has not done its part by then.
    deadline: u64 = 0,
    /// It has.
    late: bool = false,
    /// When the last bytes came, where their answers are timed.
    read_at: ?u64 = null,

    /// serve is the coroutine of a connection.
    pub fn serve(server: *Server, fd: i32) void {
        var c: Connection = .{ .server = server, .source = .{ .fd = fd } };
        c.allow(server.patience.request);
        server.opened(&c);
        c.converse() catch {}; // the client has gone
        server.closed(&c);
        _ = linux.close(fd);
    }

    /// allow gives the client so many ticks for what it has to do next, and the rest of the one that has begun.
    fn allow(c: *Connection, ticks: u32) void {
        c.deadline = c.server.ticks + ticks + 1;
    }

    /// letGo ends the input, and, if that was to no avail because the connection waits to write, the output with the next tick.
    pub fn letGo(c: *Connection) void {
        _ = linux.shutdown(c.source.fd, if (c.late) linux.SHUT.RDWR else linux.SHUT.RD);
        c.late = true;
    }

    fn converse(c: *Connection) Error!void {
        @setRuntimeSafety(false); // or 8 KiB would be filled with a pattern for each connection; all slicing is in what it calls
        var head: [http.head_max]u8 = undefined;
        return c.exchange(&head);
    }

    /// exchange reads only when everything before is answered: neither input nor output can grow.
    noinline fn exchange(c: *Connection, head: []u8) Error!void {
        const s = &c.server.scheduler;
        var used: usize = 0;
        while (true) {
            const n = try c.server.poller.read(s, &c.source, head[used..]);
            c.read_at = if (n > 0) c.server.readAt() else null;
            if (n == 0) return if (c.late and used > 0) c.finish(http.answer(.{ .status = .late }), false);
            const seen = used;
            used += n;
            const taken = try c.answerAll(head[0..used], seen) orelse return;
            if (taken == used) {
                used = 0;
                c.allow(c.server.patience.idle);
                continue;
            }
            if (seen == 0 or taken > 0) c.allow(c.server.patience.request);
            used -= taken;
            std.mem.copyForwards(u8, head[0..used], head[taken..][0..used]);
            if (used == head.len) return c.finish(http.answer(.{ .status = .bad_head }), true);
        }
    }

    /// answerAll answers the complete requests in data and returns how many bytes they have; null when the connection is over.
    /// Equal answers are gathered and written at once.
    fn answerAll(c: *Connection, data: []const u8, seen_before: usize) Error!?usize {
        var begin: usize = 0;
        var seen = seen_before;
        var kind: http.Request = .{};
        var owed: usize = 0;
        while (http.headEnd(data[begin..], seen)) |len| {
            const request = http.parse(data[begin..][0..len]);
            begin += len;
            seen = 0;
            if (owed > 0 and (owed == batch or !std.meta.eql(request, kind))) {
                try c.pay(kind, owed);
                owed = 0;
            }
            kind = request;
            owed += 1;
            if (request.close) {
                try c.payLast(kind, begin < data.len);
                return null;
            }
        }
        if (owed > 0) try c.pay(kind, owed);
        return begin;
    }

    fn pay(c: *Connection, kind: http.Request, owed: usize) Error!void {
        const server = c.server;
        server.answered(owed);
        c.allow(server.patience.answers);
        if (kind.stats) {
            var text: [http.stats_max]u8 = undefined;
            for (0..owed) |_| try c.write(server.statsAnswer(&text, kind), 1);
            return;
        }
        const one = http.answer(kind);
        const many = if (kind.head)
            (if (kind.old) comptime repeated(.{ .old = true, .head = true }) else comptime repeated(.{ .head = true }))
        else
            (if (kind.old) comptime repeated(.{ .old = true }) else comptime repeated(.{}));
        try c.write(many[0 .. owed * one.len], owed);
    }

    /// write hands answers to the kernel, which may have to wait for the client first.
    fn write(c: *Connection, answers: []const u8, n: usize) Error!void {
        try c.server.poller.write(&c.server.scheduler, &c.source, answers);
        c.server.handedOver(c.read_at, n);
    }

    /// payLast writes the connection's last answer.
    fn payLast(c: *Connection, kind: http.Request, more: bool) Error!void {
        if (kind.status == .ok) c.server.answered(1);
        if (!kind.stats) return c.finish(http.answer(kind), more or kind.status != .ok);
        var text: [http.stats_max]u8 = undefined;
        return c.finish(c.server.statsAnswer(&text, kind), more);
    }

    /// finish writes the last answer. Closing with unread input would reset the connection and might take the answer away from the
    /// client: where there may be more, it is read until the client has closed too.
    fn finish(c: *Connection, last: []const u8, more: bool) Error!void {
        const s = &c.server.scheduler;
        c.allow(c.server.patience.answers);
        try c.write(last, 1);
        if (!more) return;
        c.allow(c.server.patience.request);
        _ = linux.shutdown(c.source.fd, linux.SHUT.WR);
        var rubbish: [1024]u8 = undefined;
        var drained: usize = 0;
        while (drained < drain_max) {
            const n = try c.server.poller.read(s, &c.source, &rubbish);
            if (n == 0) return;
            drained += n;
        }
    }
};

/// repeated is a batch of the same answer, in the program's constants: a pipeline's answers are then one piece.
fn repeated(comptime request: http.Request) []const u8 {
    return comptime http.answer(request) ** batch;
}
