/*
 * Takes causes from the NCU and passes each to the module that handles it, and each arrived message to its addressee.
 */
#ifndef VERTEX_EVENT_H
#define VERTEX_EVENT_H

#include "vertex/base/ncu_calls.h"

/* Handles every cause that is due now. */
void event_fetch(void);
/* Handles the ends of sends that are not causes (vertex/message/msg.h), and frees their messages. */
void event_reap(void);
/* Waits until a cause is due, and handles all that are. A deadlock report prints the arguments as the caller's
 * reason. */
void event_wait(enum ncu_wait why, uint64_t node, uint64_t type);

#endif
