/* Makes a run out of a recording. */
#pragma once

#include "emu/machine/recorded.h"
#include "emu/machine/run.h"

struct replayer { /* what the run's options point to; {0} before */
    struct job_program program[JOB_PROGRAMS_MAX];
    char file[JOB_PROGRAMS_MAX][RECORDING_PATH_BYTES];
    char *machine, *serve, *command;
    char **set;
};

/* Fills the options of a run by its recording, options->machine.recording: the job's all, the machine's but those of
 * how it is run and what is printed; `lib` must be set. Returns 0; or -1 with one line in error, without the
 * recording's name: ncube's parts are not those of the recording, or a program that it lacks is not there. The caller
 * calls replayer_free after the run. */
int replayer_fill(struct run_options *o, struct replayer *p, char *error);
void replayer_free(struct replayer *p);
/* Whether a recording is one of a run; else it is of a machine that was kept up, and replayer_fill takes no job. */
bool replayer_is_of_run(const struct recording *r);
/* The entry of a job's program number i, by its description. */
struct replayer_name {
    char text[RECORDED_NAME_BYTES];
} replayer_program_name(const struct recording *r, uint32_t i, const json_t *program);
/* Fills the options of a job by its description. As replayer_fill. */
int replayer_take_job(struct run_options *o, struct replayer *p, const json_t *job, char *error);

/* Compares the replay's end with the recorded one. Returns true if they are equal; else after one line. */
bool replayer_ends_so(const struct machine *m, int status);
