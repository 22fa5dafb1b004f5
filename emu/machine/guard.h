/*
 * Runs a machine of one cabinet inside of the cabinet's process (emu/qemu/inside.h), and guards that process: passes
 * signals on, ends it when it hangs, says how it has ended if that was not ncube's doing.
 */
#pragma once

#include <stdbool.h>

#include "emu/state/machine_data.h"

/* Decides how a configured machine is run. Returns 1 if it is to be run by guard_run, 0 if by this process, or -1 after
 * a line if its options ask for what it cannot have. */
int guard_is_wanted(struct machine *m);

/* Returns true in a process that guard_run has started. */
bool guard_is_there(void);
/* Called there: the machine is up. */
void guard_tell_up(void);

/* Executes the command line of this process once more, inside of QEMU, and waits for its end. Calls up(ctx), unless up
 * is NULL, when that process has called guard_tell_up. Returns its exit status, or 1 after a line. Frees the machine.
 */
int guard_run(struct machine *m, void (*up)(void *ctx), void *ctx);
