/* The harts of plain.c: a stack each; M-mode prepares, U-mode computes, and a trap ends it. */
    .section .text.start
    .globl _start
_start:
    la t0, trap
    csrw mtvec, t0
    csrr a0, mhartid
    slli t0, a0, 12
    la sp, stacks + 4096
    add sp, sp, t0
    mv s0, a0
    call plain_prepare          /* returns satp */
    li t0, -1
    csrw pmpaddr0, t0
    li t0, 0x1f                 /* all memory, all rights */
    csrw pmpcfg0, t0
    csrw satp, a0
    sfence.vma
    li t0, 0x1800               /* MPP: to U-mode */
    csrc mstatus, t0
    li t0, 0x6000               /* FS: floating point is on */
    csrs mstatus, t0
    la t0, user
    csrw mepc, t0
    mv a0, s0
    mret
user:
    call plain_main
    ecall

    .align 2
trap:
    csrr a0, mcause
    call plain_trap

    .bss
    .balign 4096
stacks:
    .space HARTS * 4096
