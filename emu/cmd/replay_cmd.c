/* `ncube replay`: a recorded run once more, from its recording alone. */
#include "emu/cmd/commands.h"
#include "emu/cmd/machine_options.h"
#include "emu/machine/replaying.h"
#include "emu/state/tracing.h"

struct replay_words {
    struct run_options options;
};

static const struct option_line lines[] = {
    {OPTION_TABLE(machine_lines, offsetof(struct replay_words, options.machine))},
    {OPTION_TABLE(machine_watch_lines, offsetof(struct replay_words, options.machine))},
    {0}};

static const struct options options = {
    .command = "ncube replay",
    .usage = "[OPTION...] FILE",
    .summary = "Repeats the run that ncube run --record=FILE has recorded: the same output, exit status, trace,\n"
               "statistics and report, without its files, and without touching the host's.",
    .line = lines,
    .end = "Exits with the run's status; 1 also if FILE cannot be replayed.",
    .words = 1,
};

int replay_command(int argc, char **argv)
{
    struct replay_words w = {.options = {.machine = {.lib = options_find_lib(), .trace = TRACING_NONE}}};
    struct replayer run = {0};
    struct machine_options *m = &w.options.machine;
    char **word = options_parse(&options, &w, argc, argv), error[ERROR_LINE_BYTES];

    if (!word[0])
        options_refuse(&options, "give a recording");
    tracing_check(&options, &m->trace);
    options_check_watch(&options, m);
    if (recording_read(&m->recording, word[0], error) < 0)
        return options_fail(&options, "%s", error);
    int status = replayer_fill(&w.options, &run, error) < 0 ? options_fail(&options, "%s: %s", word[0], error)
                                                            : replaying_run(&w.options, &run);
    replayer_free(&run);
    recording_free(m->recording);
    return status;
}
