/*
 * The description of a job on a command line, which `ncube run`, `ncube boot` and `xnc` have in common, and the options
 * that several commands share.
 *
 *   [OPTION...] PROG [ARG...] [: [-n NODES] PROG [ARG...]]...
 */
#pragma once

#include <stdbool.h>

#include "emu/base/options.h"
#include "emu/job/job.h"

#define OPTION_JSON(type, member) "json", NULL, "print JSON", OPTION_INTO(OPTION_FLAG, type, member)
#define OPTION_NAME(offset) \
    "name", "NAME", "the machine's name (default: $NCUBE_NAME, or ncube)", OPTION_TEXT, .at = (offset)

/* Two lines: -m NAME of the commands that ask a machine that is up, and --name, which ncube boot has. */
#define OPTION_RUNNING(offset)                                                            \
    {"machine",   "NAME",         "the running machine (default: $NCUBE_NAME, or ncube)", \
     OPTION_TEXT, .at = (offset), .letter = 'm'},                                         \
    {                                                                                     \
        "name", "NAME", "same as --machine", OPTION_TEXT, .at = (offset)                  \
    }

struct job_words {
    struct job_options job; /* points to `program` and into argv */
    struct job_program program[JOB_PROGRAMS_MAX];
    const char *dimension_given;                  /* otherwise -n or the first program's note gives it, */
    struct elf_image image;                       /* which has been read into this */
    bool stage_dimension_given[JOB_PROGRAMS_MAX]; /* of the stage that begins with this program */
};

/* The options of a job; their arguments are a struct job_words. */
extern const struct option_line job_lines[];

/* Takes the programs, from the name of the first one on. Changes argv, which must outlive w. */
void options_take_programs(const struct options *o, struct job_words *w, char **argv);

/* Returns the name of a machine that is kept up: `value`, or the default if that is NULL. Refuses a wrong one. */
const char *options_machine_name(const struct options *o, const char *value);
