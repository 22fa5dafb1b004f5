/* A job on a command line (job_options.h). */
#include "emu/cmd/job_options.h"

#include <stdlib.h>
#include <string.h>

#include "emu/job/loader.h"
#include "emu/link/link.h"
#include "vertex/contract/machine.h"

static const char *const status_rules[] = {
    [JOB_STATUS_HIGHEST] = "highest", [JOB_STATUS_FIRST] = "first", [JOB_STATUS_NODE0] = "node0", NULL};

#define TO(kind, member) OPTION_INTO(kind, struct job_words, member)

const struct option_line job_lines[] = {
    {"dimension", "DIM", "run on a subcube of 2^DIM nodes (default: ncc -dN, or 0)", TO(OPTION_NUMBER, job.dim), 0,
     NODE_MAX_DIM, .letter = 'd', .given = offsetof(struct job_words, dimension_given)},
    {"nodes", "NODES", "nodes for the program, any number (default: an equal share of the subcube)",
     TO(OPTION_NUMBER, program[0].nodes), 1, 1u << NODE_MAX_DIM, .letter = 'n'},
    {"serve", "DIR", "directory of the host that is the program's root (default: none)", TO(OPTION_TEXT, job.serve)},
    {"status", "RULE", "which exit status of the nodes counts: highest (default), first or node0",
     TO(OPTION_CHOICE, job.status_rule), .choices = status_rules},
    {"label", NULL, "prefix each line of output with its node", TO(OPTION_FLAG, job.label)},
    {"registers", NULL, "print the registers after a fault", TO(OPTION_FLAG, job.registers)},
    {"stack", "SIZE", "stack size: bytes, or with K or M (default: ncc -Nstack)", TO(OPTION_SIZE, job.stack_bytes), 1,
     NODE_RAM_MAX_BYTES},
    {"heap", "SIZE", "maximum heap size (default: ncc -Nheap, or all that is free)", TO(OPTION_SIZE, job.heap_bytes), 1,
     NODE_RAM_MAX_BYTES},
    {"comm", "SIZE", "memory reserved for messages (default: ncc -Ncomm, or 128K)", TO(OPTION_SIZE, job.comm_bytes), 1,
     NODE_RAM_MAX_BYTES},
    {0}};

/* `words`: those of the later program alone. */
static void take_later_option(const struct options *o, void *words, const struct option_line *l, const char *value)
{
    bool piped = ((struct job_words *)words)->program[0].piped;

    if (l->letter != 'n' && (l->letter != 'd' || !piped))
        options_refuse(o, "after '%s only the option%s possible; other options go before the first program",
                       piped ? "|'" : ":'", piped ? "s -d and -n are" : " -n is");
    options_put(o, l, words, value);
}

/* Takes the options of a later program; argv[-1] is the ':' or '|'. Returns the words after the options. */
static char **take_later_options(const struct options *o, struct job_words *w, uint32_t i, char **argv)
{
    struct options later = *o;
    struct job_words own = {.program[0] = w->program[i]};
    int argc = 1;

    later.take = take_later_option;
    while (argv[argc - 1])
        argc++;
    argv = options_parse(&later, &own, argc, argv - 1);
    w->program[i] = own.program[0];
    w->program[i].dim = own.job.dim;
    w->stage_dimension_given[i] = own.dimension_given;
    return argv;
}

/* A program may say how many nodes it wants. What is wrong with it is told when the job is made, which then reads it
 * again. Returns the dimension; 0 if it says nothing. */
static uint32_t read_program(const char *path, struct elf_image *image)
{
    char error[256];

    return elf_image_read(image, path, error, sizeof error) == 0 ? elf_default_dim(image) : 0;
}

static void read_first_program(struct job_words *w)
{
    w->job.dim = read_program(w->program[0].path, &w->image);
    if (w->image.segments > 0)
        w->program[0].image = &w->image;
}

static uint32_t read_later_program(const char *path)
{
    struct elf_image image = {.segments = 0};
    uint32_t dim = read_program(path, &image);

    elf_image_free(&image);
    return dim;
}

static bool ends_program(const char *word)
{
    return !word || strcmp(word, ":") == 0 || strcmp(word, "|") == 0;
}

/* Takes the words of program i. argv[0] is its first word, or that of its options. Returns where the words end. */
static char **take_program(const struct options *o, struct job_words *w, uint32_t i, char **argv)
{
    struct job_program *p = &w->program[i];

    argv = i > 0 ? take_later_options(o, w, i, argv) : argv;
    p->argv = argv;
    for (; !ends_program(*argv); argv++)
        p->argc++;
    if (p->argc == 0)
        options_refuse(o, i == 0 && !*argv ? "no program given" : "no program given between ':' or '|'");
    p->path = p->argv[0];
    if (p->piped && !w->stage_dimension_given[i])
        p->dim = read_later_program(p->path);
    return argv;
}

/* Without -d, a stage whose programs all have -n gets the smallest subcube in which they fit. */
static void fit_stage(struct job_words *w, uint32_t first)
{
    uint64_t nodes = 0;

    for (uint32_t i = first; i < w->job.programs && (i == first || !w->program[i].piped); i++) {
        if (w->program[i].nodes == 0)
            return;
        nodes += w->program[i].nodes;
    }
    w->program[first].dim = job_dimension_of_nodes(nodes);
}

void options_take_programs(const struct options *o, struct job_words *w, char **argv)
{
    bool piped = false;

    w->job.program = w->program;
    for (uint32_t i = 0;; i++, argv++) {
        if (i == JOB_PROGRAMS_MAX)
            options_refuse(o, "at most %u programs are possible; give fewer", JOB_PROGRAMS_MAX);
        w->program[i].piped = piped;
        argv = take_program(o, w, i, argv);
        w->job.programs = i + 1;
        if (!*argv)
            break;
        piped = strcmp(*argv, "|") == 0;
        *argv = NULL;
    }
    if (!w->dimension_given)
        read_first_program(w);
    w->program[0].dim = w->job.dim;
    w->stage_dimension_given[0] = w->dimension_given;
    for (uint32_t i = 0; i < w->job.programs; i++)
        if (!w->stage_dimension_given[i] && (i == 0 || w->program[i].piped))
            fit_stage(w, i);
    w->job.dim = job_dimension(w->program, w->job.programs, w->program[0].dim);
    if (w->job.dim > NODE_MAX_DIM)
        options_refuse(o, "the programs of the pipeline need more than 2^%u nodes; give smaller -d", NODE_MAX_DIM);
}

const char *options_machine_name(const struct options *o, const char *value)
{
    const char *name = value ? value : getenv("NCUBE_NAME");

    if (!name || !*name)
        return "ncube";
    if (!link_name_is_sound(name))
        options_refuse(o, "name '%s': give at most %d letters, digits, '_', '-', '.'", name, LINK_NAME_MAX);
    return name;
}
