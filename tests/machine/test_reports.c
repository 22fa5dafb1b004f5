/* Reports about many nodes or many requests are a few lines; the whole of it is in the statistics.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"

TestSuite(reports, .timeout = 600);

enum { DEADLOCK = 125 };

static size_t count_words(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text += strlen(word))
        n++;
    return n;
}

static const struct deadlock {
    const char *name, *line;
} deadlocks[] = {
    {"all wait for any", "  nodes 0-63: each waits in nread for a message of type 5 from any node\n"},
    {"all wait for the one below", "  nodes 0-63: each waits in nread for a message of type 5 from node 0..63\n"},
};

RowTest(reports, of_a_deadlock_put_nodes_together_that_wait_alike, deadlocks)
{
    const struct deadlock *d = &deadlocks[*row];
    char *folder = folder_new(), *path = format("%s/stats", folder);
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "6", .stats = path, .program = "guest/crowd", .args = {d->name}});
    size_t bytes;

    outcome_expect(&o, d->name, DEADLOCK, "", d->line);
    cr_expect_eq(count_lines(o.err), 3, "%s: %s", d->name, o.err);
    char *stats = file_read(folder, "stats", &bytes);
    cr_expect_eq(count_words(stats, "\"waits\": \"waits in nread for a message of type 5 from "), 64, "%s", stats);
    free(stats);
    outcome_free(&o);
    free(path);
    folder_remove(folder);
}

/* A message of another type is often what explains a wait. */
Test(reports, of_a_deadlock_name_what_is_unread)
{
    static const struct {
        const char *messages, *line;
    } rows[] = {
        {"0", "  node 0 waits in nread for a message of type 5 from node 1\n"},
        {"1", "from node 1; a message of type 13 from node 1 is unread\n"},
        {"40", "from node 1; 40 messages are unread, the first of type 13 from node 1\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct outcome o = ncube_run(
            &(struct ncube_run){.dim = "1", .program = "guest/crowd", .args = {"wrong types", rows[i].messages}});

        outcome_expect(&o, rows[i].messages, DEADLOCK, "", rows[i].line);
        cr_expect(strstr(o.err, "  node 1 waits in nread for a message of type 5 from node 0\n"), "%s", o.err);
        outcome_free(&o);
    }
    struct booted b = booted_up(WORDS("-d", "2"));

    outcome_must_be(xnc_run(&b, "", WORDS("-d1", "guest/crowd", "wrong types", "1")), "xnc", DEADLOCK, "",
                    rows[1].line);
    booted_down(&b);
}

/* The second run would complain of volumes that were not shut down cleanly. */
Test(reports, of_a_deadlock_leave_the_volumes_shut_down)
{
    char *folder = folder_with_images(2, 1024, 1024), *machine = machine_file(folder, 3, 2, "");

    for (int run = 0; run < 2; run++) {
        struct outcome o = ncube_run(
            &(struct ncube_run){.machine = machine, .dim = "3", .program = "guest/crowd", .args = {deadlocks[0].name}});

        outcome_expect(&o, "a deadlock", DEADLOCK, "", "nodes 0-7: each waits in nread");
        cr_expect_eq(count_lines(o.err), 3, "run %d: %s", run, o.err);
        outcome_free(&o);
    }
    images_check(folder, 2);
    free(machine);
    folder_remove(folder);
}

Test(reports, of_a_deadlock_on_a_machine_that_is_up_are_as_short)
{
    struct booted b = booted_up(WORDS("-d", "6"));
    struct outcome o = xnc_run(&b, "", WORDS("-d5", "guest/crowd", "all wait for any"));

    outcome_expect(&o, "xnc", DEADLOCK, "", "nodes 0-31: each waits in nread for a message of type 5 from any node\n");
    cr_expect_eq(count_lines(o.err), 2, "%s", o.err);
    outcome_free(&o);
    booted_down(&b);
}

