const std = @import("std");
const aarch64 = @import("aarch64.zig");

fn record(magic: u32, size: u32) [8]u8 {
    return std.mem.toBytes(magic) ++ std.mem.toBytes(size);
}

test "a signal's frame is whole when no record of it says that there is more behind it" {
    const vectors = record(0x46508001, 24) ++ [_]u8{7} ** 16;
    const extra = record(0x45585401, 32) ++ [_]u8{7} ** 24;
    const end = record(0, 0);
    try std.testing.expect(aarch64.whole(&(vectors ++ end)));
    try std.testing.expect(aarch64.whole(&(vectors ++ vectors ++ end ++ extra)));
    try std.testing.expect(!aarch64.whole(&(vectors ++ extra ++ end)));
    try std.testing.expect(!aarch64.whole(&vectors));
    try std.testing.expect(!aarch64.whole(&(record(1, 0) ++ end)));
    try std.testing.expect(!aarch64.whole(&(record(1, 64) ++ end)));
}

comptime {
    // Both begin and end with the registers that they must keep themselves: zco_test_save leaves them on the stack.
    asm (
        \\ .text
        \\ .p2align 2
        \\ .macro zco_test_save
        \\ stp x29, x30, [sp, #-176]!
        \\ stp x19, x20, [sp, #16]
        \\ stp x21, x22, [sp, #32]
        \\ stp x23, x24, [sp, #48]
        \\ stp x25, x26, [sp, #64]
        \\ stp x27, x28, [sp, #80]
        \\ stp d8, d9, [sp, #96]
        \\ stp d10, d11, [sp, #112]
        \\ stp d12, d13, [sp, #128]
        \\ stp d14, d15, [sp, #144]
        \\ .endm
        \\ .macro zco_test_restore
        \\ ldp d14, d15, [sp, #144]
        \\ ldp d12, d13, [sp, #128]
        \\ ldp d10, d11, [sp, #112]
        \\ ldp d8, d9, [sp, #96]
        \\ ldp x27, x28, [sp, #80]
        \\ ldp x25, x26, [sp, #64]
        \\ ldp x23, x24, [sp, #48]
        \\ ldp x21, x22, [sp, #32]
        \\ ldp x19, x20, [sp, #16]
        \\ ldp x29, x30, [sp], #176
        \\ .endm
        \\
        \\ // x0 is the seed, x1 the function, x2 its argument.
        \\ .globl zco_test_call
        \\ .type zco_test_call, %function
        \\zco_test_call:
        \\ zco_test_save
        \\ str x0, [sp, #160]
        \\ .irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
        \\ add x\n, x0, #\n
        \\ .endr
        \\ .irp n, 8, 9, 10, 11, 12, 13, 14, 15
        \\ add x9, x0, #(100 + \n)
        \\ fmov d\n, x9
        \\ .endr
        \\ mov x0, x2
        \\ blr x1
        \\ ldr x9, [sp, #160]
        \\ mov x0, xzr
        \\ .irp n, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29
        \\ add x10, x9, #\n
        \\ eor x10, x10, x\n
        \\ orr x0, x0, x10
        \\ .endr
        \\ .irp n, 8, 9, 10, 11, 12, 13, 14, 15
        \\ add x10, x9, #(100 + \n)
        \\ fmov x11, d\n
        \\ eor x10, x10, x11
        \\ orr x0, x0, x10
        \\ .endr
        \\ zco_test_restore
        \\ ret
        \\ .size zco_test_call, . - zco_test_call
        \\
        \\ // x0 is the seed, x1 says when it is over, x2 holds the flags, x3 what is compared, x4 what was wrong.
        \\ .globl zco_test_hold
        \\ .type zco_test_hold, %function
        \\zco_test_hold:
        \\ zco_test_save
        \\ ubfiz x2, x0, #28, #4
        \\ mov x4, xzr
        \\ .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \\ add x3, x0, #(100 + \n)
        \\ fmov d\n, x3
        \\ add x3, x0, #(200 + \n)
        \\ mov v\n\().d[1], x3
        \\ .endr
        \\ .irp n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
        \\ add x\n, x0, #\n
        \\ .endr
        \\1:
        \\ msr nzcv, x2
        \\ b 2f // an emulator may take the signal at a jump only
        \\2:
        \\ mrs x3, nzcv
        \\ eor x3, x3, x2
        \\ orr x4, x4, x3
        \\ ldrb w3, [x1]
        \\ cbz w3, 1b
        \\ .irp n, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30
        \\ add x3, x0, #\n
        \\ eor x3, x3, x\n
        \\ orr x4, x4, x3
        \\ .endr
        \\ .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        \\ add x3, x0, #(100 + \n)
        \\ fmov x5, d\n
        \\ eor x3, x3, x5
        \\ orr x4, x4, x3
        \\ add x3, x0, #(200 + \n)
        \\ mov x5, v\n\().d[1]
        \\ eor x3, x3, x5
        \\ orr x4, x4, x3
        \\ .endr
        \\ mov x0, x4
        \\ zco_test_restore
        \\ ret
        \\ .size zco_test_hold, . - zco_test_hold
    );
}
