/*
 * Ways between a program and the kernel.
 *
 * sscratch is the address of the process's trap frame while the program runs, 0 while the kernel runs. The
 * frame is the top of the process's kernel stack, so one register gives both.
 *
 * A system call is a function call for the program: it changes registers as one does, and few are kept.
 */
#include "vertex/base/asm.h"

/* Causes that fell due while the program ran are handled before the trap. Then the same ENTER is executed again: the
 * code after it must cost the same whether a cause was due or not, because a hart that is stopped at once handles the
 * cause before the trap (emu/time/sched.h). */
    .macro enter_trap
1:  slti x0, x0, ASM_NCU_ENTER
    li t0, ASM_MAILBOX_PAGE
    slli t0, t0, 12
    ld t0, ASM_MAILBOX_ANSWER(t0)
    beqz t0, 2f
    call trap_due
    j 1b
2:
    .endm

/* An instruction on each of f0-f31, whose place is `at`. */
    .macro each_fp instruction, operand:vararg
    .set at, 0
    .irp r, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    \instruction f\r, \operand
    .set at, at + 8
    .endr
    .irp r, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    \instruction f\r, \operand
    .set at, at + 8
    .endr
    .endm

    .section .text
    .balign 512                 /* the way back must not cross a page: that would end its block */
    .globl trap_entry
trap_entry:
    csrrw sp, sscratch, sp
    beqz sp, from_kernel
    sd t0, ASM_FRAME_T + 0(sp)
    csrr t0, scause
    addi t0, t0, -ASM_CAUSE_ECALL
    bnez t0, no_call
    sd ra, ASM_FRAME_RA(sp)
    .irp n, 0, 1, 2, 3, 4, 5, 7
    sd a\n, ASM_FRAME_A + 8 * \n(sp)
    .endr
    csrrw t0, sscratch, zero
    sd t0, ASM_FRAME_SP(sp)
    csrr t0, sepc
    addi t0, t0, 4
    sd t0, ASM_FRAME_PC(sp)
    enter_trap
    mv a0, sp
    call trap_call
    bnez a0, trap_return

    ld t0, ASM_FRAME_PC(sp)     /* as after a function call: the other registers are not preserved */
    csrw sepc, t0
    csrw sscratch, sp
    slti x0, x0, ASM_NCU_LEAVE  /* after the last csrw: one block of code from here to sret */
    ld ra, ASM_FRAME_RA(sp)
    .irp n, 0, 1, 2, 3
    ld a\n, ASM_FRAME_A + 8 * \n(sp)
    .endr
    ld sp, ASM_FRAME_SP(sp)
    sret

no_call:
    sd ra, ASM_FRAME_RA(sp)
    .irp n, 1, 2, 3, 4, 5, 6
    sd t\n, ASM_FRAME_T + 8 * \n(sp)
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    sd a\n, ASM_FRAME_A + 8 * \n(sp)
    .endr
    csrrw t0, sscratch, zero
    sd t0, ASM_FRAME_SP(sp)
    csrr t0, sepc
    sd t0, ASM_FRAME_PC(sp)
    csrr t0, scause
    bltz t0, interrupt
    enter_trap
    mv a0, sp
    call trap_exception
    j trap_return

interrupt:
    mv a0, sp
    call trap_interrupt

trap_return:                    /* sp = frame */
    ld t0, ASM_FRAME_PC(sp)
    csrw sepc, t0
    csrw sscratch, sp
    slti x0, x0, ASM_NCU_LEAVE
    ld ra, ASM_FRAME_RA(sp)
    .irp n, 0, 1, 2, 3, 4, 5, 6
    ld t\n, ASM_FRAME_T + 8 * \n(sp)
    .endr
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    ld a\n, ASM_FRAME_A + 8 * \n(sp)
    .endr
    ld sp, ASM_FRAME_SP(sp)
    sret

    /* A fault that ends the process (trap.c): S-mode, with all registers as they were at the fault. */
    .globl trap_fault