Test(reports, of_a_dead_drive_are_no_line_for_each_request)
{
    char *folder = folder_with_images(1, 4096, 1024);
    char *machine = machine_file(folder, 1, 1, "faults = ( { drive = \"df00\"; from_us = 400000; } );");
    struct outcome o = ncube_run(
        &(struct ncube_run){.machine = machine, .program = "guest/crowd", .args = {"writes on and on", "//df00/file"}});
    size_t lines = count_words(o.err, "df00: the drive failed to write block");

    cr_expect(lines > 3 && lines < 8, "%zu lines: %s", lines, o.err);
    cr_expect_not_null(strstr(o.err, "(the 10th line of this kind)"), "%s", o.err);
    cr_expect_not_null(strstr(o.err, " lines like this one"), "%s", o.err);
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

/* What --check tells, after its first line; and the trace is that of a run without it. */
static const struct silence {
    const char *name, *lines;
} silences[] = {
    {"nothing", NULL},
    {"polls", NULL},
    {"never read", "  node 1 never read 3 messages of type 7 from node 0, the first of 10 bytes\n"
                   "ncube: check: the types of messages there:\n"
                   "  node 1 awaited type 11; 3 messages of type 7 and 1 of type 11 came\n"},
    {"too small", "  node 1 failed in nread, called in main (silent.c:17): message does not fit\n"
                  "  node 1 never read a message of type 9 from node 0, 100 bytes\n"
                  "ncube: check: the types of messages there:\n"
                  "  node 1 awaited types 9 and 11; 1 message of type 9 and 1 of type 11 came\n"},
    {"left open", "  node 0 never closed left, opened by open, called in main (silent.c:28)\n"
                  "  node 0 never closed one and 1 more, opened by open, called in main (silent.c:30)\n"},
    {"no such node", "  node 0 failed in nwrite, called in main (silent.c:57): invalid argument (2 times)\n"},
    {"descriptors", "  node 0 failed in close, called in main (silent.c:59): bad file descriptor\n"
                    "  node 0 failed in pio_close, called in main (silent.c:60): bad file descriptor\n"},
};

RowTest(reports, of_a_check_tell_what_went_wrong_in_silence, silences)
{
    const struct silence *s = &silences[*row];
    char *folder = folder_new(), *trace[2] = {format("%s/checked", folder), format("%s/plain", folder)};
    char *expected =
        s->lines ? format("ncube: check: messages never read, files never closed, and calls that failed:\n%s", s->lines)
                 : format("ncube: check: every message was read, every file was closed, and no call failed\n");
    size_t bytes[2];

    for (int plain = 0; plain < 2; plain++) {
        struct outcome o = ncube_run(&(struct ncube_run){.dim = "1",
                                                         .trace = trace[plain],
                                                         .program = "guest/silent",
                                                         .serve = folder,
                                                         .args = {s->name},
                                                         .options = {plain ? NULL : "--check"}});

        cr_expect_eq(o.status, 0, "%s: status %d", s->name, o.status);
        cr_expect_str_eq(o.err, plain ? "" : expected, "%s", s->name);
        outcome_free(&o);
    }
    char *checked = file_read(folder, "checked", &bytes[0]), *plain = file_read(folder, "plain", &bytes[1]);
    cr_expect(bytes[0] == bytes[1] && memcmp(checked, plain, bytes[0]) == 0, "%s: --check changes the trace", s->name);
    free(checked);
    free(plain);
    free(expected);
    free(trace[0]);
    free(trace[1]);
    folder_remove(folder);
}

/* Only the program's calls, each once, and none that have worked. */
Test(reports, of_a_check_tell_of_calls_on_parallel_files)
{
    char *folder = folder_with_images(2, 1024, 1024);
    char *machine = machine_file(
        folder, 3, 2, "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\"]; map = \"cyclic 1000 2\"; } );");
    struct outcome o = ncube_run(&(struct ncube_run){
        .machine = machine, .dim = "1", .program = "guest/silent", .args = {"parallel files"}, .options = {"--check"}});

    cr_expect_str_eq(o.err,
                     "ncube: check: messages never read, files never closed, and calls that failed:\n"
                     "  node 0 failed in pio_open, called in main (silent.c:37): no such file, directory or volume "
                     "(3 times)\n"
                     "  node 0 failed in open, called in main (silent.c:41): no such file, directory or volume "
                     "(2 times)\n"
                     "  node 0 failed in unlink, called in main (silent.c:42): no such file, directory or volume\n");
    outcome_free(&o);
    images_check(folder, 2);
    free(machine);
    folder_remove(folder);
}

/* What tests/guest/failing_calls.c gets, in its order. */
#define NO_FILE "no such file, directory or volume"
static const struct mistake {
    const char *call;
    int line;
    const char *why;
} mistakes[] = {{"fopen", 31, NO_FILE},
                {"freopen", 32, NO_FILE},
                {"open", 33, NO_FILE},
                {"opendir", 34, NO_FILE},
                {"pio_open", 35, NO_FILE},
                {"truncate", 36, NO_FILE},
                {"read", 37, "bad file descriptor"},
                {"remove", 42, NO_FILE},
                {"unlink", 43, NO_FILE},
                {"mkdir", 44, "exists already"},
                {"rmdir", 45, NO_FILE},
                {"rename", 46, NO_FILE},
                {"stat", 47, NO_FILE},
                {"access", 48, NO_FILE},
                {"chdir", 49, NULL},
                {"chmod", 50, NO_FILE},
                {"system", 55, "no such call"},
                {"popen", 56, "no such call"},
                {"execl", 57, NO_FILE},
                {"execlp", 58, NO_FILE},
                {"execvp", 59, NO_FILE},
                {"kill", 60, "no such process or node"},
                {"wait", 61, "no such child process"},
                {"waitpid", 62, "no such child process"},
                {"malloc", 63, "out of memory"},
                {"fopen", 71, "invalid argument"},
                {"fdopen", 72, "invalid argument"},
                {"fputs", 73, "bad file descriptor"},
                {"fprintf", 74, "bad file descriptor"},
                {"fseek", 75, "invalid argument"},
                {"setenv", 76, "invalid argument"},
                {"mkstemp", 77, "invalid argument"},
                {"close", 86, "bad file descriptor"}};

static void expect_mistakes(const char *err, const char *path)
{
    const char *at = strchr(err, '\n');

    for (size_t i = 0; at && i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        const char *why = m->why ? m->why : strcmp(path, "//big") == 0 ? "not a directory" : NO_FILE;
        char *line = format("\n  node 0 failed in %s, called in %s (failing_calls.c:%d): %s\n", m->call,
                            strcmp(m->call, "close") == 0 ? "compare" : "main", m->line, why);

        cr_expect(strncmp(at, line, strlen(line)) == 0, "%s: no%sin %s", path, line, err);
        at = strchr(at + 1, '\n');
        free(line);
    }
    cr_expect(at && at[1] == '\0', "%s: more than the calls that failed: %s", path, err);
}

/* Each failing call once, by the name and the line that the program has; a file that stays open by its name there. */
static void check_mistakes(const char *path)
{
    char *folder = folder_with_images(2, 1024, 1024);
    char *machine = machine_file(
        folder, 3, 2, "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\"]; map = \"cyclic 1000 2\"; } );");
    struct ncube_run run = {.machine = machine,
                            .dim = "0",
                            .program = "guest/failing_calls",
                            .serve = folder,
                            .args = {path},
                            .options = {"--check"}};
    struct outcome o = ncube_run(&run);
    char *left = format("ncube: check: messages never read, files never closed, and calls that failed:\n"
                        "  node 0 never closed %s/there, opened by open, called in main (failing_calls.c:130)\n"
                        "  node 0 never closed %s and 1 more, opened by opendir, called in main (failing_calls.c:132)\n"
                        "  node 0 never closed /made, opened by pio_open_layout, called in main (failing_calls.c:133)\n"
                        "  node 0 never closed %s/other?z, opened by open, called in main (failing_calls.c:134)\n",
                        path, path, path);

    cr_expect_not_null(strstr(o.out, "33 failed"), "%s", o.out);
    expect_mistakes(o.err, path);
    outcome_free(&o);
    run.args[1] = "left";
    o = ncube_run(&run);
    cr_expect_str_eq(o.err, left, "%s", path);
    outcome_free(&o);
    images_check(folder, 2);
    free(left);
    free(machine);
    folder_remove(folder);
}

/* What main's end loses; and not what the library asks of a pipe when a program starts. */
Test(reports, of_a_check_tell_of_the_ends_of_programs_and_not_of_their_starts)
{
    static const struct {
        const char *args[6], *err;
    } runs[] = {{{"//df00", "lost"},
                 "ncube: check: messages never read, files never closed, and calls that failed:\n"
                 "  node 0 failed in exit: no space left on volume\n"},
                {{"//df00", "lost", "|", "-n", "1", "examples/wc"},
                 "ncube: check: messages never read, files never closed, and calls that failed:\n"
                 "  node 0 failed in exit: no space left on volume\n"}};

    for (int i = 0; i < 2; i++) {
        struct ncube_run r = {.dim = "0", .program = "guest/failing_calls", .options = {"--check"}};

        memcpy(r.args, runs[i].args, sizeof runs[i].args);
        struct outcome o = ncube_run(&r);
        cr_expect_str_eq(o.err, runs[i].err, "%d", i);
        outcome_free(&o);
    }
}

Test(reports, of_a_check_name_calls_as_the_program_wrote_them)
{
    check_mistakes("//df00");
    check_mistakes("//big");
}

Test(reports, of_a_check_tell_of_nodes_that_are_stuck)
{
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "1", .program = "guest/crowd", .args = {"wrong types", "2"}, .options = {"--check"}});

    outcome_expect(&o, "stuck", DEADLOCK, "",
                   "ncube: check: messages never read, files never closed, and calls that failed:\n");
    cr_expect_not_null(strstr(o.err, "  node 0 never read a message of type 13 from node 1, 4 bytes\n"), "%s", o.err);
    cr_expect_not_null(strstr(o.err, "  node 0 awaited type 5; 1 message of type 13 and 1 of type 14 came\n"), "%s",
                       o.err);
    cr_expect_not_null(strstr(o.err, "  node 1 awaited type 5; no message came\n"), "%s", o.err);
    outcome_free(&o);
}
