/*
 * Chooses the host's processor on which a run stays, so that several runs at once do not all stay on one.
 *
 * A run claims "processor P, rank R", with R the number of earlier runs there, by binding that name in the abstract
 * namespace of Unix sockets: however the process ends, the kernel frees the name. A run takes the lowest rank that is
 * free on any processor it may use; of equal ranks, that on the processor where it runs. A run with rank 0 is alone
 * there and stays. Any other looks now and then whether a lower rank has become free.
 *
 *     P0: 0 1     third run: P1 has no 1, P0 has one: it gets (P1, 1)
 *     P1: 0
 *
 * Only speed depends on this.
 */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

#define PROCESSORS_RANKS 16u /* further runs on a processor have no claim and stay where they are */

struct claim {
    const char *space; /* prefix of the names; must outlive the claim */
    int fd;            /* -1: none */
    int processor;
    uint32_t rank; /* PROCESSORS_RANKS without a claim */
};

/* Claims one of the allowed processors. The claim always names a processor: `here` if no rank is free. */
struct claim processors_claim(const char *space, const cpu_set_t *allowed, int here);

/* Claims rank 0 on that processor: no other run is there. fd is -1 if one is. */
struct claim processors_claim_alone(const char *space, int processor);

/* Replaces a claim by one with a lower rank if there is one. Returns true if that is on another processor. */
bool processors_reclaim(struct claim *c, const cpu_set_t *allowed);

/* Gives a claim up; its processor stays in it. */
void processors_release(struct claim *c);
