/*
 * Running a machine: its models, the operations by which they call each other and the host, and the calls by which
 * run.c and boot.c let it run. The machine is built by assemble.h.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/state/machine_data.h"

/* Runs on to an end (sched.h). Returns SCHED_FINISHED also when the machine has failed and when a signal asks for an
 * orderly end (signals.h); in a machine that is kept up also after the end of a job, and every 10 ms of the host's
 * time. The caller may then call again. */
enum sched_end machine_run(struct machine *m, uint64_t limit_cycles);

/* Runs on to that time, whatever asks it to return. */
enum sched_end machine_run_on(struct machine *m, uint64_t limit_cycles);
/* Runs on to where virtual time is, whatever asks it to return: then the machine is as it is in every run that stops at
 * that time. */
void machine_settle(struct machine *m);

/* Sets the time at which the front end's messages start. Must be called before the front end acts outside
 * machine_run. */
void machine_act_now(struct machine *m);

/* Lets other runs have ncube's processor, since this machine will not run for a while. */
void machine_rest(struct machine *m);

/* After SCHED_DEADLOCK: true if the front end has sent nothing since. */
bool machine_is_quiet(const struct machine *m);

/* ---- For machine_configure and machine_build ---- */

extern const struct front_ops machine_front_ops; /* with the machine as ctx */

/* Makes the pools of program text of the cabinets that this process runs. */
void machine_make_text_pool(struct machine *m);

/* Makes events, scheduler, NCUs and text pool, attaches the nodes and starts the front end. */
void machine_start_models(struct machine *m);