trap_fault:
    csrrw sp, sscratch, sp      /* sp = frame, sscratch = the program's sp */
    addi sp, sp, -ASM_FAULT_BYTES
    sd x1, 0(sp)
    .set at, 16
    .irp r, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    sd x\r, at(sp)
    .set at, at + 8
    .endr
    csrrw t0, sscratch, zero
    sd t0, 8(sp)
    li t0, ASM_STATUS_SPP
    csrc sstatus, t0
    enter_trap
    mv a0, sp
    call trap_with_registers

    /* A trap in S-mode means that a program passed touch_user a bad address, or that the kernel is broken: then it
     * reports that on the boot stack. */
from_kernel:
    csrrw sp, sscratch, sp      /* back as they were: sscratch is 0 */
    csrr t0, sepc
    la t1, touch_begin
    bltu t0, t1, broken
    la t1, touch_end
    bltu t0, t1, touch_failed
broken:
    la sp, boot_stack_top
    call trap_from_kernel

    /* touch_user(to, from, bytes): copies a few bytes through the active page table; one of the addresses is a
     * program's. Changes only a0-a2 and t0-t2. Returns 0; or 1, perhaps after a partial copy, if a page is unmapped or
     * lacks the right. */
    .globl touch_user
touch_user:
    li t2, ASM_STATUS_SUM
    csrs sstatus, t2
    or t0, a0, a1
    or t1, t0, a2
    andi t1, t1, 7
    bnez t1, 4f
    beqz a2, 3f
    add a2, a2, a1
touch_begin:
1:  ld t0, 0(a1)                /* words only */
    sd t0, 0(a0)
    addi a0, a0, 8
    addi a1, a1, 8
    bltu a1, a2, 1b
    csrc sstatus, t2
    li a0, 0
    ret
4:  andi t0, t0, 7
    bnez t0, 2f
    li t1, 8
5:  bltu a2, t1, 2f             /* words, */
    ld t0, 0(a1)
    sd t0, 0(a0)
    addi a0, a0, 8
    addi a1, a1, 8
    addi a2, a2, -8
    j 5b
2:  beqz a2, 3f                 /* and bytes */
    lbu t0, 0(a1)
    sb t0, 0(a0)
    addi a0, a0, 1
    addi a1, a1, 1
    addi a2, a2, -1
    j 2b
touch_end:
3:  csrc sstatus, t2
    li a0, 0
    ret
touch_failed:
    li t2, ASM_STATUS_SUM + ASM_STATUS_SPP
    csrc sstatus, t2
    li a0, 1
    ret

    /* trap_enter_program(frame) */
    .globl trap_enter_program
trap_enter_program:
    mv sp, a0
    .irp r, gp, tp, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    li \r, 0
    .endr
    .option push
    .option arch, +d
    each_fp fmv.d.x, zero
    fscsr zero
    .option pop
    j trap_return

    /* sched_restart(): the scheduler, on the boot stack; the caller's stack is left for good. */
    .globl sched_restart
sched_restart:
    la sp, boot_stack_top
    j sched_main

/* An instruction on each of the registers that C code preserves. */
    .macro each_kept, op
    .set at, 0
    .irp r, ra, gp, tp, s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11
    \op \r, at(sp)
    .set at, at + 8
    .endr
    .endm

    /* sched_leave(&stack): saves the kernel's registers, and those of the program that C code preserves, on this stack;
     * sched_enter(stack) resumes there. */
    .globl sched_leave
sched_leave:
    addi sp, sp, -ASM_SAVED_BYTES
    each_kept sd
    sd sp, 0(a0)
    j sched_restart

    .globl sched_enter
sched_enter:
    mv sp, a0
    each_kept ld
    addi sp, sp, ASM_SAVED_BYTES
    ret

    /* sched_save_fp(registers[33]), sched_restore_fp(registers): a program's f0-f31 and fcsr. */
    .option push
    .option arch, +d
    .globl sched_save_fp
sched_save_fp:
    each_fp fsd, at(a0)
    frcsr t0
    sd t0, at(a0)
    ret

    .globl sched_restore_fp
sched_restore_fp:
    each_fp fld, at(a0)
    ld t0, at(a0)
    fscsr t0
    ret
    .option pop
