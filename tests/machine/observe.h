/*
 * Runs of ncube, of which all output that must be repeatable is kept; also runs that the test disturbs.
 */
#pragma once

#include <stdint.h>

#include "tests/machine/command.h"

struct observed {
    char *out, *trace; /* NUL-terminated */
    size_t out_bytes, trace_bytes;
    char *stats; /* JSON without the host's object; NULL: not asked for */
    int status;
    char *err; /* NULL where the run had to end with 0 */
};

/* Disturbs a run until it has ended; NULL: nothing does. */
typedef void (*disturb_fn)(const struct command *c);

/* More busy loops than the host has processors. */
void disturb_by_load(const struct command *c);
/* Stops one of the run's processes at a time, ncube itself included, and lets it go on: often at first, then ever less,
 * so that the run ends on a busy host, too. */
void disturb_by_stops(const struct command *c);

/* Moves one of the run's threads at a time, ncube's and QEMU's, to another of the host's processors; fails the test if
 * the host has several and none was moved. ncube itself keeps a run on one of them. */
void disturb_by_moves(const struct command *c);

/* Runs it, with a trace and statistics, within ten minutes; it must end with status 0, but for r.may_fail. The caller
 * frees what it returns. */
struct observed observe(struct ncube_run r, disturb_fn disturb);
/* The same for `ncube replay` of a recording, in an empty folder. `ncube`: as in struct ncube_run. */
struct observed observe_replay(const char *ncube, const char *recording, bool may_fail);
/* The same with one more option. */
struct observed observe_replay_of(const char *ncube, const char *recording, const char *option);
/* Collects the results of a run whose trace is the file `trace` in that folder. */
struct observed observe_end(struct command *c, const char *folder, const char *trace, bool may_fail);
void observed_free(struct observed *o);

/* Of output, trace and statistics (FNV-1a). */
uint64_t observed_hash(const struct observed *o);
/* Returns NULL if both are equal, byte by byte; else the first lines in which they differ, which the caller frees. */
char *observed_difference(const struct observed *a, const struct observed *b);
/* Runs it as it is and, by the first of its options that is free, with --sync=strict: both must be equal. */
void observe_ahead_and_strict(struct ncube_run r, const char *what);
/* Fails the test unless they are equal. */
void observed_expect_same(const struct observed *a, const struct observed *b, const char *how);
