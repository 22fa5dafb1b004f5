/*
 * Pipes between the processes of a node, as on Unix. An end is a UFID from PROC_FILES_MAX on; fork and the library's
 * dup share it. With its last holder it is closed, and with its second end the pipe is gone.
 *
 *     write --> | ring of ABI_PIPE_BYTES | --> read
 *
 * A read waits while the ring is empty and someone may still write; a write, while it has no room for all of up to
 * ABI_PIPE_ATOMIC bytes, or for one byte of more. Both wake whoever waits at a pipe; each tests its own condition
 * again.
 *
 * file.c calls these functions for a UFID that is none of a file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define NODE_PIPE_ENDS_MAX 128u /* of one process */

struct proc;

/* As the system calls of these names. -N_EBADF: the UFID is none of a pipe. */
int64_t node_pipe_read(struct proc *p, const uint64_t *arg);
int64_t node_pipe_write(struct proc *p, const uint64_t *arg);
/* The result of a transfer that met an error: if a part was done, its length; the next call meets the error again. Of a
 * file, too. */
int64_t node_pipe_break_off(struct proc *p, uint64_t done, int64_t error);
int64_t node_pipe_close(struct proc *p, const uint64_t *arg);
int64_t node_pipe_fstat(struct proc *p, const uint64_t *arg);
/* The result of a call that no pipe has: `error` for a pipe, -N_EBADF for what is none. */
int64_t node_pipe_refuse(struct proc *p, const uint64_t *arg, int64_t error);
/* Returns the ABI_POLL_ events that are ready at a UFID; -N_EBADF. */
int node_pipe_poll(struct proc *p, uint64_t ufid);

/* Gives a child its parent's ends. -N_ENOMEM. */
int node_pipe_share_all(struct proc *child, const struct proc *parent);
void node_pipe_close_all(struct proc *p);
