/*
 * Where the kernel calls for a signal: a0 = signal, a1 = sp = struct abi_signal (vertex/contract/abi.h), which has the
 * registers of what was interrupted but for those that a C function leaves alone and the FP registers, which are saved
 * here.
 */
#define ASM_TRAP_SIGRETURN 41 /* asserted in user_signals.c */

    .section .text.sigentry, "ax"
    .globl sigentry
    .type sigentry, @function
sigentry:
    addi sp, sp, -176
    .set at, 0
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    fsd f\r, at(sp)
    .set at, at + 8
    .endr
    frcsr t0
    sd t0, 160(sp)
    call signal_dispatch
    ld t0, 160(sp)
    fscsr t0
    .set at, 0
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
    fld f\r, at(sp)
    .set at, at + 8
    .endr
    addi a0, sp, 176
    li a7, ASM_TRAP_SIGRETURN
    ecall
    .size sigentry, . - sigentry

    .section .note.GNU-stack, "", @progbits
