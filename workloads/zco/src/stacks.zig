//! Stacks with a guard below, which nobody may touch, kept for the next coroutine when one has ended. A stack's upper end holds
//! the coroutine itself, so that a coroutine is one mapping and no allocation.
const std = @import("std");
const posix = std.posix;

/// Every mapping ends at a multiple of it. The kernel's pages may be larger.
const page = std.heap.page_size_min;

/// Bytes of the guard: a page. The compiler touches each page of a frame, so that none jumps over it.
pub const guard = std.heap.page_size_max;

/// Stacks needs of T a field `next: *T`.
pub fn Stacks(comptime T: type) type {
    return struct {
        /// Bytes of each stack, without its guard: a multiple of the kernel's pages.
        size: usize = 64 * 1024,
        /// Stacks without a coroutine that are kept. What is beyond goes back to the kernel.
        keep: usize = 1024,
        free: ?*T = null,
        kept: usize = 0,
        mapped: usize = 0,
        peak: usize = 0,

        const Self = @This();

        /// Coroutines would all use the same sets of the processor's caches if they began at the same place of a page.
        const colours = 16;
        const colour_size = 256;

        /// take returns memory for a coroutine at the upper end of a stack. It is not initialised.
        pub fn take(s: *Self) error{OutOfMemory}!*T {
            if (s.free) |item| {
                s.kept -= 1;
                s.free = if (s.kept > 0) item.next else null;
                return item;
            }
            const memory = posix.mmap(null, guard + s.size, posix.PROT.NONE, .{ .TYPE = .PRIVATE, .ANONYMOUS = true, .NORESERVE = true }, -1, 0) catch return error.OutOfMemory;
            posix.mprotect(memory[guard..], posix.PROT.READ | posix.PROT.WRITE) catch {
                posix.munmap(memory);
                return error.OutOfMemory;
            };
            const colour = (s.mapped % colours) * colour_size;
            s.mapped += 1;
            s.peak = @max(s.peak, s.mapped);
            const top = @intFromPtr(memory.ptr) + memory.len - colour - @sizeOf(T);
            return @ptrFromInt(std.mem.alignBackward(usize, top, 64));
        }

        /// give takes back what take gave. It may be the stack that the caller runs on, until the next take or trim.
        pub fn give(s: *Self, item: *T) void {
            item.next = s.free orelse item;
            s.free = item;
            s.kept += 1;
        }

        /// trim unmaps all kept stacks beyond the limit. The caller must not run on one.
        pub fn trim(s: *Self, limit: usize) void {
            while (s.kept > limit) {
                const item = s.free.?;
                s.kept -= 1;
                s.free = if (s.kept > 0) item.next else null;
                s.mapped -= 1;
                posix.munmap(s.mapping(item));
            }
        }

        /// lowest is the first usable address of a coroutine's stack; the guard ends there.
        pub fn lowest(s: *const Self, item: *const T) usize {
            const end = std.mem.alignForward(usize, @intFromPtr(item) + @sizeOf(T), page);
            return end - s.size;
        }

        fn mapping(s: *const Self, item: *T) []align(page) u8 {
            const start: [*]align(page) u8 = @ptrFromInt(s.lowest(item) - guard);
            return start[0 .. guard + s.size];
        }
    };
}
