/*
 * Command lines, of ncube and all its commands and of xnc: tables of options, one reader of them, and what `ncube run`
 * and `xnc` have in common, the description of a job.
 *
 *   [OPTION...] PROG [ARG...] [: [-n NODES] PROG [ARG...]]...
 *
 * Options may stand anywhere, up to the word "--"; where a command line has a program, what follows its name is the
 * program's. An option's name is written in full: an abbreviation that is clear today need not be tomorrow.
 */
#ifndef NCUBE_OPTIONS_H
#define NCUBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/front/job.h"

enum { OPTIONS_USAGE_STATUS = 2 };

struct option_line {
    int key; /* a letter, or 256 and above: no short form */
    const char *name;
    const char *value; /* what it is called in the help, NULL: none; "[NAME]": may be left out, then take() gets NULL */
    const char *help;
};

enum option_key {
    KEY_HELP = 'h',
    KEY_DIMENSION = 'd',
    KEY_NODES = 'n',
    KEY_MACHINE = 'm',
    KEY_IMAGES = 256,
    KEY_SERVE,
    KEY_TRACE,
    KEY_LIMIT,
    KEY_SYNC,
    KEY_CORES,
    KEY_STATS,
    KEY_HEARTBEAT,
    KEY_STATUS,
    KEY_LABEL,
    KEY_REGISTERS,
    KEY_NAME,
    KEY_WAIT,
    KEY_STACK,
    KEY_HEAP,
    KEY_COMM,
    KEY_JSON,
    KEY_DOT,
    KEY_BYTES,
    KEY_VIA,
    KEY_TOP,
};

struct options {                           /* of one command */
    const char *command;                   /* "ncube run" */
    const char *usage, *summary, *end;     /* the help's first lines and its last ones */
    const struct option_line *const *line; /* NULL at the end; options_job, options_name and others */
    void (*print_end)(void);               /* what the help ends with, if that is not a constant; or NULL */
    bool takes_program; /* the first word that is no option ends the options: the rest is the program's */
    /* Takes one option; false if it is none of this command's. */
    bool (*take)(void *ctx, int key, const char *value);
};

/* One line about a wrong command line; ends the process with OPTIONS_USAGE_STATUS. */
void options_refuse(const struct options *o, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Opens descriptors 0 to 2 where they are closed: they are the program's streams, whatever is opened later. */
void options_hold_streams(void);

/* Takes the options of argv[1] and on, and returns the other words, up to a NULL, in argv, which it changes. --help, and
 * what is wrong, ends the process. */
char **options_parse(const struct options *o, void *ctx, int argc, char **argv);

/* What was printed must have arrived: `status`, or 1 with one line if that is 0 and standard output has failed. */
int options_end_output(int status);

/* A number from low to high in decimal, all of the text; options_number refuses what is none, and calls it `what`. */
bool options_read_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);
uint32_t options_number(const struct options *o, const char *what, const char *value, uint32_t low, uint32_t high);
uint32_t options_dimension(const struct options *o, const char *value);

/* ---- Jobs ---- */

extern const struct option_line option_dimension, option_nodes, option_serve, option_status, option_label,
    option_registers, option_name, option_stack, option_heap, option_comm, option_json;

struct job_words {
    struct job_options job; /* points to what follows and into argv */
    struct job_program program[JOB_PROGRAMS_MAX];
    bool dimension_given; /* else the first program's note says it */
};

/* One of the options of a job. False: it is another. */
bool options_take_job(const struct options *o, struct job_words *w, int key, const char *value);

/* The programs, from the first one's name on. argv is changed: it must outlive w. */
void options_take_programs(const struct options *o, struct job_words *w, char **argv);

/* Checks the name of a machine that is kept up. */
const char *options_machine_name(const struct options *o, const char *value);

#endif
