/*
 * long fork_process(void): the trap fork, between saving and restoring what a C function must preserve. The child
 * begins behind the trap with a copy of the stack and with none of these registers.
 */
#define ASM_TRAP_FORK 72 /* asserted in children.c */
#define BYTES         224

/* An instruction on each of these registers' places; `f` before it is that for floating point. */
    .macro each, op
    .set at, 0
    .irp r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, gp, tp
    \op \r, at(sp)
    .set at, at + 8
    .endr
    .irp r, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    f\op f\r, at(sp)
    .set at, at + 8
    .endr
    .endm

    .section .text.fork_process, "ax"
    .globl fork_process
    .type fork_process, @function
fork_process:
    addi sp, sp, -BYTES
    each sd
    frcsr t0
    sd t0, at(sp)
    li a7, ASM_TRAP_FORK
    ecall
    each ld
    ld t0, at(sp)
    fscsr t0
    addi sp, sp, BYTES
    ret
    .size fork_process, . - fork_process

    .section .note.GNU-stack, "", @progbits
