/*
 * The parser of command lines: getopt_long reads them by tables that are made from struct option_line; what getopt_long
 * would let pass (abbreviations) or print itself is checked and refused here.
 */
#define _GNU_SOURCE
#include "emu/cmd/options.h"

#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/nearest.h"
#include "emu/base/oneline.h"
#include "emu/cmd/link.h"
#include "emu/front/loader.h"
#include "vertex/contract/machine.h"

#define LINES_MAX         32
#define OPTION_NAME_BYTES 64

enum { OTHER_WORD = 1 }; /* getopt's */

void options_refuse(const struct options *o, const char *format, ...)
{
    char text[4608];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s; see %s --help\n", o->command, one_line(text), o->command);
    exit(OPTIONS_USAGE_STATUS);
}

/* ---- Help --------------------------------------------------------------------------------------- */

static bool value_is_optional(const struct option_line *l)
{
    return l->value && l->value[0] == '[';
}

static void print_line(const struct option_line *l)
{
    char option[64];
    bool is_short = l->key < 256;

    int n = snprintf(option, sizeof option, "%s%c%s --%s", is_short ? "-" : " ", is_short ? l->key : ' ',
                     is_short ? "," : " ", l->name);
    if (value_is_optional(l))
        snprintf(option + n, sizeof option - n, "[=%s", l->value + 1);
    else if (l->value)
        snprintf(option + n, sizeof option - n, "=%s", l->value);
    printf("  %-27s %s\n", option, l->help);
}

static _Noreturn void print_help(const struct options *o)
{
    printf("Usage: %s %s\n%s\n\n", o->command, o->usage, o->summary);
    for (const struct option_line *const *l = o->line; *l; l++)
        print_line(*l);
    puts("  -h, --help                  print this");
    if (o->end)
        printf("\n%s\n", o->end);
    if (o->print_end)
        o->print_end();
    exit(options_end_output(0));
}

int options_end_output(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "%s: standard output: %s\n", program_invocation_short_name, strerror(errno));
    return status != 0 ? status : 1;
}

void options_hold_streams(void)
{
    int fd;

    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
        ;
    if (fd > STDERR_FILENO)
        close(fd);
}

/* ---- Parsing ------------------------------------------------------------------------------------ */

static void make_tables(const struct options *o, struct option *longs, char *shorts)
{
    size_t n = 0;

    /* '+': the first other word ends the options; '-': other words are returned as options with the key OTHER_WORD */
    shorts = stpcpy(shorts, o->takes_program ? "+:h" : "-:h");
    for (; o->line[n]; n++) {
        const struct option_line *l = o->line[n];
        int argument = !l->value ? no_argument : value_is_optional(l) ? optional_argument : required_argument;

        longs[n] = (struct option){l->name, argument, NULL, l->key};
        if (l->key < 256) {
            *shorts++ = (char)l->key;
            if (l->value)
                *shorts++ = ':';
        }
    }
    *shorts = '\0';
    longs[n] = (struct option){"help", 0, NULL, KEY_HELP};
}

/* Writes the option that getopt has just read from `word`: "--name" without its value, or one of several letters. */
static const char *option_in(const char *word, char name[OPTION_NAME_BYTES])
{
    if (strncmp(word, "--", 2) == 0)
        snprintf(name, OPTION_NAME_BYTES, "%.*s", (int)strcspn(word, "="), word);
    else
        snprintf(name, OPTION_NAME_BYTES, "-%c", optopt);
    return name;
}

static const struct option *find_long(const struct option *longs, const char *name)
{
    for (; longs->name; longs++)
        if (strcmp(longs->name, name) == 0)
            return longs;
    return NULL;
}

const struct option_line option_machine_word = {KEY_MACHINE, "machine", "FILE", "machine file, instead of MACHINE"};

static bool has_machine_word(const struct options *o)
{
    for (const struct option_line *const *l = o->line; *l; l++)
        if (*l == &option_machine_word)
            return true;
    return false;
}

/* Puts a word before the others, which end at `end`. Its option has left room. */
static char **insert_first(char **first, char **end, char *word)
{
    if (!word)
        return end;
    memmove(first + 1, first, (size_t)(end - first) * sizeof *first);
    *first = word;
    return end + 1;
}

