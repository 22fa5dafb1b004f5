/* The parser of command lines: getopt_long reads them by tables that are made from struct option_line; what getopt_long
 * would let pass (abbreviations) or print itself is checked and refused here. */
#include "emu/base/options.h"

#include <errno.h>
#include <inttypes.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/nearest.h"
#include "emu/base/oneline.h"
#include "vertex/contract/machine.h"

#define LINES_MAX         48
#define VERBS_MAX         16
#define OPTION_NAME_BYTES 64

enum { OTHER_WORD = 1, FIRST_LONG = 256 }; /* getopt's; of the options without a letter, by their index */

struct choice { /* one option of a command */
    const struct option_line *line;
    size_t base; /* of its table's arguments */
};

/* Lists the options of a table and of those that it names. Returns their number. */
static size_t collect(const struct option_line *l, size_t base, struct choice *c, size_t n)
{
    for (; l && (l->name || l->table); l++)
        if (l->table)
            n = collect(l->table, base + l->at, c, n);
        else
            c[n++] = (struct choice){l, base};
    return n;
}

/* Prints the line, without its end, behind the name of the program, which is the command's first word. */
static void say(const struct options *o, const char *format, va_list arguments)
{
    char text[PATH_MAX + 4608];

    vsnprintf(text, sizeof text, format, arguments);
    fprintf(stderr, "%.*s: %s", (int)strcspn(o->command, " "), o->command, one_line(text));
}

