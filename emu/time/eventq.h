/*
 * Events in virtual time: a binary heap of callbacks.
 *
 * Events run in the order of (time, order, sequence of their addition). `order` settles ties between events of one
 * cycle by a property of the model, such as a channel number, so that the result does not depend on which event was
 * added first.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct eventq;
typedef void (*event_fn)(void *arg, uint64_t now_cycles);

#define EVENTQ_NEVER UINT64_MAX

/* Makes an empty queue at time 0. The caller frees it with eventq_free. */
struct eventq *eventq_new(void);
/* Frees the queue; events that are still queued never run. NULL is allowed. */
void eventq_free(struct eventq *q);

/* Adds an event: fn(arg, at_cycles) will be called by eventq_run_one. `at_cycles` must not lie before the time of the
 * last event that has run (asserted). Returns an id for eventq_cancel, never 0. */
uint64_t eventq_add(struct eventq *q, uint64_t at_cycles, uint32_t order, event_fn fn, void *arg);

/* Removes an event from the queue. Returns false if it has run or has been cancelled already. */
bool eventq_cancel(struct eventq *q, uint64_t id);

/* Returns the time of the first event, or EVENTQ_NEVER if the queue is empty. */
uint64_t eventq_next(const struct eventq *q);

/* Returns the `order` of the first event. The queue must not be empty (asserted). */
uint32_t eventq_next_order(const struct eventq *q);

/* Removes the first event from the queue, then calls its function. The queue must not be empty (asserted). */
void eventq_run_one(struct eventq *q);
