/*
 * The command lines of ncube, of its commands and of xnc: tables of options, and one parser for them.
 *
 * Options may stand anywhere before the word "--". Where a command line has a program, everything after the program's
 * name belongs to the program. Names of options cannot be abbreviated: a later version could have another option that
 * begins in the same way.
 */
#ifndef NCUBE_OPTIONS_H
#define NCUBE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_USAGE_STATUS = 2 };

struct option_line {
    int key; /* a letter; or from 256 on, if there is no short form */
    const char *name;
    const char *value; /* its name in the help; NULL: it has none; "[NAME]": it may be left out, and take() gets NULL */
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
    KEY_HARTS,
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
    KEY_ONCE,
    KEY_EVERY,
    KEY_DISKS,
    KEY_BUFFERS,
    KEY_ROUTINGS,
    KEY_BLOCK,
    KEY_CPU_US,
    KEY_NETWORK_US,
    KEY_DISK_US,
    KEY_STATUS_US,
    KEY_SVG,
    KEY_ROW,
    KEY_TRACE_FORMAT,
    KEY_TRACE_FROM,
    KEY_TRACE_TO,
    KEY_TRACE_NODES,
    KEY_TRACE_LIMIT,
    KEY_SET,
    KEY_OUT,
    KEY_REPORT,
    KEY_PROGRESS,
    KEY_ONLY,
    KEY_GDB,
    KEY_NODE,
    KEY_CORE,
    KEY_CHECK,
    KEY_DRIVES,
    KEY_DETACH,
    KEY_KEEP,
    KEY_CURVE,
};

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_NUMBER, /* from low to high */
    OPTION_BYTES,  /* likewise, of bytes */
    OPTION_SIZE,   /* likewise, which may end in K, M or G */
    OPTION_CYCLES, /* of virtual time, which is given in seconds, ms or us; from low on */
    OPTION_US,     /* double */
};

struct option_target { /* where the value of an option goes that does nothing but set it */
    int key;           /* 0: the end of a table */
    enum option_kind kind;
    size_t at, width; /* in the command's arguments; numbers have 4 or 8 bytes */
    uint64_t low, high;
};

#define OPTION_AT(type, member) offsetof(type, member), sizeof(((type *)0)->member)

struct options {                           /* of one command */
    const char *command;                   /* "ncube run" */
    const char *usage, *summary, *end;     /* the first lines of the help, and its last ones */
    const struct option_line *const *line; /* NULL at the end */
    void (*print_end)(void);               /* prints the end of the help, if it is not a constant; or NULL */
    bool takes_program; /* the first word that is no option ends the options; the rest belongs to the program */
    const struct option_target *target; /* NULL: none */
    /* Sees each option before `target`. Returns false if it takes another one. NULL: takes none */
    bool (*take)(const struct options *o, void *ctx, int key, const char *value);
};

/* Prints one line about a wrong command line and ends the process with OPTIONS_USAGE_STATUS. */
void options_refuse(const struct options *o, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Opens descriptors 0 to 2 where they are closed. They are the program's streams: no file opened later may get them. */
void options_hold_streams(void);

/* -m MACHINE of the commands whose first word is a machine file: with it in `line`, options_parse returns the machine
 * as the first of the other words. */
extern const struct option_line option_machine_word;

/* Takes the options from argv[1] on. Returns the other words, with a NULL at their end, in argv, which it changes.
 * Ends the process after --help, and when something is wrong. */
char **options_parse(const struct options *o, void *ctx, int argc, char **argv);

/* Flushes standard output. Returns `status`; or, after one line, 1 instead of 0 if the output could not be written. */
int options_end_output(int status);

/* Reads a text that is a decimal number from low to high. options_read_number returns false if it is not;
 * options_number refuses it (options_refuse) and names it `what`. */
bool options_read_number(const char *text, uint64_t low, uint64_t high, uint64_t *value);
uint32_t options_number(const struct options *o, const char *what, const char *value, uint32_t low, uint32_t high);
/* Reads 1 to max bytes, a number that may end in K, M or G; refuses anything else. max is some M. */
uint64_t options_size(const struct options *o, const char *what, const char *value, uint64_t max);
/* Reads more than 0 seconds of `what_time`, also as "20ms" or "100us"; refuses anything else. */
double options_seconds(const struct options *o, const char *what, const char *value, const char *what_time);

/* Returns the long name of an option that the command has. */
const char *options_name(const struct options *o, int key);

/* Puts the value where the table says; `base` has the table's type. Returns false if the option is not in the table. */
bool options_take(const struct options *o, const struct option_target *t, void *base, int key, const char *value);

#endif
