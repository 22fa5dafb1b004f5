    .section .text.start
    .globl _start
_start:
    csrr t0, mhartid
    slli t0, t0, 12
    la sp, stacks + 4096
    add sp, sp, t0
    call plain_main
    .bss
    .balign 16
stacks:
    .space 512 * 4096
