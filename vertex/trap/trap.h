/*
 * Traps from a program: system calls, page faults, faults, the NCU's interrupt.
 *
 * S-mode never takes an interrupt. The kernel learns of the outside only through NCU instructions, so its virtual time
 * does not depend on when an interrupt line moves (vertex/contract/machine.h):
 *
 *   system call, exception    ENTER ( CAUSES .. END, ENTER )*  the trap itself, which may post, wait, yield    LEAVE
 *   interrupt                 CAUSES .. END                                                                    LEAVE
 *                             if the process must not simply resume: then ENTER, and on as for a system call
 *
 * The kernel posts nothing between END and LEAVE. DROP replaces END when the process is killed.
 *
 * The frame contains the registers that C code may change. The callee-saved registers stay in the hart, or on the
 * process's kernel stack, where C functions save them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct trap_frame { /* at the top of the process's kernel stack; offsets in asm.h */
    uint64_t pc;
    uint64_t ra, sp;
    uint64_t t[7];
    uint64_t a[8];
};

/* Set when something may keep the process from simply resuming after its trap: its death, a signal, the end of its
 * slice, a channel that could not be armed. The code that causes it, or that changes the running process, sets it. */
extern bool trap_attention;

void trap_init(void); /* directs this hart's traps here, and enables interrupts in U-mode */

/* Enters a program for the first time; every register outside the frame is zero. */
_Noreturn void trap_enter_program(struct trap_frame *frame);
