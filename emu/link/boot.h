/*
 * A machine that is kept up: clients connect (link.h), each runs one job on a subcube of its own, and the machine runs
 * until it is told to go down. Virtual time stands still while no job runs.
 *
 * The host determines when a job starts relative to others, and when its input arrives. So only a recording repeats
 * such a machine (life_acts.h, relive.h), unlike ncube run.
 */
#pragma once

#include "emu/machine/assemble.h"

struct boot_options {
    struct machine_options machine;
    const char *name; /* under which clients find it */
    bool detach;      /* the command returns when the machine is up (detach.h) */
};

/* Boots the machine, prints a line on standard output when it is up, and keeps it up. Returns the exit status: 0 after
 * ncube down, otherwise one of run.h. */
int boot_machine(const struct boot_options *o);
