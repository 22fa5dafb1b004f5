/*
 * Causes from the NCU, each passed to the module that waits for it; and what arrives, to its addressee.
 */
#ifndef VERTEX_EVENT_H
#define VERTEX_EVENT_H

#include "vertex/base/ncu_calls.h"

/* Handles every cause that is due now. */
void event_fetch(void);
/* Handles the ends of sends that are no causes (vertex/message/msg.h): their messages are freed. */
void event_reap(void);
/* Waits until something is due, and handles it. The arguments say for the record what the caller waits for. */
void event_wait(enum ncu_wait why, uint64_t node, uint64_t type);

#endif
