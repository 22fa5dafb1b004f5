/*
 * Signals: the handlers only set flags and ring a doorbell. ncube's only thread then calls these functions to learn
 * which signals have arrived.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Catches SIGINT, SIGTERM and SIGHUP (which ask for the end), SIGALRM (for signals_be_orderly), SIGCHLD, SIGUSR1
 * (heartbeats) and SIGIO (a debugger has sent something: nothing but the doorbell rings); ignores SIGPIPE.
 * A signal that asks for the end and is ignored already stays ignored. A handler adds one to *doorbell, until
 * signals_release. */
void signals_install(uint32_t *doorbell);
void signals_release(void);

/* For a process with other threads than ncube's: the handlers do their work in this one, whose waits they end. To be
 * called before signals_install. That may be called again, after others have installed handlers: it catches what it
 * has caught before. */
void signals_keep_to(pid_t thread);

/* From now on the first signal only asks for an orderly end. The process ends at once after a second signal, or when
 * the end is stuck: after 1 to 1.5 s of the host's time in which nobody works at any progress though there was a
 * processor, or after a second of work. */
void signals_be_orderly(void);
/* Notes how far the machine is in virtual time. The caller calls it regularly, as evidence of progress. */
void signals_note_progress(uint64_t now_cycles);

/* The processes that must make progress. A signal handler calls these functions. */
struct signals_work {
    uint64_t (*done_ns)(void *ctx); /* the processor time that has been spent on it */
    bool (*waits)(void *ctx);       /* whether somebody would work at it on a free processor, or does */
};

/* Tells how to see that, until signals_release. */
void signals_watch_work(const struct signals_work *work, void *ctx);

/* Returns the first signal that asked for the end, or 0. */
int signals_asked(void);
/* Returns the name of a signal that asks for the end. */
const char *signals_name(int signal);
/* Returns the same signal if the end is to be at once, else 0. */
int signals_end(void);
/* Returns true if an orderly end has been asked for and the request has not been taken yet; signals_take_request takes
 * it and returns true once. */
bool signals_request(void);
bool signals_take_request(void);

#define SIGNALS_FOREVER (-1)

/* Calls poll for limit_ms of the host's time, or SIGNALS_FOREVER. Any of these signals ends it, also one that came
 * before: then it returns -1 with EINTR. */
int signals_poll(struct pollfd *p, nfds_t n, int limit_ms);
/* Returns true if the end is to be at once, or a child has ended and signals_take_child has not been called since. */
bool signals_any(void);

/* Returns true once after one or more SIGCHLD. */
bool signals_take_child(void);

/* Returns true once after one or more SIGUSR1. */
bool signals_take_beat(void);
