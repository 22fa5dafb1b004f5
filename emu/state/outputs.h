/*
 * The files that a machine writes for its user, its trace and its statistics: none of them may be one that it reads.
 */
#pragma once

#include <stdio.h>

#include "emu/state/machine_data.h"

/* Notes a file that the run reads, and what it is, so that neither trace nor statistics overwrite it. To be called
 * before machine_build. */
void machine_reads(struct machine *m, const char *path, const char *what);

/* Refuses a file that the run reads, which an option, such as "--trace", would overwrite. Returns 0, or -1 after one
 * line. */
int machine_check_output(struct machine *m, const char *option, const char *path);

/* Opens a file to write to for an option, such as "--trace". A pipe's reader has two seconds to come. Returns NULL
 * after one line if that cannot be done, or if the run reads the file. The caller closes it. */
FILE *machine_open_output(struct machine *m, const char *option, const char *path);