void options_refuse(const struct options *o, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(o, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; see %s --help\n", o->command);
    exit(OPTIONS_USAGE_STATUS);
}

int options_fail(const struct options *o, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    say(o, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    return OPTIONS_FAILED_STATUS;
}

/* ---- Help --------------------------------------------------------------------------------------- */

static bool value_is_optional(const struct option_line *l)
{
    return l->value && l->value[0] == '[';
}

static void print_line(const struct option_line *l)
{
    char option[64];
    int n =
        snprintf(option, sizeof option, l->letter ? "-%c, --%s" : "%c   --%s", l->letter ? l->letter : ' ', l->name);

    if (value_is_optional(l))
        snprintf(option + n, sizeof option - n, "[=%s", l->value + 1);
    else if (l->value)
        snprintf(option + n, sizeof option - n, "=%s", l->value);
    printf("  %-27s %s\n", option, l->help);
}

static _Noreturn void print_help(const struct options *o, const struct choice *c, size_t n)
{
    printf("Usage: %s %s\n%s\n\n", o->command, o->usage, o->summary);
    for (size_t i = 0; i < n; i++)
        print_line(c[i].line);
    puts("  -h, --help                  print this help");
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

static void make_tables(const struct options *o, const struct choice *c, size_t n, struct option *longs, char *shorts)
{
    /* '+': the first other word ends the options; '-': other words are returned as options with the key OTHER_WORD */
    shorts = stpcpy(shorts, o->takes_program ? "+:h" : "-:h");
    for (size_t i = 0; i < n; i++) {
        const struct option_line *l = c[i].line;
        int argument = !l->value ? no_argument : value_is_optional(l) ? optional_argument : required_argument;

        longs[i] = (struct option){l->name, argument, NULL, l->letter ? l->letter : FIRST_LONG + (int)i};
        if (l->letter)
            shorts += sprintf(shorts, l->value ? "%c:" : "%c", l->letter);
    }
    longs[n] = (struct option){"help", 0, NULL, 'h'};
}

static const struct choice *find_choice(const struct choice *c, int key)
{
    if (key >= FIRST_LONG)
        return &c[key - FIRST_LONG];
    while (c->line->letter != key)
        c++;
    return c;
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

char **options_parse(const struct options *o, void *arguments, int argc, char **argv)
{
    struct choice choices[LINES_MAX];
    struct option longs[LINES_MAX + 2] = {0};
    char shorts[2 * LINES_MAX + 4];
    char *first = NULL, **other = argv + 1; /* other words are collected here, never more than have been read */
    size_t n = collect(o->line, 0, choices, 0);
    int key, word;

    make_tables(o, choices, n, longs, shorts);
    opterr = 0;
    optind = 0; /* glibc needs this if another command line was read before */
    while (word = optind > 0 ? optind : 1, (key = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
        if (key == OTHER_WORD) {
            *other++ = optarg;
            continue;
        }
        check(o, longs, argv[word], key);
        if (key == 'h')
            print_help(o, choices, n);
        const struct choice *c = find_choice(choices, key);
        if (c->line->kind == OPTION_WORD)
            first = optarg;
        else if (o->take)
            o->take(o, arguments, c->line, optarg);
        else
            options_put(o, c->line, (char *)arguments + c->base, optarg);
    }
    if (o->takes_program)
        return argv + optind;
    while (optind < argc) /* after "--" */
        *other++ = argv[optind++];
    other = insert_first(argv + 1, other, first);
    *other = NULL;
    if (other - argv - 1 > (ptrdiff_t)o->words)
        options_refuse(o, "unexpected word '%s'", argv[1 + o->words]);
    return argv + 1;
}

/* ---- Values ------------------------------------------------------------------------------------- */

/* Reads a number that may end in one of the units, each of which is 1024 times the one before. */
static bool read_number(const char *text, const char *units, uint64_t low, uint64_t high, uint64_t *value)
{
    char *end;

    errno = 0;
    uint64_t number = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    *value = number << shift;
    return errno == 0 && *text >= '0' && *text <= '9' && end[unit != NULL] == '\0' && number <= high >> shift &&
           *value >= low;
}

bool options_read_number(const char *text, uint64_t low, uint64_t high, uint64_t *value)
{
    return read_number(text, "", low, high, value);
}

uint32_t options_number(const struct options *o, const char *what, const char *value, uint32_t low, uint32_t high)
{
    uint64_t number;

    if (!options_read_number(value, low, high, &number))
        options_refuse(o, "%s '%s': give a number from %u to %u", what, value, low, high);
    return (uint32_t)number;
}

static uint64_t read_size(const struct options *o, const char *what, const char *value, uint64_t low, uint64_t high)
{
    uint64_t bytes;

    if (read_number(value, "KMG", low, high, &bytes))
        return bytes;
    if (low > 1)
        options_refuse(o, "%s '%s': give a size from %" PRIu64 "K on, such as 500K, 20M or 1G", what, value, low >> 10);
    options_refuse(o, "%s '%s': give a size up to %" PRIu64 "M, such as 65536, 64K or 1M", what, value, high >> 20);
}

uint64_t options_size(const struct options *o, const char *what, const char *value, uint64_t max)
{
    return read_size(o, what, value, 1, max);
}

/* Reads a text as that many of the first unit; -1: it is none. */
static double read_time(const char *text, const char *const *units)
{
    char *end;

    errno = 0;
    double number = strtod(text, &end), unit = 1;
    if (errno != 0 || end == text || !(number >= 0 && number <= 1e9))
        return -1;
    for (; *end != '\0' && *units && strcmp(end, *units) != 0; units++)
        unit /= 1e3;
    return *end == '\0' || *units ? number * unit : -1;
}

static const char *const seconds[] = {"s", "ms", "us", NULL}, *const microseconds[] = {NULL};

double options_seconds(const struct options *o, const char *what, const char *value, const char *what_time)
{
    double number = read_time(value, seconds);

    if (number <= 0)
        options_refuse(o, "%s '%s': give seconds of %s, such as 10, 0.5s or 100us", what, value, what_time);
    return number;
}

static double read_microseconds(const struct options *o, const char *what, const char *value)
{
    double us = read_time(value, microseconds);

    if (us < 0)
        options_refuse(o, "%s '%s': give microseconds, 0 to 1000000000", what, value);
    return us;
}

static uint64_t read_cycles(const struct options *o, const char *what, const char *value, uint64_t low)
{
    double number = low > 0 ? options_seconds(o, what, value, "virtual time") : read_time(value, seconds);

    if (number < 0)
        options_refuse(o, "%s '%s': give seconds of virtual time, such as 0.25, 250ms or 100us", what, value);
    return (uint64_t)(number * CLOCK_HZ + 0.5);
}

static uint64_t read_bytes(const struct options *o, const char *what, const char *value, uint64_t low, uint64_t high)
{
    uint64_t bytes;

    if (!options_read_number(value, low, high, &bytes))
        options_refuse(o, "%s '%s': give a number of bytes", what, value);
    return bytes;
}

/* Writes "highest, first or node0". */
static void join_choices(char *text, size_t bytes, const char *const *choices)
{
    size_t used = 0;

    for (size_t i = 0; choices[i] && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s",
                                 i == 0           ? ""
                                 : choices[i + 1] ? ", "
                                                  : " or ",
                                 choices[i]);
}

static uint64_t read_choice(const struct options *o, const struct option_line *l, const char *value)
{
    char known[256];

    for (size_t i = 0; l->choices[i]; i++)
        if (strcmp(value, l->choices[i]) == 0)
            return l->low + i;
    join_choices(known, sizeof known, l->choices);
    options_refuse(o, "%s '%s': give %s", l->name, value, known);
}

static void put_number(void *to, size_t width, uint64_t number)
{
    if (width == sizeof(uint8_t))
        *(uint8_t *)to = (uint8_t)number;
    else if (width == sizeof(uint32_t))
        *(uint32_t *)to = (uint32_t)number;
    else
        *(uint64_t *)to = number;
}

void options_put(const struct options *o, const struct option_line *l, void *arguments, const char *value)
{
    const char *what = l->name;
    void *to = (char *)arguments + l->at;

    if (l->given)
        *(const char **)((char *)arguments + l->given) = what;
    if ((l->kind == OPTION_FILE || l->kind == OPTION_FOLDER) && value[0] == '\0')
        options_refuse(o, "%s: give a %s's name", what, l->kind == OPTION_FILE ? "file" : "folder");
    switch (l->kind) {
    case OPTION_FLAG:
        *(bool *)to = true;
        return;
    case OPTION_TEXT:
    case OPTION_FILE:
    case OPTION_FOLDER:
    case OPTION_WORD:
        *(const char **)to = value;
        return;
    case OPTION_NUMBER:
        return put_number(to, l->width, options_number(o, what, value, (uint32_t)l->low, (uint32_t)l->high));
    case OPTION_BYTES:
        return put_number(to, l->width, read_bytes(o, what, value, l->low, l->high));
    case OPTION_SIZE:
        return put_number(to, l->width, read_size(o, what, value, l->low, l->high));
    case OPTION_CYCLES:
        return put_number(to, l->width, read_cycles(o, what, value, l->low));
    case OPTION_CHOICE:
        return put_number(to, l->width, read_choice(o, l, value));
    case OPTION_US:
        *(double *)to = read_microseconds(o, what, value);
        return;
    case OPTION_OWN:
        l->take(o, l, to, value);
    }
}

/* ---- Verbs -------------------------------------------------------------------------------------- */

static const struct option_verb *verb_at(const struct option_verb *verbs, size_t row_bytes, size_t i)
{
    return (const struct option_verb *)((const char *)verbs + i * row_bytes);
}

static _Noreturn void refuse_verb(const struct options *o, const struct option_verb *verbs, size_t row_bytes,
                                  const char *word)
{
    const char *names[VERBS_MAX + 1] = {NULL}, *meant = NULL;
    char known[256];

    for (size_t i = 0; (names[i] = verb_at(verbs, row_bytes, i)->name); i++)
        meant = word ? nearest_word(word, meant, names[i]) : NULL;
    if (meant)
        options_refuse(o, "unknown verb '%s'; did you mean '%s'?", word, meant);
    join_choices(known, sizeof known, names);
    options_refuse(o, "give %s%s%s", known, word ? ", not " : "", word ? word : "");
}

size_t options_verb(const struct options *o, const struct option_verb *verbs, size_t row_bytes, char **word)
{
    const struct option_verb *verb = verbs;
    size_t i = 0;
    uint32_t words = 0;

    while (word[0] && word[words + 1])
        words++;
    while (verb->name && !(word[0] && strcmp(verb->name, word[0]) == 0))
        verb = verb_at(verbs, row_bytes, ++i);
    if (!verb->name)
        refuse_verb(o, verbs, row_bytes, word[0]);
    if (words < verb->least || words > verb->most)
        options_refuse(o, "%s: wrong number of arguments", word[0]);
    return i;
}
