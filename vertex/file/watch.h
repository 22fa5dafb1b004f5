/*
 * Watching a server while a process waits for its answer: a server that works is waited for, however long it takes; one
 * that makes no progress counts as dead (-N_ETIMEDOUT).
 *
 *   request              probe   answer: count          probe   answer: count
 *   |-------- half --------|.......|--------------------|.......|                half: of the machine's server_limit_s
 *
 * A probe is a message from kernel to kernel, so a busy server does not delay the answer: how many messages it has
 * taken and commands of its drives have ended. The server is given up when a probe that has reached it is not answered,
 * the first by one limit after the request, others within half of it; or when two probes, half a limit apart, are
 * answered with the same count. So one that dies is noticed at most one limit after its last sign of life. A probe that
 * is still on its way, behind other messages, says nothing: what cannot be delivered fails by itself.
 *
 * A server that waits for messages and has not answered a family's request holds it, for what another client is to do:
 * it is waited for, too, and probed as often. After 64 limits it is probed no longer: if nothing else can happen,
 * either, that is a deadlock, which ncube reports.
 *
 * A server that was given up once is asked by a probe first, and answers it soon or is given up again: so the limits of
 * several requests do not add up.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/process/proc.h"

struct watch {
    uint32_t node;
    uint64_t sent_cycles;  /* virtual time of the request */
    struct message *probe; /* the last one, one hold; NULL: none */
    bool asked;            /* its answer is awaited */
    bool may_hold;         /* the server may hold the request; false, unless the caller sets it */
    bool counted;          /* an answer has come: */
    uint64_t count;
    uint32_t held; /* answers in a row that found the server idle, without progress */
};

/* Starts watching the server of a request that was sent at that time. The front end has no limit: it may have to wait
 * until its user has typed. Sets the process's timer. */
void watch_begin(struct proc *p, struct watch *w, uint32_t node, uint64_t sent_cycles);
/* Returns true if a request that was sent at that time has had its time limit. */
bool watch_is_overdue(uint64_t sent_cycles);
/* Asks a server by a probe, which takes a sixtieth of the limit at most: whether it holds what it has not answered. */
bool watch_is_held(struct proc *p, uint32_t node);
/* Called when the timer was due: whether the server is to be waited for; the timer is set again. */
bool watch_goes_on(struct proc *p, struct watch *w);
/* answered: the server has. Clears the timer. */
void watch_end(struct proc *p, struct watch *w, bool answered);
