/* A loop like boot.c's. Instead of clients, the recording says what is done, and when. */
#include "emu/link/relive.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/job/hosted.h"
#include "emu/link/life_acts.h"
#include "emu/machine/operate.h"
#include "emu/machine/replayer.h"
#include "emu/state/explain.h"
#include "emu/watch/cores.h"
#include "emu/watch/debugger.h"

struct relived { /* what a job, or a load of a host program, points to */
    SLIST_ENTRY(relived) entry;
    struct run_options options;
    struct replayer replayer;
};

struct relive {
    const struct run_options *options;
    struct machine machine;
    SLIST_HEAD(, relived) jobs;
    int nowhere; /* descriptor for output that is not shown */
    int status;  /* of the program that is shown */
    int signal;  /* that has ended the recorded machine; else 0 */
    bool cut;    /* at once */
};

static struct recording *recording_of(const struct relive *r)
{
    return r->options->machine.recording;
}

/* ---- Acts ---- */

/* Takes a job's description. NULL: it makes no sense, or a program is missing, which has been told. */
static struct relived *take_job(struct relive *r, const json_t *description)
{
    struct relived *j = memory_new(1, sizeof *j);
    char error[ERROR_LINE_BYTES];

    j->options.machine = r->options->machine;
    SLIST_INSERT_HEAD(&r->jobs, j, entry);
    if (replayer_take_job(&j->options, &j->replayer, description, error) == 0)
        return j;
    recording_depart(recording_of(r), "%s", error);
    return NULL;
}

/* gdb and core files are for one program. */
static bool is_watched(const struct relive *r, uint32_t id)
{
    return id == (r->options->shown != 0 ? r->options->shown : 1);
}

static void watch(struct relive *r, uint32_t id)
{
    struct machine *m = &r->machine;

    if (!is_watched(r, id) || (!m->stub && !m->cores))
        return;
    if (front_find_job(m->front, id)->options.hosted) {
        machine_complain(m, "a host program loads what runs as program %u; --gdb and --core need another", id);
        return;
    }
    cores_begin(m, id);
    debugger_begin(m, id);
}

static bool launch(struct relive *r, const json_t *act)
{
    struct machine *m = &r->machine;
    json_t *description;
    int id, base;
    uint32_t begun;

    if (json_unpack((json_t *)act, "[s, i, i, o]", &(const char *){0}, &id, &base, &description) < 0)
        return false;
    struct relived *j = take_job(r, description);
    if (!j)
        return true;
    if (r->options->shown != 0 && r->options->shown != (uint32_t)id)
        j->options.job.out = j->options.job.err = r->nowhere;
    int result = life_launch(m, &j->options.job, &begun);
    if (result != 0)
        recording_depart(recording_of(r), "program %d cannot begin: %s", id, m->error);
    else if (begun != (uint32_t)id || front_find_job(m->front, begun)->base != (uint32_t)base)
        recording_depart(recording_of(r), "program %d begins elsewhere", id);
    else
        watch(r, begun);
    return true;
}

/* Unpacks an act of a job that there is, and a number more if the act has one. */
static struct job *job_of(const struct relive *r, const json_t *act, int *number)
{
    int id;

    if (json_unpack((json_t *)act, number ? "[s, i, i]" : "[s, i]", &(const char *){0}, &id, number) < 0)
        return NULL;
    return front_find_job(r->machine.front, (uint32_t)id);
}

static bool resume(struct relive *r, const json_t *act)
{
    int place;
    struct job *j = job_of(r, act, &place);

    return j && job_resume_at(j, (uint32_t)place);
}

static bool kill_again(struct relive *r, const json_t *act)
{
    const struct job *j = job_of(r, act, NULL);

    if (j)
        life_kill(&r->machine, j->id);
    return j;
}

static bool end(struct relive *r, const json_t *act)
{
    const char *why;
    int id;

    if (json_unpack((json_t *)act, "[s, i, s]", &(const char *){0}, &id, &why) < 0)
        return false;
    struct job *j = front_find_job(r->machine.front, (uint32_t)id);
    if (j)
        life_end(&r->machine, j, why);
    return j;
}

