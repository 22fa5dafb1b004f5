/*
 * Signals as facts to look at: handlers only note what came and ring a doorbell.
 */
#ifndef NCUBE_SIGNALS_H
#define NCUBE_SIGNALS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

/* Catches SIGINT, SIGTERM, SIGHUP (ends), SIGALRM (signals_be_orderly), SIGCHLD and SIGUSR1 (heartbeats); ignores
 * SIGPIPE and SIGXFSZ. Of the ends, what is ignored already stays so. A handler adds one to *doorbell, until
 * signals_release. */
void signals_install(uint32_t *doorbell);
void signals_release(void);

/* From now on the first signal only asks for an orderly end. A second one ends at once; so does a time of 0.7 to 1.4 s
 * of the host in which there has been no progress. */
void signals_be_orderly(void);
/* How far the machine is in virtual time: to be told again and again. */
void signals_note_progress(uint64_t now_cycles);

/* The signal that asks this process to end, 0 if none came. */
int signals_asked(void);
/* The same, when it is to end at once. */
int signals_end(void);
/* An orderly end has been asked for, and nobody has taken it yet; signals_take_request is true once. */
bool signals_request(void);
bool signals_take_request(void);

#define SIGNALS_FOREVER (-1)

/* poll for limit_ms of the host's time or SIGNALS_FOREVER, ended by any of these signals too, and at once if one came
 * before: then -1 with EINTR. */
int signals_poll(struct pollfd *p, nfds_t n, int limit_ms);
/* Has any of them come that nobody has taken? */
bool signals_any(void);

/* True once after one or more SIGCHLD. */
bool signals_take_child(void);

/* True once after one or more SIGUSR1. */
bool signals_take_beat(void);

#endif
