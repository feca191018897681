const std = @import("std");
const builtin = @import("builtin");
const http = @import("http.zig");
const Request = http.Request;

fn expect(wanted: Request, head: []const u8) !void {
    try std.testing.expectEqual(head.len, http.headEnd(head, 0).?);
    std.testing.expectEqual(wanted, http.parse(head)) catch |err| {
        std.debug.print("the head was: {s}\n", .{head});
        return err;
    };
}

fn expectRefused(status: http.Status, heads: []const []const u8) !void {
    for (heads) |head| try expect(.{ .status = status, .close = true }, head);
}

test "a GET of anything is fine, and is kept alive" {
    try expect(.{}, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    try expect(.{}, "GET / HTTP/1.1\r\nHost: bench\r\nX:\r\nA-b: c:d\t e\xff\r\n\r\n");
    try expect(.{}, "GET http://bench/any?thing HTTP/1.1\r\nHost: bench\r\nContent-Length:  00 \r\n\r\n");
    try expect(.{ .stats = true }, "GET /stats HTTP/1.1\r\nHost: a\r\n\r\n");
}

test "a HEAD is answered as a GET is, without the body" {
    try expect(.{ .head = true }, "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n");
    try expect(.{ .head = true, .old = true, .close = true }, "HEAD / HTTP/1.0\r\n\r\n");
    try std.testing.expectEqualStrings("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n", http.answer(.{ .head = true }));
    var out: [1024]u8 = undefined;
    try std.testing.expectEqualStrings(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n",
        try http.statsAnswer(&out, .{ .stats = true, .head = true }, .{ .a = 1 }),
    );
}

test "the client says whether its connection is kept" {
    try expect(.{ .close = true }, "GET / HTTP/1.1\r\nHost: a\r\nCONNECTION:  Close\r\n\r\n");
    try expect(.{ .close = true }, "GET / HTTP/1.1\r\nHost: a\r\nConnection: keep-alive , close\r\n\r\n");
    try expect(.{}, "GET / HTTP/1.1\r\nHost: a\r\nConnection: closed\r\n\r\n");
    try expect(.{ .old = true, .close = true }, "GET / HTTP/1.0\r\n\r\n");
    try expect(.{ .old = true }, "GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n");
    try expect(.{ .old = true, .close = true }, "GET / HTTP/1.0\r\nConnection: close\r\nConnection: keep-alive\r\n\r\n");
}

test "another method is refused" {
    try expectRefused(.bad_method, &.{ "POST / HTTP/1.1\r\n\r\n", "get / HTTP/1.1\r\n\r\n", "GETT / HTTP/1.0\r\n\r\n", "OPTIONS * HTTP/1.1\r\n\r\n" });
}

test "a body is refused" {
    try expectRefused(.bad_body, &.{
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
    });
}

test "nonsense is refused" {
    try expectRefused(.bad_request, &.{
        "\r\n\r\n",                                                                     "nonsense\r\n\r\n",
        "GET /\r\n\r\n",                                                                "GET / HTTP/2.0\r\n\r\n",
        "GET / HTTP/1.2\r\n\r\n",                                                       "GET HTTP/1.1\r\n\r\n",
        "GET  HTTP/1.1\r\n\r\n",                                                        "GET  / HTTP/1.1\r\n\r\n",
        "GET / / HTTP/1.1\r\n\r\n",                                                     " GET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "G(T / HTTP/1.1\r\n\r\n",                                                       "GET / HTTP/1.1\r\nHost: a\r\nHost\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost : a\r\n\r\n",                                "GET / HTTP/1.1\r\nHost: a\r\n: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n",                              "GET / HTTP/1.1\r\nHost: a\r\nX: a\x00b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",                                 "GET / HTTP/1.1\r\nHost: a\r\nX: a\nY: b\r\n\r\n",
        "GET / HTTP/1.1\nX: a\r\n\r\n",                                                 "GET / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n",
        "GET /\t HTTP/1.1\r\nHost: a\r\n\r\n",                                          "GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",                                                       "GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\ncontent-length: 10\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +0\r\n\r\n",                      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
    });
}

test "the end of a head is found wherever it is cut" {
    const data = "GET / HTTP/1.1\r\nHost: bench\r\n\r\nGET";
    for (0..data.len + 1) |cut| {
        const first = http.headEnd(data[0..cut], 0);
        try std.testing.expectEqual(if (cut < data.len - 3) null else @as(?usize, data.len - 3), first);
        if (first == null) try std.testing.expectEqual(data.len - 3, http.headEnd(data, cut).?);
    }
}

test "answers are whole, and say their length" {
    const statuses = [_]http.Status{ .ok, .bad_request, .bad_method, .bad_body, .bad_head };
    for (statuses) |status| {
        const text = http.answer(.{ .status = status, .close = true });
        try std.testing.expect(std.mem.startsWith(u8, text, "HTTP/1.1 "));
        try std.testing.expect(std.mem.indexOf(u8, text, "\r\nConnection: close\r\n") != null);
        try std.testing.expect(std.mem.endsWith(u8, text, if (status == .ok) "\r\n\r\nhelloworld" else "Content-Length: 0\r\nConnection: close\r\n\r\n"));
    }
    try std.testing.expectEqualStrings("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nhelloworld", http.answer(.{}));
    var out: [1024]u8 = undefined;
    try std.testing.expectEqualStrings(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\nConnection: close\r\n\r\n{\"a\":1}\n",
        try http.statsAnswer(&out, .{ .stats = true, .close = true }, .{ .a = 1 }),
    );
}

/// judge is a slow and simple reading of the same rules, for the requests that are answered 200.
fn judge(head: []const u8) bool {
    var lines = std.mem.splitSequence(u8, head[0 .. head.len - 4], "\r\n");
    const first = lines.next().?;
    const method_len: usize = if (std.mem.startsWith(u8, first, "GET ")) 4 else 5;
    if (method_len == 5 and !std.mem.startsWith(u8, first, "HEAD ")) return false;
    if (!std.mem.endsWith(u8, first, " HTTP/1.1") and !std.mem.endsWith(u8, first, " HTTP/1.0")) return false;
    if (first.len < method_len + 10) return false;
    for (first[method_len .. first.len - 9]) |c| if (c <= ' ' or c > 126) return false;
    for (head[0 .. head.len - 4], 0..) |c, i| {
        if (c == '\r' and head[i + 1] != '\n') return false;
        if (c == '\n' and (i == 0 or head[i - 1] != '\r')) return false;
        if ((c < 32 and c != '\t' and c != '\r' and c != '\n') or c == 127) return false;
    }
    var hosts: usize = 0;
    var lengths: usize = 0;
    while (lines.next()) |line| {
        const colon = std.mem.indexOfScalar(u8, line, ':') orelse return false;
        if (colon == 0) return false;
        for (line[0..colon]) |c| if (std.mem.indexOfScalar(u8, "\t \"(),/;<=>?@[\\]{}", c) != null or c > 127) return false;
        if (std.ascii.eqlIgnoreCase(line[0..colon], "transfer-encoding")) return false;
        if (std.ascii.eqlIgnoreCase(line[0..colon], "host")) hosts += 1;
        if (std.ascii.eqlIgnoreCase(line[0..colon], "content-length")) {
            lengths += 1;
            const value = std.mem.trim(u8, line[colon + 1 ..], " \t");
            if (value.len == 0 or std.mem.indexOfNone(u8, value, "0") != null) return false;
        }
    }
    return lengths <= 1 and (hosts == 1 or (hosts == 0 and std.mem.endsWith(u8, first, "0")));
}

const corpus = [_][]const u8{
    "GET / HTTP/1.1\r\nHost: bench\r\n\r\n",
    "GET /stats HTTP/1.0\r\nConnection: Keep-Alive\r\nHost: bench\r\n\r\n",
    "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close, x\r\n\r\n",
    "POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\nContent-Length: 12\r\n\r\n",
};
const words = [_][]const u8{ "\r\n", "\r", "\n", "\r\n\r\n", ":", " ", "\t", "\x00", "GET ", "HTTP/1.1", "Connection:", "close", "Content-Length: 0", "Host: a", "HEAD ", ",", "\xff" };

fn mutate(r: std.Random, out: []u8) []u8 {
    const seed = corpus[r.uintLessThan(usize, corpus.len)];
    var len = seed.len;
    @memcpy(out[0..len], seed);
    for (0..r.uintLessThan(usize, 5)) |_| {
        const at = r.uintLessThan(usize, len);
        switch (r.uintLessThan(u8, 4)) {
            0 => out[at] = r.int(u8),
            1 => out[at] ^= @as(u8, 1) << r.int(u3),
            2 => { // a piece is lost
                const lost = @min(r.uintLessThan(usize, 8), len - at - 1);
                std.mem.copyForwards(u8, out[at .. len - lost], out[at + lost .. len]);
                len -= lost;
            },
            else => { // a word is added
                const word = words[r.uintLessThan(usize, words.len)];
                std.mem.copyBackwards(u8, out[at + word.len ..][0 .. len - at], out[at..len]);
                @memcpy(out[at..][0..word.len], word);
                len += word.len;
            },
        }
    }
    return out[0..len];
}

test "mutations of requests break nothing, and are judged as a simpler parser judges them" {
    const mutations: usize = if (builtin.mode == .Debug) 100_000 else 500_000;
    var random = std.Random.DefaultPrng.init(3);
    const r = random.random();
    var accepted: usize = 0;
    for (0..mutations) |_| {
        var space: [1024]u8 = undefined;
        const data = mutate(r, &space);
        const len = http.headEnd(data, 0) orelse {
            try std.testing.expectEqual(null, std.mem.indexOf(u8, data, "\r\n\r\n"));
            continue;
        };
        try std.testing.expectEqual(std.mem.indexOf(u8, data, "\r\n\r\n").? + 4, len);
        const request = http.parse(data[0..len]);
        accepted += @intFromBool(request.status == .ok);
        if (request.status != .ok) try std.testing.expect(request.close);
        std.testing.expectEqual(judge(data[0..len]), request.status == .ok) catch |err| {
            std.debug.print("the head was: {s}\n", .{data[0..len]});
            return err;
        };
        try std.testing.expect(http.answer(request).len > 0);
    }
    try std.testing.expect(accepted > mutations / 10);
}
