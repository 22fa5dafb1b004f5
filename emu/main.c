/*
 * ncube: the command line.
 */
#define _GNU_SOURCE
#include <argp.h>
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/machine.h"
#include "emu/run.h"

enum { KEY_IMAGES = 256, KEY_SERVE, KEY_TRACE, KEY_LIMIT, KEY_STATS };

static const struct argp_option run_option_list[] = {
    {"dimension", 'd', "DIM", 0, "run on a subcube of 2^DIM nodes (default 0: one node)", 0},
    {"machine", 'm', "FILE", 0, "machine file (default: a cube of just the subcube's size, no I/O nodes)", 0},
    {"images", KEY_IMAGES, "DIR", 0, "folder of the drives' images (default: as the machine file says)", 0},
    {"serve", KEY_SERVE, "DIR", 0, "host folder that programs may reach (default: none)", 0},
    {"trace", KEY_TRACE, "FILE", 0, "write what happens, in virtual time, to FILE", 0},
    {"limit", KEY_LIMIT, "SECONDS", 0, "end after so much virtual time", 0},
    {"stats", KEY_STATS, NULL, 0, "print statistics of the run to standard error", 0},
    {0},
};

static uint32_t parse_dimension(const char *text, struct argp_state *state) {
    char *end;
    errno = 0;
    long dim = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || dim < 0 || dim > NODE_MAX_DIM)
        argp_error(state, "dimension '%s': give a number from 0 to %d", text, NODE_MAX_DIM);
    return (uint32_t)dim;
}

static uint64_t parse_limit(const char *text, struct argp_state *state) {
    char *end;
    errno = 0;
    double seconds = strtod(text, &end);
    if (strcmp(end, "s") == 0)
        end++;
    if (errno != 0 || end == text || *end != '\0' || !(seconds > 0 && seconds < 1e9))
        argp_error(state, "limit '%s': give seconds of virtual time, such as 10 or 0.5s", text);
    return (uint64_t)(seconds * CLOCK_HZ);
}

static error_t parse_run_option(int key, char *arg, struct argp_state *state) {
    struct run_options *o = state->input;
    switch (key) {
    case 'd':
        o->dim = parse_dimension(arg, state);
        return 0;
    case 'm':
        o->machine = arg;
        return 0;
    case KEY_IMAGES:
        o->images = arg;
        return 0;
    case KEY_SERVE:
        o->serve = arg;
        return 0;
    case KEY_TRACE:
        o->trace = arg;
        return 0;
    case KEY_LIMIT:
        o->limit_cycles = parse_limit(arg, state);
        return 0;
    case KEY_STATS:
        o->statistics = true;
        return 0;
    case ARGP_KEY_ARG: /* the program; what follows is its own */
        o->argv = &state->argv[state->next - 1];
        o->argc = state->argc - (state->next - 1);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no program given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp run_argp = {
    .options = run_option_list,
    .parser = parse_run_option,
    .args_doc = "PROG [ARG...]",
    .doc = "Boots a machine, runs PROG on a subcube of it, and exits with the program's status.\v"
           "Exit statuses of ncube's own: 1 failure or a fault in the program, 2 usage, 124 limit of virtual time, "
           "125 deadlock, 128 + n ended by signal n.",
};

/* The folder of our own executable's parts: <here>/../lib. */
static const char *find_lib(void) {
    static char lib[PATH_MAX + 16];
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = '\0';
    snprintf(lib, sizeof lib, "%s/../lib", dirname(self));
    return lib;
}

static int command_run(int argc, char **argv) {
    struct run_options o = {.lib = find_lib(), .limit_cycles = UINT64_MAX};
    argp_err_exit_status = RUN_USAGE;
    error_t error = argp_parse(&run_argp, argc, argv, ARGP_IN_ORDER, NULL, &o);
    if (error != 0) {
        fprintf(stderr, "ncube run: %s\n", strerror(error));
        return RUN_USAGE;
    }
    return run_program(&o);
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", command_run, "boot a machine and run a program on it"},
};

static int print_usage(FILE *to) {
    fputs("Usage: ncube COMMAND [OPTION...] ...\n\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  ncube %-6s %s\n", commands[i].name, commands[i].help);
    fputs("\nEach command explains itself with --help.\n", to);
    return to == stdout ? 0 : RUN_USAGE;
}

int main(int argc, char **argv) {
    if (argc < 2)
        return print_usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
        return print_usage(stdout);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        if (strcmp(argv[1], commands[i].name) == 0) {
            char name[64];
            snprintf(name, sizeof name, "ncube %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    fprintf(stderr, "ncube: unknown command '%s'; try ncube --help\n", argv[1]);
    return RUN_USAGE;
}
