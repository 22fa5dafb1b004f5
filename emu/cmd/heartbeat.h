/*
 * The heartbeat: now and then, by the host's clock, one line on standard error about how far the machine is, so that
 * its user can tell slow from stuck. It only looks; the machine does not depend on it.
 */
#ifndef NCUBE_HEARTBEAT_H
#define NCUBE_HEARTBEAT_H

#include <stdint.h>
#include <time.h>

struct heartbeat {
    struct timespec begun, last; /* of the machine's run, of the last line */
    uint64_t last_cycles;        /* virtual time then */
};

/* Starts the timer (SIGUSR1, see signals.h); 0 s: lines come by SIGUSR1 only. heartbeat_end stops it. */
void heartbeat_begin(struct heartbeat *h, double interval_s);
void heartbeat_end(void);

/* Prints the line: virtual time, how far it has come since the last one, and what the machine waits for. */
void heartbeat_print(struct heartbeat *h, uint64_t now_cycles, const char *waits_for);

#endif
