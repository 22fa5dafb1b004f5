/*
 * nread of replies to readstart and writestart: the wait. A reply that arrives while the process waits for it is copied
 * to the process at once (delivery.h), and its server is watched meanwhile, as by all other calls
 * (vertex/file/watch.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/process/proc.h"

/* Waits for a reply that p->reader wants. Returns 1 if it has been written to the program, and p->reader describes it;
 * 0 if one is queued. When a server makes no progress, Vertex answers its oldest start with -N_ETIMEDOUT.
 * -N_EINVAL: no such reply is expected; -N_ETIMEDOUT: no memory for that reply; -N_EINTR, SYSCALL_AGAIN. */
int64_t replies_await(struct proc *p);

/* As replies_await for this pattern, but the reply is always queued. 0, or an error. */
int64_t replies_await_queued(struct proc *p, const struct message_pattern *pattern);

/* Called after an event that did not complete an nread. Returns true if the wait must end; *result says why: 0, a
 * message of p's is queued; -N_EINTR, SYSCALL_AGAIN. */
bool replies_reader_gives_up(struct proc *p, int64_t *result);
