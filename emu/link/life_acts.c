/* Acts on a machine that is kept up, and their names in its recording. */
#include "emu/link/life_acts.h"

#include <stdio.h>

#include "emu/hostfs/console.h"
#include "emu/job/hosted.h"
#include "emu/machine/operate.h"
#include "emu/machine/recorder.h"
#include "emu/machine/run.h"
#include "emu/state/explain.h"
#include "emu/watch/debugger.h"

static bool is_recorded(const struct machine *m)
{
    return recording_is_written(m->options->recording);
}

/* Takes the act. */
static void note(const struct machine *m, json_t *act)
{
    if (is_recorded(m))
        recording_note_act(m->options->recording, act);
    else
        json_decref(act);
}

void life_moment(struct machine *m)
{
    if (!is_recorded(m))
        return;
    machine_settle(m);
    recording_begin_moment(m->options->recording, sched_now(m->sched));
}

/* ---- Jobs ---- */

int life_launch(struct machine *m, const struct job_options *o, uint32_t *id)
{
    struct job_options recorded = *o;

    recorded.recording = m->options->recording;
    int begun = front_begin_job(m->front, &recorded, id, m->error, sizeof m->error);
    if (begun == 0 && is_recorded(m))
        note(m, json_pack("[s, i, i, o]", "launch", (int)*id, (int)front_find_job(m->front, *id)->base,
                          recorder_keep_job(m, o)));
    return begun;
}

static void kill_job(struct machine *m, uint32_t id)
{
    debugger_drop(m, id);
    front_kill_job(m->front, id);
}

void life_kill(struct machine *m, uint32_t id)
{
    if (!front_find_job(m->front, id))
        return;
    note(m, json_pack("[s, i]", "kill", (int)id));
    kill_job(m, id);
}

static void say_line(void *job, const char *line)
{
    console_say(&((struct job *)job)->streams, "%s", line);
}

/* What is recorded must be the same in every run: only places that are. */
static void report_nodes(struct machine *m, struct job *j)
{
    char text[256];

    if (job_describe_failure(j, text, sizeof text))
        say_line(j, text);
    machine_report_waits(m, j, m->options->recording ? WAITS_IN_PLACE : WAITS_PLACES, say_line, j);
}

void life_end(struct machine *m, struct job *j, const char *why)
{
    note(m, json_pack("[s, i, s]", "end", (int)j->id, why));
    if (!job_has_ended(j) && !j->killed) {
        console_say(&j->streams, "%s at %.6f s", why, machine_seconds(m));
        if (j->loaded)
            report_nodes(m, j);
    }
    kill_job(m, j->id);
}

void life_end_deadlock(struct machine *m, struct job *j)
{
    note(m, json_pack("[s, i]", "deadlock", (int)j->id));
    console_say(&j->streams, "deadlock at %.6f s: nothing more can happen, and the program has not ended",
                machine_seconds(m));
    report_nodes(m, j);
    j->end_status = machine_find_dead_node(m, j) ? RUN_DEAD : RUN_DEADLOCK;
    front_kill_job(m->front, j->id);
}

int life_conclude(struct machine *m, struct job *j)
{
    int status = job_conclude(j);

    note(m, json_pack("[s, i, i]", "conclude", (int)j->id, status));
    front_forget_job(m->front, j->id);
    return status;
}

/* ---- The machine ---- */

void life_go_down(struct machine *m)
{
    for (struct job *j = front_first_job(m->front); j; j = front_next_job(j))
        if (!job_has_ended(j))
            life_end(m, j, "the machine goes down");
    note(m, json_pack("[s]", "stop"));
    front_stop(m->front);
}

bool life_give_up(struct machine *m)
{
    bool given_up = front_give_up(m->front);

    if (given_up)
        note(m, json_pack("[s]", "give up"));
    return given_up;
}

void life_hang(struct machine *m)
{
    char text[256];

    note(m, json_pack("[s]", "hang"));
    front_describe_wait(m->front, text, sizeof text);
    machine_complain(m, "the machine hangs at %.6f s: %s", machine_seconds(m), text);
}

void life_signal(struct machine *m, int signal)
{
    note(m, json_pack("[s, i]", "signal", signal));
}

void life_cut(struct machine *m, int signal)
{
    if (!is_recorded(m) || !m->sched)
        return;
    recording_begin_moment(m->options->recording, sched_now(m->sched));
    note(m, json_pack("[s, i]", "cut", signal));
}

/* ---- Host programs ---- */

int32_t life_load(struct machine *m, struct job *j, uint32_t first, const struct job_program *p, char *error,
                  size_t error_bytes)
{
    const struct job_options described = {.dim = j->options.dim, .program = p, .programs = 1};

    if (is_recorded(m))
        note(m, json_pack("[s, i, i, o]", "load", (int)j->id, (int)first, recorder_keep_job(m, &described)));
    return front_load_hosted(m->front, j, first, p, error, error_bytes);
}

void life_mail(struct machine *m, struct job *j, uint32_t node, uint32_t type, const void *bytes, size_t n)
{
    char name[40];

    if (is_recorded(m)) {
        snprintf(name, sizeof name, LIFE_MAIL, j->id);
        recorded_input_note(recording_input(m->options->recording, name), bytes, n);
    }
    note(m, json_pack("[s, i, i, i, I]", "mail", (int)j->id, (int)node, (int)type, (json_int_t)n));
    hosted_send(j, node, type, bytes, n);
}

void life_pass(struct machine *m, struct job *j)
{
    note(m, json_pack("[s, i]", "pass", (int)j->id));
    hosted_drop_first(j);
}
