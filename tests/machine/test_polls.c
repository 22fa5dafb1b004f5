/* poll and select: tests/guest/polls.c. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(polls, .timeout = 600);

static const struct guest_end ends[] = {
    {"0", "pipes", 0, "passed\n", ""},
    {"0", "others", 0, "passed\n", ""},
    {"1", "time", 0, "passed\n", ""},
    {"0", "each", 0, "passed\n", ""},
    {"0", "room", 0, "passed\n", ""},
    {"0", "a signal", 0, "passed\n", ""},
    {"0", "no signal is missed", 0, "passed\n", ""},
    {"0", "select", 0, "passed\n", ""},
    {"2", "messages", 0, "passed\n", ""},
    {"2", "one address", 0, "passed\n", ""},
    {"0", "nobody comes", 125, "", "node 0 waits in poll or select"},
};

RowTest(polls, tell_what_is_ready, ends)
{
    guest_must_end("guest/polls", &ends[*row], NULL, NULL);
}

Test(polls, work_in_a_pipeline)
{
    guest_must_pass(&(struct ncube_run){
        .program = "guest/polls", .args = {"writes to a pipe", "|", "-d", "0", "guest/polls", "reads from a pipe"}});
}

/* Under ncube run the input is always there: the machine stands still until it is. */
Test(polls, wait_for_no_input_of_a_run)
{
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c = ncube_start_on(&(struct ncube_run){.program = "guest/polls", .args = {"input"}},
                                      (struct streams_of_test){ends[0], -1});
    close(ends[0]);
    usleep(300000);
    cr_assert_eq(write(ends[1], "one\n", 4), 4);
    usleep(100000);
    cr_assert_eq(write(ends[1], "two\n", 4), 4);
    close(ends[1]);
    outcome_must_be(command_wait(&c), "ncube run", 0, "asks\none: there\ninput 1, child 0\ntwo\npassed\n", "");
}

/* On a machine that is kept up, the program goes on meanwhile. */
Test(polls, wait_for_the_input_of_a_user)
{
    struct booted machine = booted_up(WORDS("-d", "1"));
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c =
        xnc_start(&machine, (struct streams_of_test){ends[0], -1}, WORDS("-d", "0", "guest/polls", "input"));
    close(ends[0]);
    command_await_lines(&c, 2);
    cr_assert_eq(write(ends[1], "one\n", 4), 4);
    command_await_lines(&c, 4);
    cr_assert_eq(write(ends[1], "two\n", 4), 4);
    command_await_lines(&c, 5);
    close(ends[1]);
    outcome_must_be(command_wait(&c), "xnc", 0, "asks\nwaits\none: waited\ninput 0, child 1\ntwo\npassed\n", "");
    booted_down(&machine);
}
