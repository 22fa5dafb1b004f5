/*
 * Traps from a program: system calls, page faults, faults, the NCU's interrupt.
 *
 * S-mode never takes an interrupt: what the kernel knows of the outside it learns by NCU instructions, so that its
 * virtual time does not depend on when an interrupt line moves (vertex/contract/machine.h):
 *
 *   system call, exception    ENTER ( CAUSES .. END, ENTER )*  the trap itself, which may post, wait, yield    LEAVE
 *   interrupt                 CAUSES .. END                                                                    LEAVE
 *                             or, when the process must not just go on: then ENTER, and on as a trap of its own
 *
 * Between END and LEAVE nothing may be posted. DROP takes the place of END when the process is killed.
 *
 * The frame holds what C code may change. The callee-saved registers stay in the hart, or on the process's kernel
 * stack under the C functions that use them.
 */
#ifndef VERTEX_TRAP_H
#define VERTEX_TRAP_H

#include <stdbool.h>
#include <stdint.h>

struct trap_frame { /* at the top of the process's kernel stack; offsets in asm.h */
    uint64_t pc;
    uint64_t ra, sp;
    uint64_t t[7];
    uint64_t a[8];
};

/* Something may keep the process from just going on after its trap: its death, a signal, the end of its slice, a
 * channel that could not be armed. Set by whoever brings that about, or changes the process. */
extern bool trap_attention;

void trap_init(void); /* this hart's traps come here; interrupts from U-mode are on */

/* First entry of a program: every register but those in the frame is zero. */
_Noreturn void trap_enter_program(struct trap_frame *frame);

#endif
