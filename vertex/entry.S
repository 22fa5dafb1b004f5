/*
 * Ways between a program and the kernel.
 *
 * sscratch is the address of the process's trap frame while the program runs, 0 while the kernel runs. The
 * frame is the top of the process's kernel stack, so one register gives both.
 */
#include "vertex/asm.h"

    .section .text
    .balign 512                 /* the way back must not cross a page: that would end its block */
    .globl trap_entry
trap_entry:
    csrrw sp, sscratch, sp
    beqz sp, from_kernel
    sd ra, ASM_FRAME_RA(sp)
    sd t0, ASM_FRAME_T + 0(sp)
    sd t1, ASM_FRAME_T + 8(sp)
    sd t2, ASM_FRAME_T + 16(sp)
    sd t3, ASM_FRAME_T + 24(sp)
    sd t4, ASM_FRAME_T + 32(sp)
    sd t5, ASM_FRAME_T + 40(sp)
    sd t6, ASM_FRAME_T + 48(sp)
    sd a0, ASM_FRAME_A + 0(sp)
    sd a1, ASM_FRAME_A + 8(sp)
    sd a2, ASM_FRAME_A + 16(sp)
    sd a3, ASM_FRAME_A + 24(sp)
    sd a4, ASM_FRAME_A + 32(sp)
    sd a5, ASM_FRAME_A + 40(sp)
    sd a6, ASM_FRAME_A + 48(sp)
    sd a7, ASM_FRAME_A + 56(sp)
    csrrw t0, sscratch, zero
    sd t0, ASM_FRAME_SP(sp)
    csrr t0, sepc
    sd t0, ASM_FRAME_PC(sp)
    mv a0, sp
    call trap_from_program

trap_return:                    /* sp = frame */
    ld t0, ASM_FRAME_PC(sp)
    csrw sepc, t0
    csrw sscratch, sp
    slti x0, x0, ASM_NCU_LEAVE  /* after the last csrw: one block of code from here to sret */
    ld ra, ASM_FRAME_RA(sp)
    ld t0, ASM_FRAME_T + 0(sp)
    ld t1, ASM_FRAME_T + 8(sp)
    ld t2, ASM_FRAME_T + 16(sp)
    ld t3, ASM_FRAME_T + 24(sp)
    ld t4, ASM_FRAME_T + 32(sp)
    ld t5, ASM_FRAME_T + 40(sp)
    ld t6, ASM_FRAME_T + 48(sp)
    ld a0, ASM_FRAME_A + 0(sp)
    ld a1, ASM_FRAME_A + 8(sp)
    ld a2, ASM_FRAME_A + 16(sp)
    ld a3, ASM_FRAME_A + 24(sp)
    ld a4, ASM_FRAME_A + 32(sp)
    ld a5, ASM_FRAME_A + 40(sp)
    ld a6, ASM_FRAME_A + 48(sp)
    ld a7, ASM_FRAME_A + 56(sp)
    ld sp, ASM_FRAME_SP(sp)
    sret

    /* A trap in S-mode is a broken kernel. The boot stack serves for the last words. */
from_kernel:
    la sp, boot_stack_top
    call trap_from_kernel

    /* trap_enter_program(frame) */
    .globl trap_enter_program
trap_enter_program:
    mv sp, a0
    .irp r, gp, tp, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    li \r, 0
    .endr
    .option push
    .option arch, +d
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    fmv.d.x f\r, zero
    .endr
    .irp r, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    fmv.d.x f\r, zero
    .endr
    fscsr zero
    .option pop
    j trap_return

    /* sched_restart(): the scheduler, on the boot stack; the caller's stack is left for good. */
    .globl sched_restart
sched_restart:
    la sp, boot_stack_top
    j sched_main
