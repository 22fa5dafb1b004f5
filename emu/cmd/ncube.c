/* ncube: the command line. The commands that boot a machine, and `ncube down`, take their options here; the others are
 * functions of files of their own (tool.h). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/limits.h"
#include "emu/base/memory.h"
#include "emu/base/nearest.h"
#include "emu/base/beside.h"
#include "emu/link/boot.h"
#include "emu/link/link.h"
#include "emu/base/options.h"
#include "emu/config/overrides.h"
#include "emu/machine/replaying.h"
#include "emu/machine/run.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/hosts.h"
#include "emu/cmd/job_options.h"
#include "emu/cmd/machine_options.h"
#include "vertex/contract/machine.h"

static const struct machine_far *far; /* other hosts for the nodes; NULL: none */

/* ---- Options of machines ---- */

/* Refuses --set where no machine file is given that it could change. */
static void check_set(const struct options *o, const struct machine_options *m)
{
    if (!m->machine && overrides_at(0))
        options_refuse(o, "set '%s' changes a machine file, and none is given", overrides_at(0));
}

#define TO(kind, member) OPTION_INTO(kind, struct machine_options, member)

static const struct option_line record_lines[] = {
    {"record", "FILE", "write a recording to FILE, from which ncube replay repeats all of it anywhere",
     TO(OPTION_FILE, record)},
    {"record-light", NULL, "leave the programs out of the recording", TO(OPTION_FLAG, light)},
    {0}};

static const struct option_line machine_file_lines[] = {
    {OPTION_SET},
    {"images", "DIR", "folder of the drives' images (default: the machine file's)", TO(OPTION_TEXT, images)},
    {OPTION_TABLE(machine_lines, 0)},
    {0}};

static const struct option_line run_machine_lines[] = {{"machine", "FILE",
                                                        "machine file (default: just the subcube, no I/O nodes)",
                                                        TO(OPTION_TEXT, machine), .letter = 'm'},
                                                       {OPTION_TABLE(machine_file_lines, 0)},
                                                       {OPTION_TABLE(machine_watch_lines, 0)},
                                                       {OPTION_TABLE(record_lines, 0)},
                                                       {0}};

static const struct option_line boot_machine_lines[] = {
    {"dimension", "DIM", "without a machine file: 2^DIM nodes (default 0: one node)", TO(OPTION_NUMBER, dim), 0,
     NODE_MAX_DIM, .letter = 'd'},
    {OPTION_MACHINE_WORD},
    {OPTION_TABLE(machine_file_lines, 0)},
    {"gdb", "[PORT]", "let ncube gdb debug programs, on a port (default: a free one); same results", OPTION_OWN,
     .take = options_take_gdb},
    {OPTION_TABLE(record_lines, 0)},
    {0}};

/* ---- ncube run ---- */

struct run_words {
    struct run_options options;
    struct job_words job;
};

static const struct option_line run_lines[] = {
    {OPTION_TABLE(job_lines, offsetof(struct run_words, job))},
    {OPTION_TABLE(run_machine_lines, offsetof(struct run_words, options.machine))},
    {"limit", "SECONDS", "stop after SECONDS of virtual time",
     OPTION_INTO(OPTION_CYCLES, struct run_words, options.limit_cycles), 1},
    {0}};

static const struct options run_options = {
    .command = "ncube run",
    .usage = "[OPTION...] PROG [ARG...] [{: | '|'} [-d DIM] [-n NODES] PROG [ARG...]]...",
    .summary = "Boots a machine, runs PROG on a subcube of it, and exits with the program's status.",
    .line = run_lines,
    .end = "Exit statuses of ncube itself: 1 failure, or a fault in the program; 2 usage; 123 a node of the\n"
           "program is dead; 124 limit of virtual time; 125 deadlock; 128 + n ended by signal n.",
    .takes_program = true,
};

/* Returns the words with spaces between them, which the caller frees. */
static char *join_words(char **word)
{
    size_t bytes = 1;

    for (char **w = word; *w; w++)
        bytes += strlen(*w) + 1;
    char *text = memory_new(bytes, 1), *end = text;
    for (char **w = word; *w; w++) {
        end = stpcpy(end, *w);
        if (w[1])
            *end++ = ' ';
    }
    return text;
}

/* What a user of gdb does is in no recording. */
static void check_record(const struct options *o, const struct machine_options *m)
{
    if (m->light && !m->record)
        options_refuse(o, "record-light without a recording; add --record=FILE");
    if (m->record && m->gdb)
        options_refuse(o, "record and gdb cannot be combined; record a run, then debug it with ncube replay --gdb");
}

