comptime {
    asm (
        \\ .text
        \\ .macro zco_test_save
        \\ pushq %rbp
        \\ pushq %rbx
        \\ pushq %r12
        \\ pushq %r13
        \\ pushq %r14
        \\ pushq %r15
        \\ pushq %rdi
        \\ .endm
        \\ .macro zco_test_restore
        \\ popq %rdi
        \\ popq %r15
        \\ popq %r14
        \\ popq %r13
        \\ popq %r12
        \\ popq %rbx
        \\ popq %rbp
        \\ .endm
        \\ .macro zco_test_fill register, n
        \\ leaq \n(%rdi), \register
        \\ .endm
        \\ .macro zco_test_compare register, n
        \\ leaq \n(%rdi), %rcx
        \\ xorq \register, %rcx
        \\ orq %rcx, %rax
        \\ .endm
        \\
        \\ // %rdi is the seed, %rsi the function, %rdx its argument.
        \\ .globl zco_test_call
        \\ .type zco_test_call, @function
        \\zco_test_call:
        \\ zco_test_save
        \\ zco_test_fill %rbx, 1
        \\ zco_test_fill %rbp, 2
        \\ zco_test_fill %r12, 12
        \\ zco_test_fill %r13, 13
        \\ zco_test_fill %r14, 14
        \\ zco_test_fill %r15, 15
        \\ movq %rdx, %rdi
        \\ callq *%rsi
        \\ movq (%rsp), %rdi
        \\ xorl %eax, %eax
        \\ zco_test_compare %rbx, 1
        \\ zco_test_compare %rbp, 2
        \\ zco_test_compare %r12, 12
        \\ zco_test_compare %r13, 13
        \\ zco_test_compare %r14, 14
        \\ zco_test_compare %r15, 15
        \\ zco_test_restore
        \\ ret
        \\ .size zco_test_call, . - zco_test_call
        \\
        \\ // %rdi is the seed, %rsi says when it is over, %rdx holds the flags, %r11 what was wrong. The red zone is in use, too.
        \\ .globl zco_test_hold
        \\ .type zco_test_hold, @function
        \\zco_test_hold:
        \\ zco_test_save
        \\ movq %rdi, -8(%rsp)
        \\ movq %rdi, -128(%rsp)
        \\ xorl %r11d, %r11d
        \\ .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \\ leaq 100+\n(%rdi), %rcx
        \\ movq %rcx, %xmm\n
        \\ punpcklqdq %xmm\n, %xmm\n
        \\ .endr
        \\ zco_test_fill %rbx, 1
        \\ zco_test_fill %rbp, 2
        \\ .irp n, 8, 9, 10, 12, 13, 14, 15
        \\ zco_test_fill %r\n, \n
        \\ .endr
        \\ movl %edi, %edx // SF, ZF, AF, PF and CF, as LAHF has them
        \\ shll $8, %edx
        \\ andl $0xd500, %edx
        \\ orl $0x0200, %edx
        \\1:
        \\ movl %edx, %eax
        \\ sahf
        \\ .rept 16 // so that most interruptions come while the flags matter
        \\ movq -8(%rsp), %rcx
        \\ .endr
        \\ lahf
        \\ xorl %edx, %eax
        \\ orq %rax, %r11
        \\ cmpb $0, (%rsi)
        \\ je 1b
        \\ movq %r11, %rax
        \\ movq -8(%rsp), %rcx
        \\ xorq %rdi, %rcx
        \\ orq %rcx, %rax
        \\ movq -128(%rsp), %rcx
        \\ xorq %rdi, %rcx
        \\ orq %rcx, %rax
        \\ zco_test_compare %rbx, 1
        \\ zco_test_compare %rbp, 2
        \\ .irp n, 8, 9, 10, 12, 13, 14, 15
        \\ zco_test_compare %r\n, \n
        \\ .endr
        \\ .irp n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        \\ movq %xmm\n, %r11
        \\ zco_test_compare %r11, 100+\n
        \\ psrldq $8, %xmm\n
        \\ movq %xmm\n, %r11
        \\ zco_test_compare %r11, 100+\n
        \\ .endr
        \\ zco_test_restore
        \\ ret
        \\ .size zco_test_hold, . - zco_test_hold
    );
}
