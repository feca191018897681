const std = @import("std");
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
