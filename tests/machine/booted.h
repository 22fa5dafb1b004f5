/*
 * A machine that is kept up, for tests: ncube boot, xnc and ncube down under a name of the test's own.
 */
#pragma once

#include "tests/machine/command.h"

struct booted {
    struct command command; /* ncube boot */
    char name[64];
};

/* Words of a command line; those that begin with "guest/" or "examples/" are taken below the build folder. */
#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Starts ncube boot with these words; does not wait. */
struct booted booted_start(const char *const words[]);
/* Waits until it says that it is up. */
void booted_await(const struct booted *b);
/* Both. */
struct booted booted_up(const char *const words[]);

struct command xnc_start(const struct booted *b, struct streams_of_test streams, const char *const words[]);
/* Waits until the machine has given nodes to the program of this xnc, or has put it in the queue for them. However
 * busy the host is, a signal or another program comes after that. */
enum xnc_state { XNC_RUNS, XNC_WAITS };
void xnc_await(const struct booted *b, const struct command *c, enum xnc_state state);
/* Runs xnc with that input and waits for its end. */
struct outcome xnc_run(const struct booted *b, const char *input, const char *const words[]);
/* The same, and judges by outcome_expect. */
void xnc_expect(const struct booted *b, const char *input, const char *const words[], int status, const char *out,
                const char *err);

/* The same run as ncube_run (its dim, serve, program, args and input), on a machine that is up. So the rows of a table
 * follow each other on one machine, whose start takes ten times as long as most of them. */
struct outcome xnc_run_of(const struct booted *b, const struct ncube_run *r);
/* The same; the program judges itself, as for guest_must_pass. */
void xnc_must_pass(const struct booted *b, const struct ncube_run *r);

/* How many descriptors the machine has open. */
size_t booted_descriptors(const struct booted *b);
/* Fails the test if they are more than `most` for a minute: the machine frees a client shortly after it has ended. */
void booted_expect_descriptors(const struct booted *b, size_t most, const char *what);

/* ncube down; expects it, and the machine, to end well and to leave nothing. */
void booted_down(struct booted *b);
/* Waits for the machine's end, at most so long; nothing is left. */
struct outcome booted_end(struct booted *b, int limit_ms);
