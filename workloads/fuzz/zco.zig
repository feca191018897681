//! zco's parser, for a fuzzer in C.
const http = @import("http");

/// What a request is, in C.
const Verdict = extern struct { status: u8, close: bool, old: bool, head: bool };

/// zco_head_end is the length of the head that data begins with; 0 when its end has not come yet.
export fn zco_head_end(data: [*]const u8, size: usize, seen: usize) usize {
    return http.headEnd(data[0..size], seen) orelse 0;
}

/// zco_parse judges a head that ends with a blank line.
export fn zco_parse(data: [*]const u8, size: usize) Verdict {
    const request = http.parse(data[0..size]);
    return .{ .status = @intFromEnum(request.status), .close = request.close, .old = request.old, .head = request.head };
}
