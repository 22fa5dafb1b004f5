/*
 * System calls: one function sys_<name> for each entry of TRAP_LIST (vertex/abi.h), in the module it belongs to.
 * Arguments are a0-a5 as the program gave them: unchecked. The result is >= 0 or a negative n_error.
 */
#ifndef VERTEX_SYSCALL_H
#define VERTEX_SYSCALL_H

#include <stdint.h>

#include "vertex/abi.h"

struct proc;
struct trap_frame;

#define SYSCALL_DECLARE(name, number) int64_t sys_##name(struct proc *p, const uint64_t *arg);
TRAP_LIST(SYSCALL_DECLARE)
#undef SYSCALL_DECLARE

/* Instead of a result: the process is to make the same call again, after the handler of a signal that interrupted it. No
 * n_error. */
#define SYSCALL_AGAIN INT64_MIN

void syscall_handle(struct proc *p, struct trap_frame *frame);

#endif
