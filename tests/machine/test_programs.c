/* Programs on machines without I/O nodes: what they print and how they end. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(programs, .timeout = 600);

/* ---- Output and status ---- */

static const struct program {
    const char *name, *dim, *program, *args[3], *input;
    int status;
    const char *out; /* exactly; NULL: any */
    const char *err; /* occurs in standard error; empty: nothing is there */
} programs[] = {
    {"one node says hello", "0", "examples/hello", {NULL}, "", 0, "hello from node 0 of 1\n", ""},
    {"a status of zero", "0", "guest/status", {"0"}, "", 0, "", ""},
    {"a status is passed on", "0", "guest/status", {"42"}, "", 42, "", ""},
    {"the highest status of the nodes counts", "2", "guest/status", {"7"}, "", 10, "", ""},
    {"an exit runs the exit handlers", "0", "guest/ends", {"runs exit handlers"}, "", 5, "farewell from node 0\n", ""},
    {"_exit runs none", "0", "guest/ends", {"skips exit handlers"}, "", 6, "", ""},
    {"abort on one node ends all", "2", "guest/ends", {"aborts"}, "", 134, "", "ended by its own signal 6 (SIGABRT)"},
    {"a message that cannot come is a deadlock",
     "1",
     "guest/ends",
     {"waits for one that has ended"},
     "",
     125,
     "",
     "not ended\n  first failure: node 1 has ended with status 11\n  the front end waits for 1 of 2 nodes to exit, "
     "first node 0\n  node 0 waits in nread for a message of type 42 from node 1\n  node 1 has ended with status 11\n"},
    {"a sleep that is longer than time is a deadlock",
     "0",
     "guest/sleeps",
     {"for ever", "nanosleep"},
     "",
     125,
     "",
     "  node 0 waits for a signal\n"},
    {"so is a trap for the last cycle", "0", "guest/sleeps", {"for ever", "trap"}, "", 125, "", "waits for a signal\n"},
    {"so is a select", "0", "guest/sleeps", {"for ever", "select"}, "", 125, "", "waits in poll or select\n"},
    {"so is a wait for a signal", "0", "guest/sleeps", {"for ever", "wait"}, "", 125, "", "waits for a signal\n"},
    {"so is an alarm", "0", "guest/sleeps", {"for ever", "alarm"}, "", 125, "", "waits for a signal\n"},
    {"the C library does what it should", "0", "guest/library", {"argument"}, "", 0, NULL, ""},
    {"thirty-two nodes meet", "5", "guest/nsync", {NULL}, "", 0, "5 barriers hold\n", ""},
};

RowTest(programs, end_as_expected, programs)
{
    const struct program *p = &programs[*row];
    struct ncube_run r = {.dim = p->dim, .program = p->program, .input = p->input};

    memcpy(r.args, p->args, sizeof p->args);
    outcome_must_be(ncube_run(&r), p->name, p->status, p->out, p->err);
}

/* ---- Programs that test by themselves ---- */

static const struct self_test {
    const char *dim, *program, *name, *argument;
} self_tests[] = {
    {"0", "guest/messages", "identity", NULL},
    {"3", "guest/messages", "identity", NULL},
    {"2", "guest/messages", "explicit source and type", NULL},
    {"1", "guest/messages", "wildcards take the oldest", NULL},
    {"2", "guest/messages", "NULL stands for any", NULL},
    {"2", "guest/messages", "order is kept", NULL},
    {"1", "guest/messages", "ntest looks and leaves", NULL},
    {"1", "guest/messages", "nrange limits wildcards", NULL},
    {"0", "guest/messages", "no bytes", NULL},
    {"2", "guest/messages", "no bytes", NULL},
    {"1", "guest/messages", "every length", NULL},
    {"4", "guest/messages", "every length", NULL},
    {"0", "guest/messages", "to itself", NULL},
    {"0", "guest/messages", "to everybody", NULL},
    {"3", "guest/messages", "to everybody", NULL},
    {"1", "guest/messages", "too small a buffer", NULL},
    {"1", "guest/messages", "failures are told", NULL},
    {"2", "guest/messages", "send errors", NULL},
    {"1", "guest/messages", "read errors", NULL},
    {"0", "guest/messages", "bad buffers", NULL},
    {"3", "guest/messages", "barrier", NULL},
    {"1", "guest/messages", "interrupts", NULL},
    {"4", "guest/messages", "torture", "1"},
    {"4", "guest/messages", "torture", "2"},
    {"3", "guest/ends", "in another order", NULL},
    {"2", "guest/ends", "leaves messages unread", NULL},
    {"0", "guest/ends", "handles own signals", NULL},
    {"0", "guest/ends", "memory ends", NULL},
    {"0", "guest/ends", "refused memory costs nothing", NULL},
    {"0", "guest/ends", "new memory is zero", NULL},
    {"1", "guest/ends", "NCU hints", NULL},
    {"0", "guest/ends", "unknown traps", NULL},
    {"0", "guest/ends", "registers", NULL},
    {"1", "guest/ends", "clock moves on", NULL},
};

/* One after the other on one machine. */
Test(programs, find_the_machine_right)
{
    struct booted b = booted_up(WORDS("-d", "4"));

    for (size_t i = 0; i < sizeof self_tests / sizeof *self_tests; i++) {
        const struct self_test *t = &self_tests[i];

        xnc_must_pass(&b, &(struct ncube_run){.dim = t->dim, .program = t->program, .args = {t->name, t->argument}});
    }
    booted_down(&b);
}

Test(programs, whose_messages_do_not_fit_in_memory_lose_none)
{
    char *folder = folder_new(), *machine = machine_file(folder, 2, 0, "ram_mb = 1;");

    guest_must_pass(
        &(struct ncube_run){.dim = "2", .machine = machine, .program = "guest/messages", .args = {"more than memory"}});
    free(machine);
    folder_remove(folder);
}
