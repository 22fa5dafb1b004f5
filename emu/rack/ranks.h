/*
 * Messages between the processes of ncube-mpi: MPI, as far as it is needed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/rack/rack_wire.h"

/* Begins. The caller ends with ranks_end. */
void ranks_begin(int *argc, char ***argv);
void ranks_end(void);
/* Ends all processes, also those that hang, with status 1. */
_Noreturn void ranks_abort(void);

uint32_t ranks_own(void);
uint32_t ranks_count(void);

/* Sends a message, and empties it. Returns before it has arrived; the receiver gets those of a sender with one tag in
 * the order in which they were sent. */
void ranks_send(uint32_t to, enum wire_tag tag, struct wire *w);

/* For measurements: messages of this process from and to rank 0 arrive so much later, as if the network took that time.
 * Many may be under way. */
void ranks_delay(uint64_t us);

/* Takes the next message with that tag, from any rank (RANKS_ANY) or this one. Returns false if none is there. */
#define RANKS_ANY UINT32_MAX
bool ranks_poll(uint32_t from, enum wire_tag tag, struct wire *w, uint32_t *who);
/* The same, and waits for it, at most limit_ms, of which a time in which this process is held up counts little; or
 * until that rank is lost. */
bool ranks_await(uint32_t from, enum wire_tag tag, struct wire *w, uint32_t limit_ms);

/* Returns a rank whose process has ended, as rank 0 sees by its connection while it rests; or 0. */
uint32_t ranks_lost(void);

/* To be called between two looks at which nothing was there: sleeps until something may have come, or fd (-1: none) can
 * be read, but not for long. Where Open MPI has no event for that, it returns at once, and later sleeps for a part of
 * the time that has passed, a millisecond at most. *since_ns: when the first of the looks was; the caller sets it to 0
 * when something was there. */
void ranks_rest(uint64_t *since_ns, int fd);

/* The host of a rank, as MPI calls it. */
const char *ranks_host(uint32_t rank);
