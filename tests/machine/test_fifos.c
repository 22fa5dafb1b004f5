/* Pipes by their names, //pipe/NAME: programs that are started apart meet on a machine that is up. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"
#include "tests/machine/observe.h"

TestSuite(fifos, .timeout = 600);

static const struct streams_of_test in_memory = {-1, -1};

static void expect_end(struct command *c, const char *name, int status, const char *out, const char *err)
{
    outcome_must_be(command_wait(c), name, status, out, err);
}

Test(fifos, wait_for_the_other_end)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    struct command reader = xnc_start(&b, in_memory, WORDS("guest/fifo", "read", "//pipe/x"));

    xnc_await(&b, &reader, XNC_RUNS);
    cr_expect_not(command_ends_within(&reader, 300), "one that waits for the other end is no deadlock");
    xnc_expect(&b, "some text\n", WORDS("guest/fifo", "write", "//pipe/x"), 0, "", "");
    expect_end(&reader, "reader", 0, "some text\n", "");
    struct command writer = xnc_start(&b, in_memory, WORDS("guest/fifo", "writes thrice"));
    xnc_await(&b, &writer, XNC_RUNS);
    xnc_expect(&b, "", WORDS("guest/fifo", "reads thrice"), 0, "passed\n", "");
    expect_end(&writer, "writer", 0, "passed\n", "");
    booted_down(&b);
}

Test(fifos, break_at_once)
{
    struct booted b = booted_up(WORDS("-d", "1"));
    struct command writer = xnc_start(&b, in_memory, WORDS("guest/fifo", "hears of the end"));

    xnc_await(&b, &writer, XNC_RUNS);
    xnc_expect(&b, "", WORDS("guest/fifo", "reads four"), 0, "passed\n", "");
    expect_end(&writer, "writer", 0, "passed\n", "");
    booted_down(&b);
}

/* Two pairs at one name, as they come. */
Test(fifos, are_pairs)
{
    struct booted b = booted_up(WORDS("-d", "3"));
    struct command reader[2];

    for (int i = 0; i < 2; i++)
        reader[i] = xnc_start(&b, in_memory, WORDS("guest/fifo", "read", "//pipe/x"));
    for (int i = 0; i < 2; i++)
        xnc_await(&b, &reader[i], XNC_RUNS);
    xnc_expect(&b, "one\n", WORDS("guest/fifo", "write", "//pipe/x"), 0, "", "");
    xnc_expect(&b, "two\n", WORDS("guest/fifo", "write", "//pipe/x"), 0, "", "");
    struct outcome first = command_wait(&reader[0]), second = command_wait(&reader[1]);
    cr_expect_eq(first.status + second.status, 0);
    cr_expect((strcmp(first.out, "one\n") == 0 && strcmp(second.out, "two\n") == 0) ||
                  (strcmp(first.out, "two\n") == 0 && strcmp(second.out, "one\n") == 0),
              "%s and %s", first.out, second.out);
    outcome_free(&first);
    outcome_free(&second);
    booted_down(&b);
}

/* The lines of the readers, sorted by sort(1). */
static char *sorted(const char *text)
{
    struct outcome o = command_run((char *[]){"sort", NULL}, text);
    char *lines = strdup(o.out);

    outcome_free(&o);
    return lines;
}

/* Programs of several nodes, with mappings: what a pipeline gives. */
Test(fifos, give_what_a_pipeline_gives)
{
    static const char wrote[] = "cyclic 100 3", reads[] = "array 37x40x5 *,cyclic on 1x5";
    struct booted b = booted_up(WORDS("-d", "4"));
    struct outcome piped = ncube_run(&(struct ncube_run){
        .options = {"--nodes=3"},
        .program = "guest/pipes",
        .args = {"write", "-", wrote, "7", "|", "-n", "5", "guest/pipes", "read", "-", reads, "7"}});
    struct command writer = xnc_start(&b, in_memory, WORDS("-n3", "guest/pipes", "write", "//pipe/law", wrote, "7"));
    struct outcome read = xnc_run(&b, "", WORDS("-n5", "guest/pipes", "read", "//pipe/law", reads, "7"));
    char *expected = sorted(piped.err), *got = sorted(read.err);

    cr_expect_eq(piped.status, 0);
    cr_expect_eq(read.status, 0);
    cr_expect_str_eq(got, expected);
    expect_end(&writer, "writer", 0, "", "");
    free(expected);
    free(got);
    outcome_free(&read);
    outcome_free(&piped);
    booted_down(&b);
}

Test(fifos, share_their_fate)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    struct command reader = xnc_start(&b, in_memory, WORDS("guest/fifo", "read", "//pipe/x"));
    struct command lonely = xnc_start(&b, in_memory, WORDS("guest/fifo", "read", "//pipe/other"));
    int input[2];

    cr_assert_eq(pipe(input), 0);
    struct command writer =
        xnc_start(&b, (struct streams_of_test){input[0], -1}, WORDS("guest/fifo", "write", "//pipe/x"));
    close(input[0]);
    cr_assert_eq(write(input[1], "text\n", 5), 5);
    command_await_lines(&reader, 1);
    xnc_await(&b, &lonely, XNC_RUNS);
    cr_expect_not(command_ends_within(&reader, 300), "a writer that waits for its input is no deadlock");
    kill(writer.pid, SIGTERM);
    expect_end(&writer, "writer", 128 + SIGTERM, "", "ended by SIGTERM");
    expect_end(&reader, "reader", 1, NULL, "the program at the other end of its pipe was ended");
    cr_expect_not(command_ends_within(&lonely, 0));
    kill(lonely.pid, SIGTERM);
    expect_end(&lonely, "lonely", 128 + SIGTERM, "", "ended by SIGTERM");
    close(input[1]);
    xnc_expect(&b, "", WORDS("-d2", "guest/neighbours", "answers"), 0, "passed\n", ""); /* all nodes are free */
    booted_down(&b);
}

Test(fifos, refuse_wrong_names)
{
    guest_must_pass(&(struct ncube_run){.program = "guest/fifo", .args = {"errors"}});
}

Test(fifos, without_another_program_are_a_deadlock)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.dim = "1", .program = "guest/fifo", .args = {"read", "//pipe/x"}}),
                    "alone", 125, "", "nodes 0-1: each waits for the front end");
}

/* Programs of one job meet, too: always at the same times. */
Test(fifos, between_programs_of_a_job_are_exact)
{
    struct ncube_run r = {.options = {"--nodes=3"},
                          .program = "guest/pipes",
                          .args = {"write", "//pipe/x", "cyclic 100 3", "7", "|", "-n", "5", "guest/pipes", "read",
                                   "//pipe/x", "cyclic 30 5", "7"}};

    observe_ahead_and_strict(r, "named pipe");
}
