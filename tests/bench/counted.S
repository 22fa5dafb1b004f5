/*
 * The host's code for one iteration of `integer` (work.h), as QEMU 10.0 generates it for x86-64, in the variants that
 * counted.c measures. rbp is QEMU's env; its offsets are QEMU's. To see the code of a run, put a script before QEMU in
 * PATH that adds `-d in_asm,out_asm -D FILE`.
 */
#define INDEX     -0x2900(%rbp) /* of the hart */
#define ENTRY     -0x2908(%rbp) /* a pointer that QEMU does not have: to the hart's counters */
#define COUNTER   -0x2918(%rbp) /* a counter that QEMU does not have */
#define LIMIT     $0x3fffffe4
#define CYCLES    $0x1c
#define TLB_MASK  -0x120(%rbp)
#define TLB_TABLE -0x118(%rbp)
#define VALUE     -0x18(%rbp) /* for plugins: of the last access */

        .macro BEGIN name
        .globl \name
        .type \name, @function
\name:  push %rbp
        push %rbx
        push %r12
        push %r13
        push %r14
        push %r15
        mov %rdi, %rbp
        .p2align 5
1:      movl -8(%rbp), %ebx
        testl %ebx, %ebx
        jl 9f
        .endm

        .macro ADDRESS
        movl INDEX, %ebx
        shll $7, %ebx
        movslq %ebx, %rbx
        movabsq $counted_score, %r12
        addq %r12, %rbx
        .endm

        .macro STOP_IF_REACHED
        jb 2f
        movl INDEX, %edi
        movabsq $0x1c0001002c, %rsi
        callq stop
2:
        .endm

        .macro COMPARE_ENTRY
        movq (%rbx), %rbx
        cmpq LIMIT, %rbx
        STOP_IF_REACHED
        .endm

        .macro ADD_ENTRY
        movq (%rbx), %r12
        addq CYCLES, %r12
        movq %r12, (%rbx)
        .endm

        .macro COMPARE
        ADDRESS
        COMPARE_ENTRY
        .endm

        .macro ADD
        ADDRESS
        ADD_ENTRY
        .endm

        .macro LOOK_UP compared
        movq %r13, %rdi
        shrq $7, %rdi
        andq TLB_MASK, %rdi
        addq TLB_TABLE, %rdi
        leaq 7(%r13), %rsi
        andq $0xfffffffffffff000, %rsi
        cmpq \compared(%rdi), %rsi
        jne 8f
        movq 0x18(%rdi), %rdi
        .endm

        /* `values`: QEMU keeps the value of each access for plugins, whether or not one asks for it. */
        .macro WORK values
        movb $0, -4(%rbp)
        movq 0x70(%rbp), %rbx
        movq 0x88(%rbp), %r12
        imulq %r12, %rbx
        movq 0x60(%rbp), %r12
        incq %r12
        movq %r12, 0x60(%rbp)
        movq 0x80(%rbp), %r13
        addq %r13, %rbx
        movq %rbx, 0x70(%rbp)
        movq %rbx, %r13
        shrq $0x38, %r13
        shlq $3, %r13
        movq 0x58(%rbp), %r14
        addq %r14, %r13
        movq %r13, 0x78(%rbp)
        LOOK_UP 0
        movq (%r13, %rdi), %r14
        .if \values
        movq %r14, VALUE
        .endif
        addq %r14, %rbx
        movq %rbx, 0x68(%rbp)
        LOOK_UP 8
        movq %rbx, (%r13, %rdi)
        .if \values
        movq %rbx, VALUE
        .endif
        movb $1, -4(%rbp)
        movq 0x50(%rbp), %rbx
        cmpq %r12, %rbx
        jne 3f
        jmp 9f
        .p2align 4
3:      jmp 1b
8:      ud2
9:      pop %r15
        pop %r14
        pop %r13
        pop %r12
        pop %rbx
        pop %rbp
        ret
        .endm

        .text
stop:   ud2

        BEGIN counted_plain
        WORK 0

        BEGIN counted_nothing
        WORK 1

        BEGIN counted_addition
        ADD
        WORK 1

        BEGIN counted_as_it_is
        COMPARE
        ADD
        WORK 1

        BEGIN counted_one_hart
        movabsq $counted_score, %rbx
        COMPARE_ENTRY
        movabsq $counted_score, %rbx
        ADD_ENTRY
        WORK 1

        BEGIN counted_one_address
        ADDRESS
        movq (%rbx), %r12
        cmpq LIMIT, %r12
        jae 8f
        addq CYCLES, %r12
        movq %r12, (%rbx)
        WORK 1

        BEGIN counted_entry
        movq ENTRY, %rbx
        COMPARE_ENTRY
        movq ENTRY, %rbx
        ADD_ENTRY
        WORK 0

        BEGIN counted_no_values
        COMPARE
        ADD
        WORK 0

        BEGIN counted_in_env
        cmpq LIMIT, COUNTER
        STOP_IF_REACHED
        addq CYCLES, COUNTER
        WORK 0

        .bss
        .p2align 7
        .globl counted_score
counted_score:
        .skip 256
        .section .note.GNU-stack,"",@progbits
