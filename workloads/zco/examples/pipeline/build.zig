const std = @import("std");

pub fn build(b: *std.Build) void {
    // The baseline has no AVX, whose registers zco does not keep. ReleaseSafe touches each page of a frame on x86-64, so that no guard page
    // is jumped over.
    const target = b.standardTargetOptions(.{ .default_target = .{ .cpu_model = .baseline } });
    const optimize = b.standardOptimizeOption(.{ .preferred_optimize_mode = .ReleaseSafe });
    const zco = b.dependency("zco", .{ .target = target, .optimize = optimize });

    const program = b.addExecutable(.{ .name = "pipeline", .root_module = b.createModule(.{
        .root_source_file = b.path("main.zig"),
        .target = target,
        .optimize = optimize,
        .imports = &.{.{ .name = "zco", .module = zco.module("zco") }},
    }) });
    b.installArtifact(program);
}