static _Noreturn void refuse_long(const struct options *o, const struct option *longs, const char *name)
{
    const char *meant = NULL;

    for (; longs->name; longs++)
        meant = nearest_word(name + 2, meant, longs->name);
    if (meant)
        options_refuse(o, "unknown option '%s'; did you mean '--%s'?", name, meant);
    options_refuse(o, "unknown option '%s'", name);
}

/* Checks the option that getopt_long has read from `word`; `key` is what getopt_long returned. Ends the process if the
 * option is wrong. */
static void check(const struct options *o, const struct option *longs, const char *word, int key)
{
    char name[OPTION_NAME_BYTES];
    bool is_long = strncmp(word, "--", 2) == 0;

    option_in(word, name);
    /* getopt_long would accept "--sta" for "--stats", until a version also has "--start". */
    const struct option *whole = is_long ? find_long(longs, name + 2) : NULL;
    if (is_long && !whole)
        refuse_long(o, longs, name);
    if (key == ':')
        options_refuse(o, "option '%s' needs a value", name);
    if (key == '?' && whole)
        options_refuse(o, "option '%s' takes no value", name);
    if (key == '?')
        options_refuse(o, "unknown option '%s'", name);
}

char **options_parse(const struct options *o, void *ctx, int argc, char **argv)
{
    struct option longs[LINES_MAX + 2] = {0};
    char shorts[2 * LINES_MAX + 4];
    char *machine = NULL, **other = argv + 1; /* other words are collected here, never more than have been read */
    int key, word;

    make_tables(o, longs, shorts);
    opterr = 0;
    optind = 0; /* glibc needs this if another command line was read before */
    while (word = optind > 0 ? optind : 1, (key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (key == OTHER_WORD) {
            *other++ = optarg;
            continue;
        }
        check(o, longs, argv[word], key);
        if (key == KEY_HELP)
            print_help(o);
        if (key == KEY_MACHINE && has_machine_word(o)) {
            machine = optarg;
            continue;
        }
        if (!o->take(ctx, key, optarg))
            options_refuse(o, "unknown option '%s'", argv[word]);
    }
    if (o->takes_program)
        return argv + optind;
    while (optind < argc) /* after "--" */
        *other++ = argv[optind++];
    other = insert_first(argv + 1, other, machine);
    *other = NULL;
    return argv + 1;
}

/* ---- Numbers ------------------------------------------------------------------------------------ */

bool options_read_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoull(text, &end, 10);
    return errno == 0 && *text >= '0' && *text <= '9' && *end == '\0' && *value >= low && *value <= high;
}

uint32_t options_number(const struct options *o, const char *what, const char *value, uint32_t low, uint32_t high)
{
    uint64_t number;

    if (!options_read_number(value, low, high, &number))
        options_refuse(o, "%s '%s': give a number from %u to %u", what, value, low, high);
    return (uint32_t)number;
}

/* ---- Jobs --------------------------------------------------------------------------------------- */

const struct option_line option_dimension = {KEY_DIMENSION, "dimension", "DIM",
                                             "run on a subcube of 2^DIM nodes (default: what ncc -dN said, or 0)"};
const struct option_line option_nodes = {KEY_NODES, "nodes", "NODES",
                                         "nodes for the program, any number (default: an equal share of the subcube)"};
const struct option_line option_serve = {KEY_SERVE, "serve", "DIR",
                                         "host folder that is the program's root (default: none)"};
const struct option_line option_status = {KEY_STATUS, "status", "RULE",
                                          "exit status of the nodes': highest (default), first or node0"};
const struct option_line option_label = {KEY_LABEL, "label", NULL, "begin every line of output with its node"};
const struct option_line option_registers = {KEY_REGISTERS, "registers", NULL, "print the registers after a fault"};
const struct option_line option_stack = {KEY_STACK, "stack", "SIZE",
                                         "size of the stack: bytes, or with K or M (default: ncc -Nstack)"};
const struct option_line option_heap = {KEY_HEAP, "heap", "SIZE",
                                        "most that the heap may take (default: ncc -Nheap, or what there is)"};
const struct option_line option_comm = {KEY_COMM, "comm", "SIZE",
                                        "memory that heap and stack leave to messages (default: ncc -Ncomm, or 128K)"};
