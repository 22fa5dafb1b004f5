/* Vertex beyond plain messages and files: buffers that pass without a copy, several processes on a node, signals, the
 * clock. The programs check the results themselves; the tests check how they end. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(vertex, .timeout = 600);

static const struct self_test {
    const char *dim, *program, *name;
} self_tests[] = {
    {"0", "guest/buffers", "every way"},
    {"2", "guest/buffers", "every way"},
    {"1", "guest/buffers", "lands where nread waits"},
    {"3", "guest/buffers", "others come meanwhile"},
    {"1", "guest/buffers", "too short"},
    {"0", "guest/buffers", "errors"},
    {"0", "guest/buffers", "all memory"},
    {"2", "guest/buffers", "to everybody"},
    {"1", "guest/processes", "own memory"},
    {"0", "guest/processes", "by name"},
    {"2", "guest/processes", "by name"},
    {"1", "guest/processes", "long messages"},
    {"0", "guest/processes", "equal shares"},
    {"0", "guest/processes", "the blocked cost nothing"},
    {"1", "guest/processes", "turns in order"},
    {"1", "guest/short", "any buffer"},
    {"1", "guest/short", "among others"},
    {"2", "guest/short", "among others"},
    {"0", "guest/sleeps", "long ones are interrupted"},
    {"0", "guest/sleeps", "long ones end"},
    {"2", "guest/signals", "between nodes"},
    {"1", "guest/signals", "registers survive"},
    {"2", "guest/signals", "arrivals"},
    {"0", "guest/signals", "faults"},
    {"1", "guest/signals", "blocked"},
    {"0", "guest/signals", "masks"},
    {"0", "guest/signals", "stays pending"},
    {"1", "guest/signals", "stays pending from another"},
    {"0", "guest/signals", "actions have masks"},
    {"0", "guest/signals", "all come before the call returns"},
    {"1", "guest/signals", "suspends"},
    {"1", "guest/signals", "waits for signals"},
    {"1", "guest/signals", "ignores"},
    {"1", "guest/signals", "errors"},
    {"0", "guest/signals", "sleeps are exact"},
    {"1", "guest/measure", "eight bytes"},
    {"4", "guest/measure", "streams"},
    {"6", "guest/gather", "descending"},
    {"1", "guest/gather", "types"},
    {"2", "guest/gather", "wildcards"},
};

/* One after the other on one machine. */
Test(vertex, keeps_its_promises)
{
    struct booted b = booted_up(WORDS("-d", "6"));

    for (size_t i = 0; i < sizeof self_tests / sizeof *self_tests; i++) {
        const struct self_test *t = &self_tests[i];

        xnc_must_pass(&b, &(struct ncube_run){.dim = t->dim, .program = t->program, .args = {t->name}});
    }
    booted_down(&b);
}

Test(vertex, loads_a_program_of_more_than_half_the_memory_on_many_nodes)
{
    char *folder = folder_new(), *machine = machine_file(folder, 3, 0, "ram_mb = 1;");

    guest_must_pass(&(struct ncube_run){.dim = "3", .machine = machine, .program = "guest/large", .args = {"starts"}});
    free(machine);
    folder_remove(folder);
}

/* Of a process that is the first one in its memory. */
Test(vertex, flushes_the_tlb_as_a_program_grows)
{
    guest_must_pass(&(struct ncube_run){.program = "guest/measure", .args = {"fences"}});
}

