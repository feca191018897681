//! zco: coroutines with stacks of their own, on one thread.
pub const Scheduler = @import("scheduler.zig").Scheduler;
pub const Options = @import("scheduler.zig").Options;
pub const now = @import("scheduler.zig").now;
pub const Channel = @import("channel.zig").Channel;
pub const WaitGroup = @import("wait_group.zig").WaitGroup;
pub const select = @import("select.zig").select;
pub const after = @import("select.zig").after;
pub const Task = @import("task.zig").Task;
pub const Deadline = @import("task.zig").Deadline;
pub const Slice = @import("preempt.zig").Slice;
pub const Poller = @import("poller.zig").Poller;
pub const Backend = @import("poller.zig").Backend;
pub const Source = @import("poller.zig").Source;
