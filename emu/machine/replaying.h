/* A replay's runs: one, or under gdb one more each time that gdb goes back (emu/debug/travel.h). */
#pragma once

#include "emu/machine/replayer.h"

/* Runs what replayer_fill has filled. Returns the exit status, as run_program does. */
int replaying_run(struct run_options *o, struct replayer *p);
/* Runs what the command line asks for, under gdb, which may go back in it: the run is kept in memory as far as it has
 * come, repeated up to there, and goes on from there. Likewise. */
int replaying_run_kept(struct run_options *o);
