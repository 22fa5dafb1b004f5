/*
 * System calls: one function sys_NAME for each entry of TRAP_LIST (vertex/contract/abi.h), in the module of its
 * subject. `arg` is a0-a5, unchecked. The result is >= 0 or a negative n_error.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/abi.h"

struct proc;
struct trap_frame;

#define SYSCALL_DECLARE(name, number) int64_t sys_##name(struct proc *p, const uint64_t *arg);
TRAP_LIST(SYSCALL_DECLARE)
#undef SYSCALL_DECLARE

/* Returned in place of a result; below every n_error. */
#define SYSCALL_AGAIN (-2048) /* repeat the call after the handler of the signal that interrupted it */
#define SYSCALL_FRAME (-2047) /* resume the program with the registers in the frame */

/* Dispatches the system call in the frame. Returns true if the program must get all registers from the frame. */
bool syscall_handle(struct proc *p, struct trap_frame *frame);
