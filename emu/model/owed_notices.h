/*
 * Notices that the front end owes: a reply was lost, and the notice of that (vertex/contract/system.h, N_LOST) could
 * not be delivered either. They are kept until a link or node recovers.
 */
#pragma once

#include <stdint.h>
#include <sys/queue.h>

#include "vertex/contract/system.h"

struct owed_notice {
    STAILQ_ENTRY(owed_notice) queued;
    uint32_t to, tag; /* of the notice, not of the reply */
    struct lost_notice notice;
};

STAILQ_HEAD(owed, owed_notice); /* the oldest first */

/* Makes an empty list. */
void owed_init(struct owed *o);

/* Adds a copy of the notice, which is for node `to` with that tag. */
void owed_keep(struct owed *o, uint32_t to, uint32_t tag, const struct lost_notice *notice);

/* Removes and returns the oldest notice, which the caller frees; NULL if there is none. */
struct owed_notice *owed_take(struct owed *o);

/* Moves all notices to another list, which need not be initialized. */
void owed_move(struct owed *to, struct owed *from);

/* Frees all notices. */
void owed_free(struct owed *o);
