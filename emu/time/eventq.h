/*
 * Events in virtual time: a binary heap of callbacks.
 *
 * Events run in the order of (time, order, sequence of their addition). `order` settles ties between events
 * of one cycle by something that is part of the model (a channel number, say), so that the result does not
 * depend on who was added first.
 */
#ifndef NCUBE_EVENTQ_H
#define NCUBE_EVENTQ_H

#include <stdbool.h>
#include <stdint.h>

struct eventq;
typedef void (*event_fn)(void *arg, uint64_t now_cycles);

#define EVENTQ_NEVER UINT64_MAX

/* A new empty queue at time 0; ends the process when memory is gone. The caller owns it. */
struct eventq *eventq_new(void);
void eventq_free(struct eventq *q);

/* Adds an event. `at_cycles` must not lie before the time of the last event run (asserted).
 * Returns an id for eventq_cancel, never 0. */
uint64_t eventq_add(struct eventq *q, uint64_t at_cycles, uint32_t order, event_fn fn, void *arg);

/* Takes an event back; true if it was still queued. */
bool eventq_cancel(struct eventq *q, uint64_t id);

/* Time of the first event, or EVENTQ_NEVER. */
uint64_t eventq_next(const struct eventq *q);

/* Its `order`. The queue must not be empty (asserted). */
uint32_t eventq_next_order(const struct eventq *q);

/* Runs the first event (removing it before its callback). The queue must not be empty (asserted). */
void eventq_run_one(struct eventq *q);

#endif
