/*
 * The first instructions of every hart, in M-mode at 0x80000000. machine_mode.c does the rest: it returns (for a
 * node) the value of satp, and this code leaves M-mode for good, for main() in kernel.c.
 *
 * The only memory a hart may use is its own window, so the stack's virtual address is turned into the
 * physical one while translation is off. The numbers are asserted against vertex/contract/machine.h in machine_mode.c.
 */
#include "vertex/base/asm.h"

    .section .text.boot, "ax"
    .globl _start
_start:
    csrr a0, mhartid
    li t0, ASM_BOOT_INFO
    ld t1, ASM_BOOT_INFO_RAM_BYTES(t0)
    mul t1, t1, a0
    li a1, ASM_WINDOWS
    add a1, a1, t1              /* a1 = this hart's window */
    mv s1, a1
    la sp, boot_stack_top
    li t0, ASM_WINDOW_VA
    sub sp, sp, t0
    add sp, sp, a1
    call start                  /* start(hart, window): satp */
    csrw satp, a0
    sfence.vma
    la sp, boot_stack_top
    la t0, main
    csrw mepc, t0
    mv a0, s1
    mret                        /* to S-mode: main(window) */

    /* A trap in M-mode is a broken machine_mode.c. */
    .align 2
    .globl machine_trap_entry
machine_trap_entry:
    mv a0, s1
    j machine_trap

    .section .noinit, "aw", @nobits
    .align 4
boot_stack:
    .space ASM_BOOT_STACK_BYTES
    .globl boot_stack_top
boot_stack_top:
