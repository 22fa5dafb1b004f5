/*
 * The frames of a program that has ended by a fault: from its registers, from the addresses to return to that Vertex
 * has found on its stack (vertex/process/returns.h), and from the call frame information of the program's file.
 */
#ifndef NCUBE_FRAMES_H
#define NCUBE_FRAMES_H

#include <stdint.h>

#include "vertex/contract/system.h"

#define FRAMES_MOST 8u

/* Writes an address within each function: where the fault was, in its caller, and so on, at most up to main. `fd` is
 * the program, open for reading; `returns` has fault->returns. Returns how many there are, at least 1. Without
 * call frame information there are two, of which the second comes from a register and may be wrong. */
unsigned frames_walk(int fd, const struct exit_fault *fault, const struct exit_return *returns,
                     uint64_t at[FRAMES_MOST]);

#endif
