/* The replay of a machine that was kept up: its life is repeated by its recording, without clients (life_acts.h). */
#pragma once

#include "emu/machine/run.h"

/* Repeats it. o->job is not used. Returns the exit status with which the machine ended; with o->shown that program's
 * status; RUN_AGAIN if gdb goes back. */
int relive_machine(const struct run_options *o);

/* How many programs have begun in a recorded life. */
uint32_t relive_programs(const struct recording *r);
