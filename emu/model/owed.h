/*
 * Notices that the front end owes: a reply was lost, and the notice of it (vertex/contract/system.h, N_LOST) has found no way
 * either. They are kept until something that was broken recovers.
 */
#ifndef NCUBE_OWED_H
#define NCUBE_OWED_H

#include <stdint.h>
#include <sys/queue.h>

#include "vertex/contract/system.h"

struct owed_notice {
    STAILQ_ENTRY(owed_notice) queued;
    uint32_t to, tag; /* of the notice, not of the reply */
    struct lost_notice notice;
};

STAILQ_HEAD(owed, owed_notice); /* the oldest first */

/* Makes an empty one. */
void owed_init(struct owed *o);

/* Copies the notice. Ends the process when memory is gone. */
void owed_keep(struct owed *o, uint32_t to, uint32_t tag, const struct lost_notice *notice);

/* The oldest, which is the caller's to free; NULL: none is owed. */
struct owed_notice *owed_take(struct owed *o);

/* Moves all notices from one to another that is empty. */
void owed_move(struct owed *to, struct owed *from);

void owed_free(struct owed *o);

#endif
