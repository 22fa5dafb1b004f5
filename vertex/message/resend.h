/*
 * Messages that were damaged on their way are sent again, in order, up to RESEND_MAX times each.
 *
 * After a damaged message the NCUs let nothing of this node through to that destination (vertex/contract/machine.h, "Order after
 * damage"): what follows fails as well, and comes here. When nothing to that destination is under way any more, all of
 * it is sent again in the order of its first start, the first marked RESTART:
 *
 *     sent:   A (damaged)  B  C           A' RESTART  B'  C'
 *     failed:              A  B  C (0 left) ^
 *
 * Until it has succeeded or is given up, a message keeps its hold and its SEND_DONE is not passed on, so that nobody
 * else knows. What is given up fails with NCU_EPARITY; its place is then taken by a notice to the receiver
 * (vertex/message/lost.h).
 */
#ifndef VERTEX_RESEND_H
#define VERTEX_RESEND_H

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/machine.h"

#define RESEND_MAX 32u

/* True if the send is not done after all: it will be sent again. */
bool resend_takes(const struct ncu_cause *cause);
/* Something waits to be sent again. */
bool resend_is_due(void);
/* Sends it, if nothing before it is under way. To be called when CAUSES has just given none, with nothing sent
 * since. */
void resend_flush(void);
/* A message has come damaged, and was dropped; its sender knows. */
void resend_note_damage(void);

/* For `monitor`: messages sent again, messages that came damaged. */
uint64_t resend_count(void);
uint64_t resend_damaged(void);

#endif
