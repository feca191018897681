//! zco as a module for other packages; examples/pipeline depends on it. The Makefile builds the server and what is measured.
const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    _ = b.addModule("zco", .{ .root_source_file = b.path("src/zco.zig"), .target = target, .optimize = optimize });
}
