//! What a request is, and what the answer to it says. It does no input or output.
const std = @import("std");

/// A request head may have so many bytes.
pub const head_max = 8192;

pub const Status = enum { ok, bad_request, bad_method, late, bad_body, bad_head };

pub const Request = struct {
    status: Status = .ok,
    /// The connection ends with the answer.
    close: bool = false,
    /// An HTTP/1.0 client is told that its connection is kept.
    old: bool = false,
    /// The request is for the statistics.
    stats: bool = false,
    /// The answer comes without its body.
    head: bool = false,
};

/// headEnd is the length of the head that data begins with, blank line included; null when its end has not come yet. The first
/// `seen` bytes are known not to hold it.
pub fn headEnd(data: []const u8, seen: usize) ?usize {
    var from = seen -| 3; // the end may lie across two reads
    while (std.mem.indexOfScalarPos(u8, data, from, '\n')) |i| {
        if (i >= 3 and std.mem.eql(u8, data[i - 3 .. i], "\r\n\r")) return i + 1;
        from = i + 1;
    }
    return null;
}

/// parse judges a head that ends with a blank line.
pub fn parse(head: []const u8) Request {
    std.debug.assert(std.mem.endsWith(u8, head, "\r\n\r\n"));
    if (hasStrayControl(head)) return refuse(.bad_request);
    var lines: Lines = .{ .rest = head };
    const first = lines.next() orelse return refuse(.bad_request);
    const blank = std.mem.indexOfScalar(u8, first, ' ') orelse return refuse(.bad_request);
    const method = first[0..blank];
    const version_at = first.len -| " HTTP/1.1".len;
    if (version_at <= blank or !isToken(method)) return refuse(.bad_request);
    const target = first[blank + 1 .. version_at];
    if (!isVisible(target)) return refuse(.bad_request);
    const version = first[version_at..];
    if (!std.mem.eql(u8, version[0..8], " HTTP/1.") or (version[8] != '1' and version[8] != '0')) return refuse(.bad_request);
    const is_head = std.mem.eql(u8, method, "HEAD");
    if (!is_head and !std.mem.eql(u8, method, "GET")) return refuse(.bad_method);
    return parseFields(&lines, .{ .old = version[8] == '0', .stats = std.mem.eql(u8, target, "/stats"), .head = is_head });
}

fn parseFields(lines: *Lines, begun: Request) Request {
    var request = begun;
    var keep = false;
    var has_host = false;
    var has_length = false;
    while (lines.next()) |line| {
        const colon = std.mem.indexOfScalar(u8, line, ':') orelse return refuse(.bad_request);
        const name = line[0..colon];
        const value = line[colon + 1 ..];
        if (!isToken(name)) return refuse(.bad_request);
        switch (name.len) {
            "host".len => if (std.ascii.eqlIgnoreCase(name, "host")) {
                if (has_host) return refuse(.bad_request);
                has_host = true;
            },
            "connection".len => if (std.ascii.eqlIgnoreCase(name, "connection")) {
                request.close = request.close or lists(value, "close");
                keep = keep or lists(value, "keep-alive");
            },
            "content-length".len => if (std.ascii.eqlIgnoreCase(name, "content-length")) {
                const length = std.mem.trim(u8, value, " \t");
                for (length) |digit| if (!std.ascii.isDigit(digit)) return refuse(.bad_request);
                if (length.len == 0 or has_length) return refuse(.bad_request);
                has_length = true;
                if (std.mem.indexOfNone(u8, length, "0") != null) return refuse(.bad_body);
            },
            "transfer-encoding".len => if (std.ascii.eqlIgnoreCase(name, "transfer-encoding")) return refuse(.bad_body),
            else => {},
        }
    }
    if (!request.old and !has_host) return refuse(.bad_request);
    if (request.old and !keep) request.close = true;
    return request;
}

fn refuse(status: Status) Request {
    return .{ .status = status, .close = true };
}

