/* A replay's runs: one, or under gdb one more each time that gdb goes back (emu/debug/travel.h). */
#pragma once

#include "emu/machine/replayer.h"

/* Runs what replayer_fill has filled. Returns the exit status, as run_program does. */
int replaying_run(struct run_options *o, struct replayer *p);
