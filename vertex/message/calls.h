/*
 * What the message calls share. Programs send by calls_send.c (nwrite), read by calls_read.c (nread, ntest, nrange),
 * and pass buffers without a copy by calls_buffers.c (ngetp, nwritep, nreadp, nrelp).
 *
 * Logical and physical. A program numbers the nodes of its subcube from 0; Vertex adds the subcube's base. The front
 * end and, in replies to readstart and writestart, I/O nodes are named by address. A procid in the bits from 16 up says
 * which process of a node is meant. The built-in program sees addresses only (its base is 0) and may use every type.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/system.h"
#include "vertex/process/kin.h"
#include "vertex/process/proc.h"

#define NODE_OF(name)   ((name)&0xffff)
#define PROCID_OF(name) ((name) >> 16)

static inline uint32_t address_of(const struct proc *p, int32_t node)
{
    return NODE_IS_COMPUTE((uint32_t)node) ? p->base + node : (uint32_t)node;
}

/* The built-in program may name any procid, as it serves programs with any number of processes; so may a program of
 * which some process here has forked. */
bool calls_is_procid_beyond(const struct proc *p, uint32_t procid);

static inline bool is_procid(const struct proc *p, int32_t procid)
{
    return (uint32_t)procid < p->procs || calls_is_procid_beyond(p, (uint32_t)procid);
}

static inline bool is_type(int32_t type)
{
    return (uint32_t)type <= 0xffff;
}

/* True for the program's context and for those of libraries. */
static inline bool is_context(uint64_t context)
{
    return context == CONTEXT_PROGRAM || (context >= CONTEXT_SYNC && context <= CONTEXT_MOST);
}

/* Returns the type with its context, as in a tag. */
static inline uint32_t full_type(const struct proc *p, int32_t type, uint64_t context)
{
    if (context != CONTEXT_PROGRAM)
        return IN_CONTEXT(context, type);
    return p->builtin ? (uint32_t)type : TYPE_OF_PROGRAM(type);
}

/* ---- calls_send.c ---- */

/* Returns 0, or -N_EINVAL. */
int calls_check_send(const struct proc *p, uint64_t bytes, int32_t dest, int32_t type);
/* If a send failed after nwrite had returned, the next nwrite to the same node returns the error. */
int calls_earlier_failure(struct proc *p, int32_t dest);
/* Takes the message over. The type is a full one. */
void calls_send(struct proc *p, struct message *m, int32_t dest, uint32_t type);

/* ---- calls_read.c ---- */

/* Makes the pattern that the arguments of nread mean. Returns 0, or -N_EINVAL. */
int calls_make_pattern(struct proc *p, int32_t src, int32_t type, uint64_t context, struct message_pattern *pattern);
/* Waits until a message that fits is queued. SYSCALL_AGAIN: a signal handler must run first. */
int64_t calls_await_queued(struct proc *p, const struct message_pattern *pattern, struct message **m);
/* A message that is longer than the reader's buffer stays queued. A lost message leaves the queue, and so does a
 * request that is too long for the built-in program, whose buffer will never be longer. */
int64_t calls_refuse(struct proc *p, struct message *m);
/* The process has read m, which leaves its queue. */
void calls_remove(struct proc *p, struct message *m);