/// Lines are the lines before the blank one, without their ends.
const Lines = struct {
    rest: []const u8,

    fn next(l: *Lines) ?[]const u8 {
        const end = std.mem.indexOfScalar(u8, l.rest, '\r') orelse return null;
        if (end == 0) return null;
        defer l.rest = l.rest[end + 2 ..];
        return l.rest[0..end];
    }
};

/// hasStrayControl finds control characters other than tabs and the "\r\n" that end lines.
fn hasStrayControl(head: []const u8) bool {
    var stray: u8 = 0;
    for (head[1..], head[0 .. head.len - 1]) |c, before| {
        const control = c < ' ' and c != '\t' and c != '\r' and c != '\n';
        stray |= @intFromBool(control or c == 0x7f or (before == '\r') != (c == '\n'));
    }
    return stray != 0 or head[0] < ' ' or head[0] == 0x7f;
}

fn isToken(text: []const u8) bool {
    for (text) |c| if (!token_characters[c]) return false;
    return text.len > 0;
}

fn isVisible(text: []const u8) bool {
    for (text) |c| if (c <= ' ' or c >= 0x7f) return false;
    return text.len > 0;
}

const token_characters: [256]bool = characters: {
    var table: [256]bool = @splat(false);
    for ("!#$%&'*+-.^_`|~0123456789") |c| table[c] = true;
    for ('a'..'z' + 1) |c| {
        table[c] = true;
        table[std.ascii.toUpper(c)] = true;
    }
    break :characters table;
};

/// lists looks for a word among those that commas separate, without regard to case.
fn lists(value: []const u8, word: []const u8) bool {
    var words = std.mem.splitScalar(u8, value, ',');
    while (words.next()) |each| {
        if (std.ascii.eqlIgnoreCase(std.mem.trim(u8, each, " \t"), word)) return true;
    }
    return false;
}

const answer_head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n";
const body = "helloworld";

/// answer is the whole answer to a request that is not for the statistics.
pub fn answer(request: Request) []const u8 {
    return switch (request.status) {
        .ok => {
            const whole = if (request.close) answer_head ++ "Connection: close\r\n\r\n" ++ body else if (request.old) answer_head ++ "Connection: keep-alive\r\n\r\n" ++ body else answer_head ++ "\r\n" ++ body;
            return whole[0 .. whole.len - if (request.head) body.len else 0];
        },
        .bad_request => refusal("400 Bad Request", ""),
        .bad_method => refusal("405 Method Not Allowed", "Allow: GET, HEAD\r\n"),
        .late => refusal("408 Request Timeout", ""),
        .bad_body => refusal("413 Content Too Large", ""),
        .bad_head => refusal("431 Request Header Fields Too Large", ""),
    };
}

/// busy is what a connection is told that there is no room for.
pub const busy = refusal("503 Service Unavailable", "");

fn refusal(comptime status: []const u8, comptime more: []const u8) []const u8 {
    return "HTTP/1.1 " ++ status ++ "\r\n" ++ more ++ "Content-Length: 0\r\nConnection: close\r\n\r\n";
}

/// stats_max is room for an answer with the statistics.
pub const stats_max = 4352;

/// statsAnswer writes the answer to a request for the statistics.
pub fn statsAnswer(out: []u8, request: Request, stats: anytype) std.fmt.BufPrintError![]const u8 {
    var text: [4096]u8 = undefined;
    var stream = std.io.fixedBufferStream(&text);
    std.json.stringify(stats, .{}, stream.writer()) catch return error.NoSpaceLeft;
    const connection = if (request.close) "Connection: close\r\n" else if (request.old) "Connection: keep-alive\r\n" else "";
    const whole = try std.fmt.bufPrint(out, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {d}\r\n{s}\r\n{s}\n", .{ stream.pos + 1, connection, stream.getWritten() });
    return whole[0 .. whole.len - if (request.head) stream.pos + 1 else 0];
}
