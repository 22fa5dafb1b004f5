/*
 * System calls: one function sys_<name> for each entry of TRAP_LIST (vertex/contract/abi.h), in the module it belongs to.
 * Arguments are a0-a5 as the program gave them: unchecked. The result is >= 0 or a negative n_error.
 */
#ifndef VERTEX_SYSCALL_H
#define VERTEX_SYSCALL_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/abi.h"

struct proc;
struct trap_frame;

#define SYSCALL_DECLARE(name, number) int64_t sys_##name(struct proc *p, const uint64_t *arg);
TRAP_LIST(SYSCALL_DECLARE)
#undef SYSCALL_DECLARE

/* Instead of a result; no n_error is so low. */
#define SYSCALL_AGAIN (-2048) /* make the same call again, after the handler of a signal that interrupted it */
#define SYSCALL_FRAME (-2047) /* the program goes on with what is in the frame */

/* True if the program is to get all registers from the frame. */
bool syscall_handle(struct proc *p, struct trap_frame *frame);

#endif
