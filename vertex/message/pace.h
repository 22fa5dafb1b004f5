/*
 * The pace at which messages may interrupt: a process gets on whatever arrives. A message that is queued costs the node
 * about PACE_MESSAGE_CYCLES, more than the channels need to bring the next ones, so a flood of short messages would
 * leave the process nothing. When those of PACE_WORK_CYCLES have come within twice that time, channels rest: each that
 * brings a message stays without a buffer, and what follows waits in the network, as it does when memory is short. The
 * rest ends after PACE_REST_CYCLES, or when no process of the node can run. I/O nodes know no rest: those who send to
 * them wait for the answers.
 *
 * Time is that of the messages' arrival, so that nothing depends on when the kernel looks.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/contract/machine.h"

/* To queue a message, with its interrupt, as measured in floods; and a cycle for each byte that is copied, at most
 * PACE_COPIED_BYTES. */
#define PACE_MESSAGE_CYCLES 2048
#define PACE_COPIED_BYTES   1024
#define PACE_WORK_CYCLES    65536
#define PACE_REST_CYCLES    98304 /* more than half of the whole, though what has landed is still handled in it */

extern int32_t pace_left; /* of PACE_WORK_CYCLES; negative: the channels rest, or the time must be looked at */

bool pace_look(const struct ncu_cause *cause);

/* Called when a message has been queued. Returns false if its channel must rest (channel_rest). */
static inline bool pace_allows(const struct ncu_cause *cause)
{
    pace_left -= PACE_MESSAGE_CYCLES + (cause->bytes <= PACE_COPIED_BYTES ? (int32_t)cause->bytes : 0);
    return pace_left >= 0 || pace_look(cause);
}

/* Ends the rest of the channels. */
void pace_end_rest(void);