/* gdb's user looks at it for as long as they like. */
static void show_deadlock(struct machine *m, uint32_t id)
{
    while (debugger_stuck(m, id) && machine_run(m, UINT64_MAX) == SCHED_DEADLOCK)
        ;
    cores_write_all(m);
}

static bool end_deadlock(struct relive *r, const json_t *act)
{
    struct job *j = job_of(r, act, NULL);

    if (!j)
        return false;
    if (is_watched(r, j->id))
        show_deadlock(&r->machine, j->id);
    life_end_deadlock(&r->machine, j);
    return true;
}

static bool conclude(struct relive *r, const json_t *act)
{
    int recorded;
    struct job *j = job_of(r, act, &recorded);

    if (!j || !job_has_ended(j))
        return false;
    const uint32_t id = j->id;
    if (j->streams.lost)
        machine_say("not all of the output of program %u could be written", id);
    if (is_watched(r, id))
        cores_end(&r->machine);
    int status = life_conclude(&r->machine, j);
    if (status != recorded)
        recording_depart(recording_of(r), "program %u ends with status %d, not %d", id, status, recorded);
    if (id == r->options->shown)
        r->status = status;
    return true;
}

static bool stop(struct relive *r, const json_t *act)
{
    (void)act;
    front_stop(r->machine.front);
    return true;
}

static bool give_up(struct relive *r, const json_t *act)
{
    (void)act;
    return life_give_up(&r->machine);
}

static bool hang(struct relive *r, const json_t *act)
{
    (void)act;
    life_hang(&r->machine);
    return true;
}

static bool take_signal(struct relive *r, const json_t *act)
{
    return json_unpack((json_t *)act, "[s, i]", &(const char *){0}, &r->signal) == 0;
}

static bool cut(struct relive *r, const json_t *act)
{
    return r->cut = take_signal(r, act);
}

static bool load(struct relive *r, const json_t *act)
{
    json_t *description;
    char error[ERROR_LINE_BYTES];
    int id, first;

    if (json_unpack((json_t *)act, "[s, i, i, o]", &(const char *){0}, &id, &first, &description) < 0)
        return false;
    struct job *j = front_find_job(r->machine.front, (uint32_t)id);
    struct relived *l = take_job(r, description);
    if (!j || !j->hosted || !l || l->options.job.programs != 1)
        return false;
    life_load(&r->machine, j, (uint32_t)first, l->options.job.program, error, sizeof error);
    return true;
}

static bool mail(struct relive *r, const json_t *act)
{
    char name[40];
    json_int_t n;
    int id, node, type;

    if (json_unpack((json_t *)act, "[s, i, i, i, I]", &(const char *){0}, &id, &node, &type, &n) < 0)
        return false;
    struct job *j = front_find_job(r->machine.front, (uint32_t)id);
    if (!j || !j->hosted || n < 0 || n > HOSTED_WAITS_BYTES)
        return false;
    uint8_t *bytes = memory_new((size_t)n + 1, 1);
    snprintf(name, sizeof name, LIFE_MAIL, j->id);
    bool whole = recorded_input_take(recording_input(recording_of(r), name), bytes, (size_t)n) == (size_t)n;
    if (whole)
        life_mail(&r->machine, j, (uint32_t)node, (uint32_t)type, bytes, (size_t)n);
    free(bytes);
    return whole;
}

static bool pass(struct relive *r, const json_t *act)
{
    struct job *j = job_of(r, act, NULL);

    if (!j || !j->hosted || !hosted_first(j))
        return false;
    life_pass(&r->machine, j);
    return true;
}

/* Each returns false if the act makes no sense here. */
static const struct act {
    const char *name;
    bool (*again)(struct relive *r, const json_t *act);
} acts[] = {
    {"launch", launch},
    {"resume", resume},
    {"kill", kill_again},
    {"end", end},
    {"deadlock", end_deadlock},
    {"conclude", conclude},
    {"stop", stop},
    {"give up", give_up},
    {"hang", hang},
    {"cut", cut},
    {"load", load},
    {"mail", mail},
    {"pass", pass},
    {"signal", take_signal},
};

