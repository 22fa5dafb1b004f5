/* Writes a run's recording (emu/record/recording.h): before the run all that is known then, and its end. */
#pragma once

#include "emu/machine/run.h"

/* Opens the recording of a machine that has been built and not run, and writes what is known. Does nothing if the run
 * is not to be recorded. o: NULL for a machine that is kept up. Returns 0, or -1 after one line if the
 * file cannot be opened. */
int recorder_begin(struct machine *m, const struct run_options *o);

/* Writes the programs of a job that begins on a machine that is kept up. Returns its description. */
json_t *recorder_keep_job(struct machine *m, const struct job_options *j);

/* Completes it when the run has ended. Returns 0, or -1 after one line if there is no recording. */
int recorder_end(struct machine *m, int status);
