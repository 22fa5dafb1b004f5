/* The options by which `ncube run`, `ncube boot` and `ncube replay` let a machine run, and print what it does. */
#pragma once

#include "emu/base/options.h"
#include "emu/state/machine_data.h"

/* Their arguments are a struct machine_options. The second table is of the commands that run one program. */
extern const struct option_line machine_lines[], machine_watch_lines[];

#define OPTIONS_GDB_MEMORY_MB 1024u /* the default of those commands */

/* Takes the port of --gdb. */
void options_take_gdb(const struct options *o, const struct option_line *l, void *machine, const char *port);

/* Refuse options that do not go together; options_check_watch all of the second table, after the first. */
void options_check_harts(const struct options *o, const struct machine_options *m);
void options_check_watch(const struct options *o, struct machine_options *m);

/* Returns the folder of ncube's parts, for the life of the process. */
const char *options_find_lib(void);