static bool act_again(struct relive *r, const json_t *act)
{
    const char *name = json_string_value(json_array_get(act, 0));

    for (size_t i = 0; name && i < sizeof acts / sizeof *acts; i++)
        if (strcmp(acts[i].name, name) == 0)
            return acts[i].again(r, act);
    return false;
}

/* ---- Life ---- */

static void act_at_moment(struct relive *r, const json_t *moment)
{
    json_t *act;
    size_t i;

    machine_act_now(&r->machine);
    json_array_foreach(moment, i, act) if (!recording_departure(recording_of(r)) && !act_again(r, act))
        recording_depart(recording_of(r), "what is recorded there cannot be done");
    recording_drop_moment(recording_of(r));
}

/* The user of the replay ends it. */
static void give_in(struct relive *r)
{
    recording_let_go(recording_of(r));
    machine_act_now(&r->machine);
    life_go_down(&r->machine);
}

static int run_on(struct relive *r)
{
    struct machine *m = &r->machine;

    signals_be_orderly();
    for (;;) {
        uint64_t cycles;
        const json_t *moment =
            recording_was_let_go(recording_of(r)) ? NULL : recording_next_moment(recording_of(r), &cycles);
        enum sched_end stop = machine_run(m, moment ? cycles : UINT64_MAX);

        if (stop == SCHED_STOPPED && signals_end() == 0)
            machine_explain_stop(m);
        if (m->failed || stop == SCHED_STOPPED || debugger_travels(m))
            return RUN_FAILED;
        if (signals_take_request() || debugger_kills(m))
            give_in(r);
        else if (moment && (sched_now(m->sched) == cycles || stop == SCHED_DEADLOCK))
            act_at_moment(r, moment);
        else if (front_finished(m->front))
            return front_failed(m->front) ? RUN_FAILED : 0;
        else if (stop == SCHED_DEADLOCK && !life_give_up(m))
            return machine_complain(m, "%s: the replay hangs; please report this", recording_file(recording_of(r)));
        if (r->cut)
            return RUN_FAILED;
    }
}

static void free_jobs(struct relive *r)
{
    for (struct relived *j; (j = SLIST_FIRST(&r->jobs));) {
        SLIST_REMOVE_HEAD(&r->jobs, entry);
        replayer_free(&j->replayer);
        free(j);
    }
}

static int conclude_machine(struct relive *r, int status)
{
    struct machine *m = &r->machine;

    int signal = signals_asked() != 0 ? signals_asked() : r->signal;

    if (m->sched)
        cores_tell(m);
    if (signal != 0)
        status = RUN_SIGNAL + signal;
    if (machine_tell_statistics(m) != 0 && status == 0)
        status = RUN_FAILED;
    if (m->sched && !m->failed && !r->cut && !recording_was_let_go(recording_of(r)) && !replayer_ends_so(m, status))
        return RUN_FAILED;
    return r->options->shown != 0 && signals_asked() == 0 && !m->failed ? r->status : status;
}

int relive_machine(const struct run_options *o)
{
    struct relive r = {.options = o, .nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    bool built = machine_configure(&r.machine, &o->machine) == 0 && machine_build(&r.machine) == 0;
    int status = built ? run_on(&r) : RUN_FAILED;

    status = conclude_machine(&r, status);
    if (machine_free(&r.machine) != 0 && status == 0)
        status = RUN_FAILED;
    free_jobs(&r);
    close(r.nowhere);
    return status;
}

uint32_t relive_programs(const struct recording *r)
{
    const json_t *moments = json_object_get(recording_end(r), "moments");
    json_t *moment, *act;
    uint32_t n = 0;
    size_t i, k;

    json_array_foreach(moments, i, moment) json_array_foreach(json_array_get(moment, 1), k, act)
    {
        const char *name = json_string_value(json_array_get(act, 0));

        n += name && strcmp(name, "launch") == 0;
    }
    return n;
}
