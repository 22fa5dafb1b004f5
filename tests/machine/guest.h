/*
 * Running the programs of tests/guest, which judge themselves, and judging how they end and whether they repeat.
 * Functions that cannot do their work fail the test.
 */
#pragma once

#include "tests/machine/command.h"

/* A fresh folder to serve, with copies of these programs of the build, "guest/..." or "examples/...". */
#define folder_with_programs(...) folder_of_programs((const char *const[]){__VA_ARGS__, NULL})
char *folder_of_programs(const char *const *program);

/* Runs a case of a guest program of tests/guest, and expects it to pass: status 0, "passed", no word more. */
void guest_must_pass(const struct ncube_run *r);

/* The lines "node N line L" that a program has printed are whole, all there, and in the order of each node. */
void lines_must_be_whole(struct outcome *o, int nodes, int lines);

/* How a case of a guest program ends. */
struct guest_end {
    const char *dim, *name;
    int status;
    const char *out, *err; /* as outcome_expect takes them */
};

/* Runs it, with this folder for its files, NULL: the test's own; and with these faults of the machine, NULL: none. */
void guest_must_end(const char *program, const struct guest_end *e, const char *served, const char *faults);

/* Runs a case, and again without running ahead, or on one processor: it passes both times, with the same trace. At most
 * two options. */
void guest_must_repeat(const struct ncube_run *r);

/* What a run begins with: new images, and a machine file of the same folder, whose path the caller frees. */
struct images_of_test {
    int volumes, kilobytes, block_bytes;
    char *(*machine)(const char *folder, int volumes);
};

/* Runs a program that writes to volumes in both ways, too, each time with new images, as they differ after a run. It
 * ends with status 0 (or may_fail), this output (NULL: any) and the same trace. At most two options; no machine. */
void ncube_must_repeat_on(const struct images_of_test *images, struct ncube_run r, const char *out);
/* On a machine of 8 nodes with so many volumes of 1 MB; any output. */
void ncube_must_repeat_on_volumes(struct ncube_run r, int volumes);