/* Debuggers read the nodes' memory in this process. */
static void check_hosts(const struct options *o, const struct machine_options *m)
{
    if (m->racks && !m->far)
        options_refuse(o, "racks: all nodes are on this host; mpirun.openmpi starts ncube-mpi on several");
    if (m->far && (m->gdb || m->core_dir || m->check))
        options_refuse(o, "%s is not possible while other hosts have the nodes; run it by ncube",
                       m->gdb        ? "gdb"
                       : m->core_dir ? "core"
                                     : "check");
}

/* "--report ./prog": the word after the option is its file. */
static void check_words(const struct machine_options *m, char **word)
{
    const char *file = m->trace.report ? m->trace.report : m->trace.path,
               *option = m->trace.report ? "report" : "trace";

    if (!*word && file)
        options_refuse(&run_options, "no program given; '%s' is the file of --%s", file, option);
}

static int command_run(int argc, char **argv)
{
    struct run_words w = {.options = {.machine = {.lib = options_find_lib(),
                                                  .trace = TRACING_NONE,
                                                  .gdb_memory = OPTIONS_GDB_MEMORY_MB,
                                                  .from_words = true},
                                      .limit_cycles = UINT64_MAX}};

    char **word = options_parse(&run_options, &w, argc, argv), *program = join_words(word);
    check_words(&w.options.machine, word);
    options_take_programs(&run_options, &w.job, word);
    tracing_check(&run_options, &w.options.machine.trace);
    options_check_watch(&run_options, &w.options.machine);
    check_record(&run_options, &w.options.machine);
    check_set(&run_options, &w.options.machine);
    w.options.machine.far = far;
    check_hosts(&run_options, &w.options.machine);
    w.options.machine.dim = w.job.job.dim;
    w.options.job = w.job.job;
    w.options.job.in = STDIN_FILENO;
    w.options.job.out = STDOUT_FILENO;
    w.options.job.err = STDERR_FILENO;
    w.options.machine.program = program;
    if (w.options.machine.record)
        w.options.machine.recording = w.options.job.recording = recording_new(w.options.machine.record);
    bool goes_back = w.options.machine.gdb && w.options.machine.gdb_memory > 0;
    int status = goes_back ? replaying_run_kept(&w.options) : run_program(&w.options);
    recording_free(w.options.machine.recording);
    free(program);
    return status;
}

/* ---- ncube boot ---- */

static const struct option_line boot_lines[] = {
    {OPTION_TABLE(boot_machine_lines, offsetof(struct boot_options, machine))},
    {OPTION_NAME(offsetof(struct boot_options, name))},
    {"detach", NULL, "return when the machine is up; it keeps running in the background",
     OPTION_INTO(OPTION_FLAG, struct boot_options, detach)},
    {0}};

static const struct options boot_options = {
    .command = "ncube boot",
    .usage = "[OPTION...] [MACHINE]",
    .words = 1,
    .summary =
        "Boots the machine of the machine file MACHINE and keeps it up until ncube down; xnc runs programs on it.",
    .line = boot_lines,
};

static int command_boot(int argc, char **argv)
{
    struct boot_options o = {
        .machine = {.lib = options_find_lib(), .trace = TRACING_NONE, .kept_up = true, .from_words = true}};
    char **word = options_parse(&boot_options, &o, argc, argv);

    o.machine.machine = word[0];
    o.machine.far = far;
    check_hosts(&boot_options, &o.machine);
    if (o.detach && far)
        options_refuse(&boot_options, "detach: MPI ends its processes with mpirun; start mpirun in the background");
    if (o.detach && ((o.machine.statistics && !o.machine.statistics_file) || o.machine.heartbeat_s > 0))
        options_refuse(&boot_options, "detach: what %s prints would be lost%s",
                       o.machine.heartbeat_s > 0 ? "--heartbeat" : "--stats",
                       o.machine.heartbeat_s > 0 ? "" : "; give --stats=FILE");
    if (o.machine.machine && o.machine.dim > 0)
        options_refuse(&boot_options, "the machine file gives the number of nodes; omit -d");
    tracing_check(&boot_options, &o.machine.trace);
    options_check_harts(&boot_options, &o.machine);
    check_record(&boot_options, &o.machine);
    check_set(&boot_options, &o.machine);
    o.name = options_machine_name(&boot_options, o.name);
    if (o.machine.record)
        o.machine.recording = recording_new(o.machine.record);
    int status = boot_machine(&o);
    recording_free(o.machine.recording);
    return status;
}

/* ---- ncube down ---- */

static const struct options down_options = {
    .command = "ncube down",
    .usage = "[OPTION...]",
    .summary = "Shuts down a machine that ncube boot keeps up: kills its programs, shuts down its I/O nodes, and waits "
               "for its\n"
               "end.",
    .line = (const struct option_line[]){OPTION_RUNNING(0), {0}},
};

