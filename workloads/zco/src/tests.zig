//! All tests. Zig's own checks stand for the sanitizers of C: in Debug and ReleaseSafe every index, slice, cast and sum is checked.
comptime {
    _ = @import("queue_test.zig");
    _ = @import("context_test.zig");
    _ = @import("scheduler_test.zig");
    _ = @import("channel_test.zig");
    _ = @import("wait_group_test.zig");
    _ = @import("select_test.zig");
    _ = @import("task_test.zig");
    _ = @import("preempt_test.zig");
    _ = @import("poller_test.zig");
    _ = @import("http_test.zig");
    _ = @import("counts_test.zig");
    _ = @import("server_test.zig");
    _ = @import("bench_test.zig");
}
