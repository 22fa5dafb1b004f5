/*
 * Which of the host's processors a run stays on, so that several at once do not all stay on one.
 *
 * A run holds a claim, "processor P, as number R there", as a name in the abstract namespace of Unix sockets: the
 * kernel takes it back by any end of the process, and nothing is left. A run takes the lowest R that is free on any
 * processor it may use, at the same R the processor where it is. With R = 0 it is alone there, and that is that; else
 * it looks now and then whether a lower one has become free.
 *
 *     P0: 0 1     third run: P1 has no 1, P0 has one: it gets (P1, 1)
 *     P1: 0
 *
 * Nothing but speed depends on it.
 */
#ifndef NCUBE_PROCESSORS_H
#define NCUBE_PROCESSORS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define PROCESSORS_RANKS 16u /* runs beyond are where they happen to be, without a claim */

struct claim {
    const char *space; /* of the names; outlives the claim */
    int fd;            /* -1: none */
    int processor;
    uint32_t rank; /* PROCESSORS_RANKS without a claim */
};

/* Takes a claim on one of the allowed processors. Always gives a processor: `here` if there is no claim to be had. */
struct claim processors_claim(const char *space, const cpu_set_t *allowed, int here);

/* Takes a better one if there is one, and gives the old one back. True: it is of another processor. */
bool processors_reclaim(struct claim *c, const cpu_set_t *allowed);

void processors_release(struct claim *c);

#endif
