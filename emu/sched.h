/*
 * The conservative scheduler: which hart may run how far, and in which order everything else happens.
 *
 * Two things happen in virtual time: model events (eventq.h) and NCU instructions that harts have executed,
 * "requests". All are processed in the order of the key
 *
 *     (time, event before request, hart, sequence)
 *
 * and each only when no running hart can still produce anything with a lower key. So the outcome does not depend
 * on how harts are granted. Between these, running harts are granted budgets. With t(j) the clock of a running
 * hart or the time of a request not yet processed, and L the network's lookahead,
 *
 *     W(i) = min( next model event, min over j != i of t(j) + L )        [design section 3]
 *
 * and user code of hart i runs only blocks that end before W(i), and none after a request of its own that ncube does
 * not know yet (what it started may come back to it sooner than W). Kernel code runs to its next request in any
 * case: it learns of the outside only by requests. An interrupt is raised when its hart is stopped in user code at
 * or after the time of the cause.
 *
 * Any effect of a request on another hart must lie at least L after it (the NCU model keeps to that).
 */
#ifndef NCUBE_SCHED_H
#define NCUBE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/eventq.h"
#include "emu/harts.h"

struct sched;

struct sched_ops {
    /* A hart's NCU instruction takes effect at now_cycles. For one that needs an answer: true if the hart goes on,
     * false if it stays idle until sched_wake. */
    bool (*execute)(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles);
    /* A cause waits for the hart: an interrupt must be raised before it runs user code again. */
    bool (*cause_waits)(void *ctx, uint32_t hart);
    /* Raises the interrupt of some stopped harts. False: the machine has failed. */
    bool (*interrupt)(void *ctx, const uint32_t *harts, uint32_t n);
    /* True when the run is over. Asked before each event and request. */
    bool (*finished)(void *ctx);
};

enum sched_end {
    SCHED_FINISHED,
    SCHED_DEADLOCK, /* nothing runs, nothing is queued */
    SCHED_STOPPED,  /* a signal came or a process died: see signals.h and cabinet_died */
    SCHED_LIMIT,    /* the limit of virtual time is reached */
};

/* `slot_of[i]` is the slot of hart i (0 .. count-1) in `harts`. queue, harts, slot_of and ops outlive the scheduler.
 * lookahead_cycles is L. */
struct sched *sched_new(struct eventq *queue, struct harts *harts, const uint32_t *slot_of, uint32_t count,
                        uint64_t lookahead_cycles, const struct sched_ops *ops, void *ctx);
void sched_free(struct sched *s);

/* Runs from the first grant (all harts are stopped at SLOT_START) to an end. */
enum sched_end sched_run(struct sched *s, uint64_t limit_cycles);

/* An idle hart goes on at now_cycles; its answer is in its mailbox. */
void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles);

/* Virtual time: of the last event or request processed. */
uint64_t sched_now(const struct sched *s);

struct sched_statistics {
    uint64_t rounds, grants, requests, events, interrupts;
};
const struct sched_statistics *sched_statistics(const struct sched *s);

#endif
