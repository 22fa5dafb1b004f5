/* `ncube replay`: a recorded run once more, from its recording alone. */
#include "emu/cmd/commands.h"
#include "emu/cmd/machine_options.h"
#include "emu/link/relive.h"
#include "emu/machine/replaying.h"
#include "emu/state/tracing.h"

struct replay_words {
    struct run_options options;
};

static const struct option_line lines[] = {
    {"program", "N", "of a machine that was kept up: output and status of the Nth program only",
     OPTION_INTO(OPTION_NUMBER, struct replay_words, options.shown), 1, UINT32_MAX},
    {OPTION_TABLE(machine_lines, offsetof(struct replay_words, options.machine))},
    {OPTION_TABLE(machine_watch_lines, offsetof(struct replay_words, options.machine))},
    {0}};

static const struct options options = {
    .command = "ncube replay",
    .usage = "[OPTION...] FILE",
    .summary = "Repeats what ncube run or ncube boot has recorded with --record=FILE: the same output, exit status,\n"
               "trace, statistics and report, without its files, and without touching the host's.",
    .line = lines,
    .end = "Exits with the status of the run, or of the machine; 1 also if FILE cannot be replayed.",
    .words = 1,
};

/* A machine that was kept up has programs to choose from. Returns 0, or -1 with one line in error. */
static int check_shown(const struct replay_words *w, char *error)
{
    const struct recording *r = w->options.machine.recording;
    const struct machine_options *m = &w->options.machine;
    uint32_t there = m->kept_up ? relive_programs(r) : 1;

    if (m->kept_up && m->check)
        return error_line(error, "of a machine that was kept up; --check needs a recording of ncube run");
    if (m->kept_up && (m->gdb || m->core_dir) && w->options.shown == 0 && there != 1)
        return error_line(error, "%u programs are recorded; add --program=N, the one for --gdb or --core", there);
    if (w->options.shown <= there)
        return 0;
    return error_line(error, "no program %u: %u %s recorded", w->options.shown, there, there == 1 ? "is" : "are");
}

static int replay(struct replay_words *w, struct replayer *run, char *error)
{
    if (replayer_fill(&w->options, run, error) < 0 || check_shown(w, error) < 0)
        return -1;
    return w->options.machine.kept_up ? relive_machine(&w->options) : replaying_run(&w->options, run);
}

int replay_command(int argc, char **argv)
{
    struct replay_words w = {
        .options = {
            .machine = {.lib = options_find_lib(), .trace = TRACING_NONE, .gdb_memory = OPTIONS_GDB_MEMORY_MB}}};
    struct replayer run = {0};
    struct machine_options *m = &w.options.machine;
    char **word = options_parse(&options, &w, argc, argv), error[ERROR_LINE_BYTES];

    if (!word[0])
        options_refuse(&options, "give a recording");
    m->from_words = true;
    tracing_check(&options, &m->trace);
    options_check_watch(&options, m);
    if (recording_read(&m->recording, word[0], error) < 0)
        return options_fail(&options, "%s", error);
    int status = replay(&w, &run, error);
    if (status < 0)
        status = options_fail(&options, "%s: %s", word[0], error);
    replayer_free(&run);
    recording_free(m->recording);
    return status;
}
