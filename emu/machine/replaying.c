/* Runs of one recording (replaying.h). */
#include "emu/machine/replaying.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/debug/stub.h"
#include "emu/job/program.h"
#include "emu/machine/recorded.h"

/* The next run gets everything as it was, also what a run changes: the volumes' images. */
static int take_again(struct run_options *o, void *replayer)
{
    struct replayer *p = replayer;
    struct recording *next, *last = o->machine.recording;
    char name[RECORDED_NAME_BYTES], error[ERROR_LINE_BYTES];

    if (recording_read_again(&next, last, error) < 0) {
        machine_say("%s", error);
        return -1;
    }
    recording_free(last);
    o->machine.recording = o->job.recording = next;
    for (uint32_t i = 0; i < o->job.programs; i++) {
        snprintf(name, sizeof name, RECORDED_PROGRAM, i);
        if (p->program[i].file)
            recording_path(next, name, p->file[i]);
    }
    return 0;
}

/* gdb's user then wants to know why: the fault, or the deadlock, is where to begin. */
static bool ends_badly(const struct recording *r)
{
    const json_t *end = recording_end(r);
    json_int_t status = json_integer_value(json_object_get(end, "status"));

    return status == RUN_DEADLOCK || status == RUN_DEAD || json_is_true(json_object_get(end, "fault"));
}

static int run_until_it_ends(struct run_options *o, int (*take_again)(struct run_options *o, void *ctx), void *ctx)
{
    struct stub *stub = NULL;
    int status;

    o->machine.gdb_goes_back = &stub;
    while ((status = run_program(o)) == RUN_AGAIN)
        if (take_again(o, ctx) < 0) {
            status = RUN_FAILED;
            break;
        }
    o->machine.gdb_goes_back = NULL;
    if (stub)
        stub_free(stub);
    return signals_asked() != 0 ? RUN_SIGNAL + signals_asked() : status;
}

int replaying_run(struct run_options *o, struct replayer *p)
{
    o->machine.gdb_from_end = ends_badly(o->machine.recording);
    o->machine.gdb_end_cycles =
        (uint64_t)json_integer_value(json_object_get(recording_end(o->machine.recording), "failed"));
    return run_until_it_ends(o, take_again, p);
}

/* ---- A run that is kept ---- */

/* Each machine loads the programs that the first one has loaded, whatever has become of their files. A program that
 * cannot be read is complained of by the job. */
static void keep_programs(struct run_options *o, struct job_program *copy, char (*name)[RECORDING_PATH_BYTES], int *fd)
{
    for (uint32_t i = 0; i < o->job.programs; i++) {
        int file = open(o->job.program[i].path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

        copy[i] = o->job.program[i];
        fd[i] = file < 0 ? -1 : recording_keep_copy(o->machine.recording, file);
        if (file >= 0)
            close(file);
        snprintf(name[i], sizeof name[i], "/proc/self/fd/%d", fd[i]);
        if (fd[i] >= 0)
            copy[i].file = name[i];
    }
    o->job.program = copy;
}

/* The first job has freed the programs that the command line had read. */
static int forget_images(struct run_options *o, void *programs)
{
    struct job_program *copy = programs;

    for (uint32_t i = 0; i < o->job.programs; i++)
        copy[i].image = NULL;
    return 0;
}

int replaying_run_kept(struct run_options *o)
{
    const struct job_program *programs = o->job.program;
    struct machine_config config = {0};
    uint32_t n = o->job.programs;
    struct job_program *copy = memory_new(n, sizeof *copy);
    char(*name)[RECORDING_PATH_BYTES] = memory_new(n, sizeof *name);
    int *fd = memory_new(n, sizeof *fd);

    o->machine.recording = o->job.recording = recording_new_kept((uint64_t)o->machine.gdb_memory << 20);
    o->machine.config = &config;
    keep_programs(o, copy, name, fd);
    int status = run_until_it_ends(o, forget_images, copy);
    for (uint32_t i = 0; i < n; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    config_free(&config);
    o->job.program = programs;
    free(fd);
    free(name);
    free(copy);
    return status;
}
