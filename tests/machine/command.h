/*
 * Running ncube and other commands for tests, and judging how they end.
 *
 * The standard streams of a command are files in memory, so that nothing can block on a full pipe, unless a test gives
 * its own descriptors. A command's environment contains a mark by which all its descendants can be found, even orphaned
 * ones. Functions that cannot do their work fail the test.
 */
#pragma once

#include <criterion/parameterized.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* ---- Paths ---- */

/* Folder of the build that this test program belongs to. */
const char *build_folder(void);

/* Path inside the build folder; the caller frees it. */
char *build_path(const char *relative);

/* A formatted string; the caller frees it. */
char *format(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* ---- The compiler ---- */

/* Whether nodes' programs are compiled by others than those of the pages' figures (measure.py). */
bool command_other_compiler(void);
/* A bound that was chosen with that compiler: with any other, an eighth more. */
double command_bound(double most);

/* ---- Commands ---- */

struct command {
    pid_t pid;
    int out_fd, err_fd; /* -1: the test's own */
    char mark[64];      /* NCUBE_TEST=... */
};

struct outcome {
    int status;      /* exit status, or 128 + signal */
    char *out, *err; /* all that was written, NUL-terminated; "" where the test gave its own descriptor */
    size_t out_bytes;
};

struct streams_of_test { /* -1: in memory */
    int in, out;
};

/* Starts argv[0], a path or a name on PATH; `input` (input_bytes long) is its standard input. */
struct command command_start(char *const argv[], const void *input, size_t input_bytes);
struct command command_start_on(char *const argv[], struct streams_of_test streams);

/* Waits for its end. After a minute it is killed and the test fails; of the time in which it could have run counts
 * what it got of the processors. */
struct outcome command_wait(struct command *c);
/* The same with another limit. */
struct outcome command_wait_within(struct command *c, int limit_ms);

/* Returns how long to wait for what takes at most so long on a host that does nothing else: ten times that where suites
 * run beside this one (run.sh -j). */
int command_patience(int ms);
/* For what ends at once. */
#define END_MS command_patience(2000)

/* Waits at most so long; true when it has ended, which command_wait then reports. */
bool command_ends_within(const struct command *c, int limit_ms);

/* Waits until it has written so many lines to its standard output, or has ended. */
void command_await_lines(const struct command *c, size_t lines);

/* Asks an ncube that runs a program, or a machine that is up, for heartbeats until a new one has this text. Fails the
 * test if none has it within a minute. */
void command_await_heartbeat(const struct command *c, const char *text);

/* The living processes that descend from a command, itself included: at most `most` ids into pid. Returns how many. */
size_t command_processes(const struct command *c, pid_t *pid, size_t most);

/* The command's QEMU process, waiting for it to be there; 0 when the command has ended before. */
pid_t command_find_qemu(const struct command *c);
/* The process in which ncube runs the command's machine: its QEMU with ncube inside (emu/qemu/inside.h), or itself. */
pid_t command_find_machine(const struct command *c);

/* Fails the test unless all descendants of an ended command have ended, within two seconds. Waits until QEMUs have
 * given their files back, too, so that another command can have them. */
void command_expect_nothing_left(const struct command *c, const char *what);

struct outcome command_run(char *const argv[], const char *input);
void outcome_free(struct outcome *o);

/* Fails the test unless the command ends with status 0. */
void command_must_succeed(char *const argv[]);

/* ---- ncube run ---- */

#define RUN_ARGS 40

struct ncube_run { /* NULL or 0: not given */
    const char *dim;
    const char *machine, *images, *serve, *trace, *stats, *limit;
    const char *program;        /* below the build folder; one that begins with '/' or '.' is taken as it is */
    const char *args[RUN_ARGS]; /* of these, too, "guest/..." and "examples/..." lie below the build folder */
    const char *options[3];
    const void *input;
    size_t input_bytes; /* 0: input is a string */
    const char *ncube;  /* another one, below the build folder, which has its parts beside it */
    const char *on_cpu; /* pinned to that processor */
    bool may_fail;      /* any status is good: observe() keeps it, and standard error, instead of expecting 0 */
};

struct outcome ncube_run(const struct ncube_run *r);
struct command ncube_start(const struct ncube_run *r);
struct command ncube_start_on(const struct ncube_run *r, struct streams_of_test streams);

/* Judges an outcome: exact status and output (NULL: any); err must occur in the standard error, which is empty when err
 * is "". */
void outcome_expect(const struct outcome *o, const char *name, int status, const char *out, const char *err);
/* The same, and frees it. */
void outcome_must_be(struct outcome o, const char *name, int status, const char *out, const char *err);

/* How many lines a text has. */
size_t count_lines(const char *text);

/* ---- Folders and images ---- */

/* A fresh folder under /tmp; the caller frees the path by folder_remove. */
char *folder_new(void);
void folder_remove(char *folder);

/* A fresh folder with `count` ext2 images df00.img, df01.img ... of so many kilobytes each, with blocks of so many
 * bytes. */
char *folder_with_images(int count, int kilobytes, int block_bytes);

/* Fails the test unless e2fsck -fn finds every image of the folder clean. */
void images_check(const char *folder, int count);
/* The same after a crash: e2fsck -p is enough to repair them. */
void images_repair(const char *folder, int count);

void file_write(const char *folder, const char *name, const void *content, size_t bytes);
char *file_read(const char *folder, const char *name, size_t *bytes); /* the caller frees it */

/* Writes a machine file `machine.conf` into the folder: 2^dim compute nodes and `volumes` I/O nodes on board 3, one
 * drive each, of the folder's images; `more` is added. Returns its path, which the caller frees. */
char *machine_file(const char *folder, int dim, int volumes, const char *more);
/* The same with one I/O node, with all drives and these settings. */
char *machine_file_one_node(const char *folder, int dim, int volumes, const char *settings, const char *more);
/* The same, where each drive has these settings, too. */
char *machine_file_of_drives(const char *folder, int dim, int volumes, const char *settings, const char *drive,
                             const char *more);

/* ---- Tables ---- */

/* Whether case i of some is among those that this version of the system tries: one of `of`. Each version has others;
 * all are tried if TESTS_DRAW is unset or "all" (tests/run.sh). */
bool is_drawn(size_t i, size_t of);

/* The numbers below n that are drawn (is_drawn), as parameters of tests whose parameter is a row of a table: the tests
 * run in processes of their own, in which the table's strings lie elsewhere. n is at least `of`. */
struct criterion_test_params table_rows(size_t n, size_t of);

/* A test of each row of a table, `*row` in what follows. */
#define RowTest(suite, name, table) DrawnRowTest(suite, name, table, 1)

/* The same for every one of `of` rows, which each version draws anew: for tables whose rows take long and are alike. */
#define DrawnRowTest(suite, name, table, of)                    \
    ParameterizedTestParameters(suite, name)                    \
    {                                                           \
        return table_rows(sizeof(table) / sizeof *(table), of); \
    }                                                           \
    ParameterizedTest(size_t *row, suite, name)
