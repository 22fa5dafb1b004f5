/*
 * The heartbeat: a line on standard error, repeated by the host's clock, that says how far the machine is, so that its
 * user can tell slow from stuck. It changes nothing in the machine.
 */
#pragma once

#include <stdint.h>

struct heartbeat {
    uint64_t begun_ns, last_ns; /* by the host: of the run, and of the last line */
    uint64_t last_cycles;       /* virtual time then */
};

/* Notes that the run begins, and starts a timer that sends SIGUSR1 every interval_s seconds (signals.h). With 0 there
 * is no timer: the user sends SIGUSR1. heartbeat_end stops the timer. */
void heartbeat_begin(struct heartbeat *h, double interval_s);
void heartbeat_end(void);
/* In a copy of the process, which has no timer yet. */
void heartbeat_go_on(double interval_s);

/* Returns virtual time over the host's since the last call, or since the last line. */
double heartbeat_ratio(struct heartbeat *h, uint64_t now_cycles);

/* Prints the line: virtual time, how far it has come since the last one, and what the machine waits for. */
void heartbeat_print(struct heartbeat *h, uint64_t now_cycles, const char *waits_for);