const struct option_line option_name = {KEY_NAME, "name", "NAME",
                                        "the machine's name (default: $NCUBE_NAME, or ncube)"};

const struct option_line option_json = {KEY_JSON, "json", NULL, "as JSON"};

uint32_t options_dimension(const struct options *o, const char *value)
{
    return options_number(o, "dimension", value, 0, NODE_MAX_DIM);
}

uint64_t options_size(const struct options *o, const char *what, const char *value, uint64_t max)
{
    char *end;

    errno = 0;
    unsigned long number = strtoul(value, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 0;
    if (errno != 0 || end == value || value[0] == '-' || number == 0 || end[shift > 0] != '\0' || number > max >> shift)
        options_refuse(o, "%s '%s': give a size up to %" PRIu64 "M, such as 65536, 64K or 1M", what, value, max >> 20);
    return (uint64_t)number << shift;
}

static uint32_t parse_nodes(const struct options *o, const char *value)
{
    return options_number(o, "nodes", value, 1, 1u << NODE_MAX_DIM);
}

static enum job_status_rule parse_status(const struct options *o, const char *value)
{
    static const char *const names[] = {
        [JOB_STATUS_HIGHEST] = "highest", [JOB_STATUS_FIRST] = "first", [JOB_STATUS_NODE0] = "node0"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(value, names[i]) == 0)
            return (enum job_status_rule)i;
    options_refuse(o, "status '%s': give highest, first or node0", value);
}

bool options_take_job(const struct options *o, struct job_words *w, int key, const char *value)
{
    switch (key) {
    case KEY_DIMENSION:
        w->job.dim = options_dimension(o, value);
        w->dimension_given = true;
        return true;
    case KEY_NODES:
        w->program[0].nodes = parse_nodes(o, value);
        return true;
    case KEY_SERVE:
        w->job.serve = value;
        return true;
    case KEY_STATUS:
        w->job.status_rule = parse_status(o, value);
        return true;
    case KEY_STACK:
        w->job.stack_bytes = options_size(o, "stack", value, NODE_RAM_MAX_BYTES);
        return true;
    case KEY_HEAP:
        w->job.heap_bytes = options_size(o, "heap", value, NODE_RAM_MAX_BYTES);
        return true;
    case KEY_COMM:
        w->job.comm_bytes = options_size(o, "comm", value, NODE_RAM_MAX_BYTES);
        return true;
    case KEY_LABEL:
        return w->job.label = true;
    case KEY_REGISTERS:
        return w->job.registers = true;
    default:
        return false;
    }
}

struct later_program {
    const struct options *options;
    struct job_program *program;
    bool dimension_given;
};

static bool take_later_option(void *ctx, int key, const char *value)
{
    struct later_program *later = ctx;

    if (key == KEY_DIMENSION && later->program->piped) {
        later->program->dim = options_dimension(later->options, value);
        return later->dimension_given = true;
    }
    if (key != KEY_NODES)
        options_refuse(later->options,
                       "after '%s only the option%s possible; other options go before the first program",
                       later->program->piped ? "|'" : ":'", later->program->piped ? "s -d and -n are" : " -n is");
    later->program->nodes = parse_nodes(later->options, value);
    return true;
}

/* Takes the options of a later program; argv[-1] is the ':' or '|'. Returns the words after the options. */
static char **take_later_options(const struct options *o, struct later_program *p, char **argv)
{
    struct options later = *o;
    int argc = 1;

    later.take = take_later_option;
    while (argv[argc - 1])
        argc++;
    return options_parse(&later, p, argc, argv - 1);
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
    struct later_program later = {.options = o, .program = p};

    argv = i > 0 ? take_later_options(o, &later, argv) : argv;
    p->argv = argv;
    for (; !ends_program(*argv); argv++)
        p->argc++;
    if (p->argc == 0)
        options_refuse(o, i == 0 && !*argv ? "no program given" : "no program given between ':' or '|'");
    p->path = p->argv[0];
    if (p->piped && !later.dimension_given)
        p->dim = read_later_program(p->path);
    w->stage_dimension_given[i] = later.dimension_given;
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
            options_refuse(o, "more than %u programs; leave some out", JOB_PROGRAMS_MAX);
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
        options_refuse(o, "the programs of the pipeline want more than 2^%u nodes; give smaller -d", NODE_MAX_DIM);
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
