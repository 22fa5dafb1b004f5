/*
 * A machine that is kept up: clients connect (link.h), each runs one job on a subcube of its own, and the machine
 * goes on until it is told to go down. Virtual time stands still while nothing runs.
 *
 * What a client's job does relative to another's, and to input that comes at some moment, depends on the host: what is
 * done here is not repeatable, as ncube run is.
 */
#ifndef NCUBE_BOOT_H
#define NCUBE_BOOT_H

#include "emu/cmd/assemble.h"

struct boot_options {
    struct machine_options machine;
    const char *name; /* by which clients find it */
};

/* Returns the exit status: 0 after ncube down, else as run.h. Says on standard output when the machine is up. */
int boot_machine(const struct boot_options *o);

#endif