static int command_down(int argc, char **argv)
{
    const char *name = NULL;
    char error[256], text[LINK_TEXT_BYTES];

    options_parse(&down_options, &name, argc, argv);
    int fd = link_connect(options_machine_name(&down_options, name), error, sizeof error);
    if (fd < 0)
        return options_fail(&down_options, "%s", error);
    link_send(fd, LINK_DOWN, NULL, 0, false); /* a machine that has hung up may have sent why */
    int status = link_await_status(fd, "ncube", text);
    if (*text)
        options_fail(&down_options, "%s", text);
    close(fd);
    return status;
}

/* ---- Commands ---- */

static const struct command {
    const char *name;
    command_fn *run;
    const char *help;
} commands[] = {
    {"run", command_run, "boot a machine, run a program on it, shut it down"},
    {"replay", replay_command, "repeat a recorded run, with nothing but its recording"},
    {"record", record_command, "show what a recording contains"},
    {"boot", command_boot, "boot a machine and keep it running for xnc"},
    {"down", command_down, "shut down a running machine"},
    {"ps", ps_command, "list running machines and their programs"},
    {"top", top_command, "monitor a running machine"},
    {"gdb", gdb_command, "print how to attach gdb to a program on a running machine"},
    {"check", check_command, "check a machine file and its images"},
    {"topo", topo_command, "print how a machine is wired"},
    {"route", route_command, "print the paths between nodes and what they share"},
    {"place", place_command, "rank the compute nodes as places for work on volumes"},
    {"report", report_command,
     "make an HTML report from a trace: what ran when, what each node waited for, what was busy"},
    {"experiments", experiments_command,
     "measure parallel file I/O on a machine and write the paper's study as a report"},
    {"model", model_command, "predict the rate of parallel file I/O by queueing theory"},
    {"disk", disk_command, "make, check and change the images of drives"},
    {"map", map_command, "draw which element has which byte of a file, and what two patterns have in common"},
    {"star", star_command, "show, read, convert and repair parallel files of virtual processors"},
};

/* Prints a path as a word of a shell's command line. */
static void print_word(const char *folder, const char *name)
{
    if (folder[strspn(folder, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+")] == '\0') {
        printf("%s%s", folder, name);
        return;
    }
    putchar('\'');
    for (const char *c = folder; *c != '\0'; c++)
        fputs(*c == '\'' ? "'\\''" : (char[2]){*c}, stdout);
    printf("%s'", name);
}

/* Prints another command in the way in which ncube was called: by its name only, or with its folder. */
static void print_command(const char *name)
{
    const char *end = strrchr(program_invocation_name, '/');
    char *folder = memory_copy_text(program_invocation_name, end ? (size_t)(end + 1 - program_invocation_name) : 0);

    print_word(folder, name);
    free(folder);
}

/* Prints three command lines that work from any folder. */
static void print_first_steps(void)
{
    char *examples = beside_find("examples");

    printf("To get started:\n\n  $ ");
    print_command("ncube");
    printf(" run -d 3 ");
    print_word(examples, "/hello");
    printf("\n  $ ");
    print_command("ncc");
    printf(" -o hello ");
    print_word(examples, "/hello.c");
    printf(" && ");
    print_command("ncube");
    printf(" run -d 2 --label --stats ./hello\n  $ ");
    print_command("ncube");
    puts(" topo sandia");
    free(examples);
}

static void print_commands(void)
{
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        printf("  ncube %-12s %s\n", commands[i].name, commands[i].help);
    puts("\nEvery command has --help, and so do xnc and ncc. Manual pages: ncube(1), xnc(1), ncc(1).\n");
    print_first_steps();
}

static const struct options ncube_options = {
    .command = "ncube",
    .usage = "COMMAND [OPTION...] ...",
    .summary = "Emulates an nCUBE 2: boots it, runs programs on it, analyses it.",
    .print_end = print_commands,
    .takes_program = true,
};

static _Noreturn void refuse_command(const char *name)
{
    const char *meant = NULL;

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        meant = nearest_word(name, meant, commands[i].name);
    if (meant)
        options_refuse(&ncube_options, "unknown command '%s'; did you mean 'ncube %s'?", name, meant);
    options_refuse(&ncube_options, "unknown command '%s'", name);
}

int main(int argc, char **argv)
{
    far = hosts_begin(&argc, &argv);
    options_hold_streams();
    limits_raise(); /* before anything needs a descriptor */
    char **word = options_parse(&ncube_options, NULL, argc, argv);
    if (!word[0])
        options_refuse(&ncube_options, "no command given");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(word[0], commands[i].name) == 0) {
            char name[64];

            snprintf(name, sizeof name, "ncube %s", commands[i].name);
            int words = argc - (int)(word - argv);
            word[0] = name;
            return options_end_output(commands[i].run(words, word));
        }
    refuse_command(word[0]);
}
