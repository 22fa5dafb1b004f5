/*
 * long fork_process(void): the trap fork, between saving and restoring what a C function must preserve. The child
 * begins behind the trap with a copy of the stack and with none of these registers.
 */
#define ASM_TRAP_FORK 72 /* asserted in children.c */
#define BYTES         224

    .section .text.fork_process, "ax"
    .globl fork_process
    .type fork_process, @function
fork_process:
    addi sp, sp, -BYTES
    .set at, 0
    .irp r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, gp, tp
    sd \r, at(sp)
    .set at, at + 8
    .endr
    .irp r, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    fsd f\r, at(sp)
    .set at, at + 8
    .endr
    frcsr t0
    sd t0, at(sp)
    li a7, ASM_TRAP_FORK
    ecall
    .set at, 0
    .irp r, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, gp, tp
    ld \r, at(sp)
    .set at, at + 8
    .endr
    .irp r, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    fld f\r, at(sp)
    .set at, at + 8
    .endr
    ld t0, at(sp)
    fscsr t0
    addi sp, sp, BYTES
    ret
    .size fork_process, . - fork_process

    .section .note.GNU-stack, "", @progbits
