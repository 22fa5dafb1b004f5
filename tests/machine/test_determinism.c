/* The same program and input give the same output, trace and virtual times, whatever the host does meanwhile. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/machine/observe.h"

TestSuite(determinism, .timeout = 120);

static const struct ncube_run mixed = {.dim = "3", .program = "guest/clockwork"};

static void expect_as_undisturbed(struct ncube_run r, disturb_fn disturb, const char *how)
{
    struct observed plain = observe(mixed, NULL), other = observe(r, disturb);

    cr_expect_gt(plain.trace_bytes, 10000, "the trace is too short to tell");
    cr_expect_geq(count_lines(plain.out), 8, "the program says too little: %s", plain.out);
    observed_expect_same(&plain, &other, how);
    observed_free(&plain);
    observed_free(&other);
}

Test(determinism, holds_for_two_runs)
{
    expect_as_undisturbed(mixed, NULL, "again");
}

Test(determinism, holds_when_threads_change_their_processor)
{
    expect_as_undisturbed(mixed, disturb_by_moves, "with moves");
}

Test(determinism, holds_under_load)
{
    expect_as_undisturbed(mixed, disturb_by_load, "under load");
}

Test(determinism, holds_when_processes_are_stopped_now_and_then)
{
    expect_as_undisturbed(mixed, disturb_by_stops, "with stops");
}

static void expect_same_on_machines(const char *one, const char *other)
{
    char *folder = folder_new(), *machine = machine_file(folder, 3, 0, one);
    struct ncube_run r = mixed;

    r.machine = machine;
    struct observed a = observe(r, NULL);
    free(machine);
    machine = machine_file(folder, 3, 0, other);
    r.machine = machine;
    struct observed b = observe(r, NULL);
    observed_expect_same(&a, &b, other);
    observed_free(&a);
    observed_free(&b);
    free(machine);
    folder_remove(folder);
}

Test(determinism, holds_for_any_number_of_cabinets)
{
    expect_same_on_machines("", "nodes_per_cabinet = 3;");
}

Test(determinism, is_no_accident_other_machines_differ)
{
    char *folder = folder_new(), *machine = machine_file(folder, 3, 0, "cycles = { branch = 4; };");
    struct ncube_run r = mixed;

    r.machine = machine;
    struct observed slow = observe(r, NULL), plain = observe(mixed, NULL);
    cr_expect_str_neq(slow.out, plain.out);
    observed_free(&slow);
    observed_free(&plain);
    free(machine);
    folder_remove(folder);
}

/* ---- Input ---- */

static struct observed observe_input_from_pipe(const char *text, int pause_ms)
{
    char *folder = folder_new(), *trace = format("%s/trace", folder);
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c =
        ncube_start_on(&(struct ncube_run){.program = "guest/streams", .args = {"copies lines"}, .trace = trace},
                       (struct streams_of_test){ends[0], -1});
    close(ends[0]);
    for (; *text != '\0'; text++) {
        cr_assert_eq(write(ends[1], text, 1), 1);
        poll(NULL, 0, pause_ms);
    }
    close(ends[1]);
    struct observed seen = observe_end(&c, folder, "trace", false);
    free(trace);
    folder_remove(folder);
    return seen;
}

Test(determinism, does_not_depend_on_when_input_comes)
{
    const char *text = "one\ntwo and more\n\nthe last";
    struct observed file =
        observe((struct ncube_run){.program = "guest/streams", .args = {"copies lines"}, .input = text}, NULL);
    struct observed slow = observe_input_from_pipe(text, 15);

    observed_expect_same(&file, &slow, "input byte by byte");
    observed_free(&file);
    observed_free(&slow);
}
