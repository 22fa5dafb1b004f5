/*
 * Messages that were damaged on their way are sent again, in order, up to RESEND_MAX times each.
 *
 * After a damaged message the NCUs pass no message of this node to that destination (vertex/contract/machine.h, "Order
 * after damage"): later ones fail as well, and are recorded here. When no message to that destination is under way any
 * longer, all of them are sent again in the order in which they were first sent, the first marked RESTART:
 *
 *     sent:   A (damaged)  B  C           A' RESTART  B'  C'
 *     failed:              A  B  C (0 left) ^
 *
 * Until a message arrives or is given up, it keeps its hold, and no other module sees its SEND_DONE. A message that is
 * given up fails with NCU_EPARITY, and a notice to the receiver takes its place (vertex/message/lost.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/machine.h"

#define RESEND_MAX 32u

/* Called with each SEND_DONE. Returns true if it failed and the message will be sent again. */
bool resend_takes(const struct ncu_cause *cause);
/* Returns true if messages wait to be sent again. */
bool resend_is_due(void);
/* Sends them, except to destinations with earlier messages under way. The caller's last CAUSES has returned none, and
 * it has sent nothing since. */
void resend_flush(void);
/* Counts a message that arrived damaged and was dropped; its sender learns of it from the NCU. */
void resend_note_damage(void);

/* For the trap monitor: the numbers of messages sent again and of messages that arrived damaged. */
uint64_t resend_count(void);
uint64_t resend_damaged(void);
