/*
 * `ncube experiments`: the command line. The measurements, and the report, are made by python3 in the folder `measure`
 * beside ncube's (images/measure/experiments.py); this process becomes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/beside.h"
#include "emu/base/child.h"
#include "emu/base/memory.h"
#include "emu/base/options.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/hosts.h"
#include "emu/config/config_options.h"
#include "emu/config/machine_file.h"
#include "emu/config/overrides.h"

#define SETTINGS_MAX 32 /* of --set */
#define PARTS_MAX    32 /* of --only */
#define BYTES_LEAST  4096u
#define BYTES_MAX    (8u << 20)

struct arguments {
    const char *machine, *out, *keep, *launch;
    uint32_t bytes, parts, paper;
    bool full;
    const char *part[PARTS_MAX];
};

static void print_parts(void);

static void take_part(const struct options *o, const struct option_line *l, void *to, const char *value)
{
    struct arguments *a = to;

    if (a->parts == PARTS_MAX)
        options_refuse(o, "%s '%s': at most %u parts", l->name, value, PARTS_MAX);
    a->part[a->parts++] = value;
}

static void take_bytes(const struct options *o, const struct option_line *l, void *to, const char *value)
{
    uint64_t bytes = options_size(o, l->name, value, BYTES_MAX);

    if (bytes < BYTES_LEAST || bytes % BYTES_LEAST != 0)
        options_refuse(o, "%s '%s': give a multiple of 4K up to 8M", l->name, value);
    *(uint32_t *)to = (uint32_t)bytes;
}

/* Every machine gets it, and so does every run of one. */
static void take_setting(const struct options *o, const struct option_line *l, void *to, const char *text)
{
    if (strncmp(text, "drives.image=", strlen("drives.image=")) == 0 ||
        strncmp(text, "images=", strlen("images=")) == 0)
        options_refuse(o, "%s '%s': the measurements have images of their own; omit it", l->name, text);
    if (overrides_at(SETTINGS_MAX - 1))
        options_refuse(o, "%s '%s': at most %u settings", l->name, text, SETTINGS_MAX);
    overrides_take_option(o, l, to, text);
}

#define TO(kind, member) OPTION_INTO(kind, struct arguments, member)

static const struct option_line lines[] = {
    {OPTION_MACHINE_WORD},
    {"out", "DIR", "folder for the report, created if necessary (default: experiments)", TO(OPTION_FOLDER, out)},
    {"paper", "N", "the study of paper N (default 0)", TO(OPTION_NUMBER, paper), .low = 0, .high = 999},
    {"full", NULL, "the paper's own sizes, where a study is shorter without", TO(OPTION_FLAG, full)},
    {"only", "NAME", "only this part of the report; may be given again", OPTION_OWN, .take = take_part},
    {"bytes", "SIZE", "bytes of one transfer, up to 8M (default of paper 0: 2M, as there)", TO(OPTION_OWN, bytes),
     .take = take_bytes},
    {"keep", "DIR", "keep the results of runs in this folder, and do not run again what is there",
     TO(OPTION_FOLDER, keep)},
    {"launch", "COMMAND", "let COMMAND, such as 'mpirun.openmpi -np 5', start each run by ncube-mpi, on several hosts",
     TO(OPTION_TEXT, launch)},
    {OPTION_SET_BY(take_setting)},
    {0}};

static const struct options options = {
    .command = "ncube experiments",
    .usage = "[OPTION...] [MACHINE]",
    .words = 1,
    .summary =
        "Measures a paper's parallel file I/O on the machine of the machine file MACHINE (default of paper 0:\n"
        "sandia) and on machines that are wired as the paper's model assumes. Writes report.md and report.html,\n"
        "with plots, and every measurement in runs.json. It makes images of its own. With --keep, an interrupted\n"
        "study continues.",
    .line = lines,
    .print_end = print_parts,
};

static char *find_script(void)
{
    char *folder = beside_find("measure"), *script = memory_print("%s/experiments.py", folder);

    free(folder);
    return script;
}

static int say_no_python(void)
{
    return options_fail(&options, "python3, which makes the report, cannot be run; Debian has it in python3");
}

/* Becomes python3 with the script and the other words of argv. Returns only to say why it could not. */
static int become_script(char **argv)
{
    argv[0] = "python3";
    argv[1] = "-B"; /* the folder may not be ours to write to */
    argv[2] = find_script();
    execvp(argv[0], argv);
    return say_no_python();
}

static void print_parts(void)
{
    puts("\nThe parts:");
    fflush(stdout);
    if (child_run((char *[]){"python3", "-B", find_script(), "--parts", NULL}, false) == CHILD_NOT_FOUND)
        say_no_python();
}

int experiments_command(int argc, char **argv)
{
    struct arguments a = {.out = "experiments", .keep = ""};
    char **word = options_parse(&options, &a, argc, argv);
    char *argument[11 + PARTS_MAX + SETTINGS_MAX + 1] = {NULL};
    int n = 3;

    if (getenv(HOSTS_WITHIN)) /* its many runs cannot be that of these processes */
        options_refuse(&options, "experiments are started by ncube, and start mpirun for each run: ncube experiments "
                                 "--launch='mpirun.openmpi -np 3'");
    const char *machine = word[0] ? word[0] : a.machine;
    argument[n++] = beside_find("");
    argument[n++] = machine ? machine_file_find(machine) : "";
    argument[n++] = (char *)a.out;
    argument[n++] = memory_print("%u", a.bytes);
    argument[n++] = (char *)a.keep;
    argument[n++] = memory_print("--paper=%u", a.paper);
    if (a.full)
        argument[n++] = "--full";
    if (a.launch)
        argument[n++] = memory_print("--launch=%s", a.launch);
    for (uint32_t i = 0; i < a.parts; i++)
        argument[n++] = memory_print("--only=%s", a.part[i]);
    for (uint32_t i = 0; overrides_at(i); i++)
        argument[n++] = memory_print("--set=%s", overrides_at(i));
    return become_script(argument);
}