static const struct end {
    const char *dim, *program, *name;
    int status;
    const char *err;
} ends[] = {
    {"1", "guest/buffers", "gone after nwritep", 1, "store to an address that is not writable"},
    {"1", "guest/processes", "statuses", 7, ""},
    {"1", "guest/processes", "one faults", 1, "node 1 (address 0x1): store to an address that is not writable"},
    {"1", "guest/signals", "ended by another", 143, "node 0 (address 0x0): ended by signal 15 (SIGTERM) from node 1"},
    {"2", "guest/signals", "ends all", 130, "ended by signal 2 (SIGINT) from node 3"},
    {"2", "guest/signals", "aborts", 134, "node 3 (address 0x3): ended by its own signal 6 (SIGABRT)"},
    {"0", "guest/signals", "aborts", 134, "node 0 (address 0x0): ended by its own signal 6 (SIGABRT)"},
    {"1", "guest/signals", "aborts in spite of all", 134, "node 1 (address 0x1): ended by its own signal 6 (SIGABRT)"},
    {"1", "guest/signals", "aborts though ignored", 134, "node 1 (address 0x1): ended by its own signal 6 (SIGABRT)"},
    {"2", "guest/signals", "asserts", 134, "node 3 (address 0x3): ended by its own signal 6 (SIGABRT)"},
    {"0", "guest/signals", "asserts", 134, "assertion \"own_node() < 0\" failed: file \"tests/guest/signals.c\""},
    {"2", "guest/signals", "raises", 158, "node 3 (address 0x3): ended by its own signal 30 (SIGUSR1)"},
    {"2", "guest/signals", "kills itself", 143, "node 3 (address 0x3): ended by its own signal 15 (SIGTERM)"},
    {"1", "guest/signals", "kills itself for good", 137, "node 1 (address 0x1): ended by its own signal 9 (SIGKILL)"},
    {"1", "guest/signals", "lets its end through", 129,
     "node 1 (address 0x1): ended by signal 1 (SIGHUP), which it had blocked"},
    {"1", "guest/signals", "suspends until its end", 131,
     "node 1 (address 0x1): ended by signal 3 (SIGQUIT), which it had blocked"},
};

Test(vertex, ends_programs_as_it_should)
{
    struct booted b = booted_up(WORDS("-d", "2"));

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct end *e = &ends[i];
        const struct ncube_run r = {.dim = e->dim, .program = e->program, .args = {e->name}};

        outcome_must_be(xnc_run_of(&b, &r), e->name, e->status, "", e->err);
    }
    booted_down(&b);
}

/* ---- Short versions of `make torture` and `make fuzz-calls` ---- */

Test(vertex, delivers_a_thousand_random_messages_on_thirty_two_nodes)
{
    guest_must_pass(&(struct ncube_run){.dim = "5", .program = "guest/torture", .args = {"6", "1"}});
}

Test(vertex, delivers_them_in_spite_of_noise)
{
    char *folder = folder_new(), *machine = machine_file(folder, 5, 0, "faults = ( { parity = 1; seed = 3; } );");

    guest_must_pass(
        &(struct ncube_run){.dim = "5", .machine = machine, .program = "guest/torture", .args = {"4", "2"}});
    free(machine);
    folder_remove(folder);
}

Test(vertex, answers_random_calls)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.dim = "2", .program = "guest/calls", .args = {"4000", "1"}}),
                    "random calls", 0, "passed\n", "refused");
}

/* ---- Programs that see where they are interrupted: still nothing depends on how far nodes run ahead ---- */

static const struct self_test visible[] = {
    {"1", "guest/processes", "by name"},         {"1", "guest/processes", "equal shares"},
    {"1", "guest/processes", "one faults"},      {"2", "guest/signals", "between nodes"},
    {"1", "guest/signals", "registers survive"}, {"2", "guest/signals", "arrivals"},
    {"1", "guest/signals", "ended by another"},  {"1", "guest/signals", "suspends"},
    {"1", "guest/signals", "waits for signals"}, {"1", "guest/posix_process", "alarms"},
};

static char *trace_of(const struct self_test *t, const char *sync, const char *folder, size_t *bytes)
{
    char *ncube = build_path("bin/ncube"), *program = build_path(t->program), *trace = format("%s/trace", folder);
    char *argv[] = {ncube, "run",          "--sync", (char *)sync,    "--trace", trace,
                    "-d",  (char *)t->dim, program,  (char *)t->name, NULL};
    struct outcome o = command_run(argv, "");
    char *content = file_read(folder, "trace", bytes);

    outcome_free(&o);
    free(trace);
    free(program);
    free(ncube);
    return content;
}

RowTest(vertex, interrupts_come_at_the_same_time_in_strict_mode, visible)
{
    char *folder = folder_new();
    size_t ahead_bytes, strict_bytes;
    char *ahead = trace_of(&visible[*row], "ahead", folder, &ahead_bytes);
    char *strict = trace_of(&visible[*row], "strict", folder, &strict_bytes);

    cr_expect_gt(count_lines(ahead), 40, "%s", visible[*row].name);
    cr_expect(ahead_bytes == strict_bytes && memcmp(ahead, strict, ahead_bytes) == 0, "%s: the traces differ",
              visible[*row].name);
    free(strict);
    free(ahead);
    folder_remove(folder);
}
