/*
 * Stated costs (vertex/contract/stated.h): the times at which a server answers and gives commands to its drives, and at
 * which a client's requests leave and its calls return, are computed here from what came before, and not from the
 * instructions in between:
 *
 *   arrival --begin, command--> DISK ~~~ done --[change,] command--> DISK ~~~ done --end--> reply
 *
 * MAILBOX->stated_cycles is when the work is done that has been begun so far. Work that waits for a message or a drive
 * goes on when that has come. The NCU lets the SEND, DISK or LEAVE wait for that time (STATED); whatever the node does
 * in between, handlers of causes too, counts against the cost.
 *
 * proc.works: the process works for files all the time, so that its work begins where the last one ended: an nsdisk
 * between two requests, a program in a PIO call. The work of any other begins at the trap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/process/proc.h"

/* A client's request, before its SEND. */
void stated_request(struct proc *p, uint32_t node, uint32_t type, uint64_t bytes);
/* Of a call that has waited for the reply: returns no sooner than stated. */
void stated_return(const struct proc *p);
/* The next stated_return, without such a reply before it, states nothing. */
void stated_return_is_free(void);

/* An nsdisk's reply, before its SEND, and its drive command, before its DISK: for a request of that type, with
 * DISK_CHANGES if it has not written yet; 0: for the one that it took last. */
void stated_reply(struct proc *p, uint32_t type, uint64_t bytes);
void stated_command(const struct proc *p, uint32_t type, bool write);

/* Requests of other families state nothing: they cost what messages of programs cost. */
static inline bool stated_is_of_files(uint32_t type)
{
    return (type >= TYPES_FILES && type <= TYPES_PROGRAMS_LAST) ||
           (type >= N_REPLY(TYPES_FILES) && type <= N_REPLY(TYPES_PROGRAMS_LAST));
}

/* True if the cost of a message from or to that node is stated: it is not charged, too (charge.h). With other families,
 * whose clients charge themselves (request.c). */
static inline bool stated_covers(const struct proc *p, uint32_t node, uint32_t type)
{
    return (N_IS_FILE_REQUEST(type) || N_IS_FILE_REPLY(type)) && (p->builtin || NODE_IS_IO(node)) &&
           MAILBOX->stated[STATED_CALL].begin_cycles;
}

/* The process takes a message that has come, by its cause, or from its queue or memory (`landed`: without a copy). */
void stated_take_cause(struct proc *p, const struct ncu_cause *cause, const void *payload);
void stated_take_message(struct proc *p, const struct message *m, bool landed);

static inline bool stated_concerns(const struct proc *p, uint32_t tag)
{
    return stated_is_of_files(TAG_TYPE(tag)) || p->builtin;
}

/* The node has waited until then, if its work was done. */
static inline void stated_wait(uint64_t until_cycles)
{
    if (until_cycles > MAILBOX->stated_cycles)
        MAILBOX->stated_cycles = until_cycles;
}

/* Returns when the channel of a message that has come is to be armed again; 0: at once. */
static inline uint64_t stated_arm(const struct ncu_cause *cause)
{
    uint32_t cycles = stated_is_of_files(TAG_TYPE(cause->tag)) ? MAILBOX->stated[STATED_ARRIVAL].end_cycles : 0;

    return cycles ? cause->done_cycles + cycles : 0;
}

/* A page fault of the process that works, since the trap's ENTER, is no part of it. */
void stated_exclude_trap(void);
