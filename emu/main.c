/*
 * ncube: the command line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/machine.h"
#include "emu/run.h"
#include "emu/tool.h"

enum { KEY_IMAGES = 256, KEY_SERVE, KEY_TRACE, KEY_LIMIT, KEY_SYNC, KEY_CORES, KEY_STATS, KEY_HELP };

static const struct option_line {
    int key;
    const char *name, *value, *help;
} option_lines[] = {
    {'d', "dimension", "DIM", "run on a subcube of 2^DIM nodes (default 0: one node)"},
    {'m', "machine", "FILE", "machine file (default: just the subcube, no I/O nodes)"},
    {KEY_IMAGES, "images", "DIR", "folder of the drives' images (default: as the machine file says)"},
    {KEY_SERVE, "serve", "DIR", "host folder that programs may reach (default: none)"},
    {KEY_TRACE, "trace", "FILE", "write what happens, in virtual time, to FILE"},
    {KEY_LIMIT, "limit", "SECONDS", "end after so much virtual time"},
    {KEY_SYNC, "sync", "MODE", "ahead: user code runs ahead (default); strict: never; same results, slow"},
    {KEY_CORES, "cores", "N", "use at most N processors of the host (default: all allowed); same results"},
    {KEY_STATS, "stats", NULL, "print statistics of the run to standard error"},
    {KEY_HELP, "help", NULL, "print this"},
};
#define OPTION_LINES (sizeof option_lines / sizeof *option_lines)

static void usage_error(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

static void usage_error(const char *format, ...) {
    va_list arguments;
    fputs("ncube run: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputs("; see ncube run --help\n", stderr);
    exit(RUN_USAGE);
}

static void print_run_help(void) {
    puts("Usage: ncube run [OPTION...] PROG [ARG...]\n"
         "Boots a machine, runs PROG on a subcube of it, and exits with the program's status.\n");
    for (size_t i = 0; i < OPTION_LINES; i++) {
        const struct option_line *o = &option_lines[i];
        char option[64];
        snprintf(option, sizeof option, "%s%c%s --%s%s%s", o->key < 256 ? "-" : "  ", o->key < 256 ? o->key : ' ',
                 o->key < 256 ? "," : "", o->name, o->value != NULL ? "=" : "", o->value != NULL ? o->value : "");
        printf("  %-24s %s\n", option, o->help);
    }
    puts("\nExit statuses of ncube's own: 1 failure, or a fault in the program; 2 usage; 124 limit of virtual\n"
         "time; 125 deadlock; 128 + n ended by signal n.");
    exit(0);
}

static long parse_number(const char *what, const char *text, long low, long high) {
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (errno != 0 || end == text || *end != '\0' || number < low || number > high)
        usage_error("%s '%s': give a number from %ld to %ld", what, text, low, high);
    return number;
}

static uint64_t parse_limit(const char *text) {
    char *end;
    errno = 0;
    double seconds = strtod(text, &end);
    if (strcmp(end, "s") == 0)
        end++;
    if (errno != 0 || end == text || *end != '\0' || !(seconds > 0 && seconds < 1e9))
        usage_error("limit '%s': give seconds of virtual time, such as 10 or 0.5s", text);
    return (uint64_t)(seconds * CLOCK_HZ);
}

static bool parse_sync(const char *text) {
    if (strcmp(text, "ahead") != 0 && strcmp(text, "strict") != 0)
        usage_error("sync '%s': give ahead or strict", text);
    return strcmp(text, "strict") == 0;
}

static void take_option(struct run_options *o, int key, char **argv) {
    switch (key) {
    case 'd':
        o->dim = (uint32_t)parse_number("dimension", optarg, 0, NODE_MAX_DIM);
        break;
    case 'm':
        o->machine = optarg;
        break;
    case KEY_IMAGES:
        o->images = optarg;
        break;
    case KEY_SERVE:
        o->serve = optarg;
        break;
    case KEY_TRACE:
        o->trace = optarg;
        break;
    case KEY_LIMIT:
        o->limit_cycles = parse_limit(optarg);
        break;
    case KEY_SYNC:
        o->strict = parse_sync(optarg);
        break;
    case KEY_CORES:
        o->processors = (uint32_t)parse_number("cores", optarg, 1, 64);
        break;
    case KEY_STATS:
        o->statistics = true;
        break;
    case KEY_HELP:
        print_run_help();
        break;
    case ':':
        usage_error("option '%s' needs a value", argv[optind - 1]);
    default:
        usage_error("unknown option '%s'", argv[optind - 1]);
    }
}

static void parse_run(struct run_options *o, int argc, char **argv) {
    struct option longs[OPTION_LINES + 1] = {0};
    for (size_t i = 0; i < OPTION_LINES; i++)
        longs[i] = (struct option){option_lines[i].name, option_lines[i].value != NULL, NULL, option_lines[i].key};
    int key;
    while ((key = getopt_long(argc, argv, "+:d:m:h", longs, NULL)) != -1) /* '+': PROG ends ncube's options */
        take_option(o, key == 'h' ? KEY_HELP : key, argv);
    if (optind == argc)
        usage_error("no program given");
    o->argv = argv + optind;
    o->argc = argc - optind;
}

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
    parse_run(&o, argc, argv);
    return run_program(&o);
}

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} commands[] = {
    {"run", command_run, "boot a machine and run a program on it"},
    {"topo", topo_command, "print how a machine is wired"},
    {"route", route_command, "print the paths between nodes and what they share"},
    {"place", place_command, "rank the compute nodes as places for work on volumes"},
};

static int print_usage(FILE *to) {
    fputs("Usage: ncube COMMAND [OPTION...] ...\n\n", to);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        fprintf(to, "  ncube %-6s %s\n", commands[i].name, commands[i].help);
    fputs("\nEach command explains itself with --help.\n", to);
    return to == stdout ? 0 : RUN_USAGE;
}

/* Descriptors 0 to 2 are the program's streams, whatever we open later. */
static void hold_standard_streams(void) {
    int fd;
    while ((fd = open("/dev/null", O_RDWR)) >= 0 && fd <= STDERR_FILENO)
        ;
    if (fd > STDERR_FILENO)
        close(fd);
}

int main(int argc, char **argv) {
    hold_standard_streams();
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
