/*
 * The command lines of ncube, of its commands and of xnc: tables of options, and one parser for them.
 *
 * Options may stand anywhere before the word "--". Where a command line has a program, everything after the program's
 * name belongs to the program. Names of options cannot be abbreviated: a later version could have another option that
 * begins in the same way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTIONS_FAILED_STATUS = 1, OPTIONS_USAGE_STATUS = 2 };

enum option_kind {
    OPTION_FLAG,   /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_FILE,   /* likewise, not empty */
    OPTION_FOLDER, /* likewise */
    OPTION_NUMBER, /* from low to high */
    OPTION_BYTES,  /* likewise, of bytes */
    OPTION_SIZE,   /* likewise, which may end in K, M or G */
    OPTION_CYCLES, /* of virtual time, which is given in seconds, ms or us; from low on */
    OPTION_US,     /* double */
    OPTION_CHOICE, /* the number of one of `choices`, from low on; of 1 or 4 bytes */
    OPTION_OWN,    /* take() puts it */
    OPTION_WORD,   /* the first of the other words */
};

struct options;

struct option_line { /* all zeros: the end of a table */
    const char *name;
    const char *value; /* its name in the help; NULL: it has none; "[NAME]": it may be left out, and take() gets NULL */
    const char *help;
    enum option_kind kind;
    size_t at, width; /* where the value goes, in the command's arguments; numbers have 4 or 8 bytes */
    uint64_t low, high;
    const char *const *choices; /* words, up to NULL */
    void (*take)(const struct options *o, const struct option_line *l, void *to, const char *value);
    size_t given;                    /* where the name of a given option goes, a const char *; 0: nowhere */
    char letter;                     /* of the short form; 0: there is none */
    const struct option_line *table; /* in place of all these: another table, whose arguments are at `at` */
};

#define OPTION_AT(type, member)         .at = offsetof(type, member), .width = sizeof(((type *)0)->member)
#define OPTION_INTO(kind, type, member) kind, OPTION_AT(type, member)
#define OPTION_TABLE(lines, offset)     .table = (lines), .at = (offset)

struct options {                       /* of one command */
    const char *command;               /* "ncube run" */
    const char *usage, *summary, *end; /* the first lines of the help, and its last ones */
    const struct option_line *line;
    void (*print_end)(void); /* prints the end of the help, if it is not a constant; or NULL */
    bool takes_program;      /* the first word that is no option ends the options; the rest belongs to the program */
    uint32_t words;          /* at most so many other words; without a program */
    /* Takes all options in place of their kinds, if it is not NULL. */
    void (*take)(const struct options *o, void *arguments, const struct option_line *l, const char *value);
};

/* Prints one line about a wrong command line and ends the process with OPTIONS_USAGE_STATUS. */
void options_refuse(const struct options *o, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* Prints one line about what could not be done, behind the program's name, as options_refuse does: "ncube: ...".
 * Returns OPTIONS_FAILED_STATUS. */
int options_fail(const struct options *o, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Opens descriptors 0 to 2 where they are closed. They are the program's streams: no file opened later may get them. */
void options_hold_streams(void);

/* -m MACHINE of the commands whose first word is a machine file: with it, options_parse returns the machine as the
 * first of the other words. */
#define OPTION_MACHINE_WORD "machine", "FILE", "machine file, instead of MACHINE", OPTION_WORD, .letter = 'm'

/* Takes the options from argv[1] on. Returns the other words, with a NULL at their end, in argv, which it changes.
 * Ends the process after --help, and when something is wrong. */
char **options_parse(const struct options *o, void *arguments, int argc, char **argv);

/* The head of a row in a command's table of verbs, which ends with a row of zeros. */
struct option_verb {
    const char *name;
    uint32_t least, most; /* words behind it */
};

/* Returns the index of the row, each of row_bytes, that the first word names. Refuses another word, and more or fewer
 * words behind it than the verb takes. */
size_t options_verb(const struct options *o, const struct option_verb *verbs, size_t row_bytes, char **word);

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

/* Puts a value where the line says, in arguments of the table's type. Refuses a wrong one. */
void options_put(const struct options *o, const struct option_line *l, void *arguments, const char *value);
