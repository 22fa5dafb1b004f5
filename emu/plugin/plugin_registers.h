/*
 * The registers of a hart, as the plugin reads them in a callback that was registered with R_REGS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/debug_area.h"
#include "emu/qemu/slots.h"

/* Finds the handles, which serve all harts. To be called once, in the callback that a hart begins with. */
void registers_find(void);

#define SCAUSE_ECALL 8u /* of user code */

/* Read what a trap is about. Return false if QEMU does not say it. */
bool registers_read_scause(uint64_t *value);
bool registers_read_call(uint64_t *value); /* a7 */
/* Likewise, what a call returns: a0. */
/* Those by which a frame of user code is found. */
void registers_read_frame(struct slot_frame *f);
bool registers_read_result(uint64_t *value);

/* Read the integer and supervisor's registers, and those of floating point. The pc QEMU knows only at some
 * instructions: into x[0] goes `pc`. What QEMU does not have is 0. */
void registers_read_integers(struct debug_registers *r, uint64_t pc);
void registers_read_floats(struct debug_floats *r);
/* Reads one of them, by gdb's number: x0-x31, pc, f0-f31, fflags, frm, fcsr. False: there is no such register. */
bool registers_read_number(uint32_t number, uint64_t pc, uint64_t *value);
/* Reads all that code can change, but the pc and clocks. Returns false if QEMU does not say it all. */
bool registers_read_state(uint64_t value[SLOT_REGISTERS]);
/* Returns where the last trap came from. */
uint64_t registers_trap_pc(void);
uint64_t registers_satp(void);
