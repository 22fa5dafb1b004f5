/* Runs of one recording (replaying.h). */
#include "emu/machine/replaying.h"

#include <stdio.h>

#include "emu/base/signals.h"
#include "emu/debug/stub.h"
#include "emu/machine/recorded.h"

/* The next run gets everything as it was, also what a run changes: the volumes' images. */
static int take_again(struct run_options *o, struct replayer *p)
{
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

int replaying_run(struct run_options *o, struct replayer *p)
{
    struct stub *stub = NULL;
    int status;

    o->machine.gdb_goes_back = &stub;
    o->machine.gdb_from_end = ends_badly(o->machine.recording);
    o->machine.gdb_end_cycles =
        (uint64_t)json_integer_value(json_object_get(recording_end(o->machine.recording), "failed"));
    while ((status = run_program(o)) == RUN_AGAIN)
        if (take_again(o, p) < 0) {
            status = RUN_FAILED;
            break;
        }
    o->machine.gdb_goes_back = NULL;
    if (stub)
        stub_free(stub);
    return signals_asked() != 0 ? RUN_SIGNAL + signals_asked() : status;
}
