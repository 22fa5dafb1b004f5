/* The same program and input give the same output, trace and virtual times, whatever the host does meanwhile. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/command.h"

TestSuite(determinism, .timeout = 120);

#define BUSY_LOOPS 3

struct observed {
    int status;
    char *out, *trace;
    size_t trace_bytes;
};

/* What happens to a run while it runs; NULL: nothing. */
typedef void (*disturb_fn)(const struct command *c);

static struct observed observe(struct ncube_run r, disturb_fn disturb)
{
    char *folder = folder_new(), *trace = format("%s/trace", folder);

    r.trace = trace;
    struct command c = ncube_start(&r);
    if (disturb != NULL)
        disturb(&c);
    struct outcome o = command_wait(&c);
    cr_assert_eq(o.status, 0, "status %d: %s", o.status, o.err);
    struct observed seen = {.status = o.status, .out = strdup(o.out)};
    seen.trace = file_read(folder, "trace", &seen.trace_bytes);
    outcome_free(&o);
    free(trace);
    folder_remove(folder);
    return seen;
}

static void observed_free(struct observed *o)
{
    free(o->out);
    free(o->trace);
}

/* The line in which two traces part. */
static char *first_difference(const char *a, const char *b)
{
    size_t at = 0, line = 0;

    for (; a[at] == b[at] && a[at] != '\0'; at++)
        line = a[at] == '\n' ? at + 1 : line;
    return format("%.*s / %.*s", (int)strcspn(a + line, "\n"), a + line, (int)strcspn(b + line, "\n"), b + line);
}

static void expect_same(const struct observed *a, const struct observed *b, const char *how)
{
    char *difference = first_difference(a->trace, b->trace);

    cr_expect_str_eq(a->out, b->out, "%s: printed\n%snot\n%s", how, b->out, a->out);
    cr_expect(a->trace_bytes == b->trace_bytes && memcmp(a->trace, b->trace, a->trace_bytes) == 0, "%s: the trace: %s",
              how, difference);
    free(difference);
}

static const struct ncube_run mixed = {.dim = "3", .program = "guest/clockwork"};

static void expect_as_undisturbed(struct ncube_run r, disturb_fn disturb, const char *how)
{
    struct observed plain = observe(mixed, NULL), other = observe(r, disturb);

    cr_expect_gt(plain.trace_bytes, 10000, "the trace is too short to tell");
    cr_expect_geq(count_lines(plain.out), 8, "the program says too little: %s", plain.out);
    expect_same(&plain, &other, how);
    observed_free(&plain);
    observed_free(&other);
}

Test(determinism, holds_for_two_runs)
{
    expect_as_undisturbed(mixed, NULL, "again");
}

Test(determinism, holds_on_one_processor)
{
    struct ncube_run r = mixed;

    r.on_cpu = "0";
    expect_as_undisturbed(r, NULL, "on one processor");
}

Test(determinism, holds_under_load)
{
    pid_t busy[BUSY_LOOPS];

    for (int i = 0; i < BUSY_LOOPS; i++)
        if ((busy[i] = fork()) == 0)
            for (;;)
                ;
    struct observed loaded = observe(mixed, NULL);
    for (int i = 0; i < BUSY_LOOPS; i++) {
        kill(busy[i], SIGKILL);
        waitpid(busy[i], NULL, 0);
    }
    struct observed plain = observe(mixed, NULL);
    expect_same(&plain, &loaded, "under load");
    observed_free(&plain);
    observed_free(&loaded);
}

/* Stops one of the run's processes at a time, ncube itself included. */
static void stop_now_and_then(const struct command *c)
{
    unsigned state = 1;
    pid_t pid[8];

    while (!command_ends_within(c, 0)) {
        size_t n = command_processes(c, pid, 8);
        state = state * 1664525u + 1013904223u;
        pid_t stopped = n > 0 ? pid[(state >> 8) % n] : c->pid;
        kill(stopped, SIGSTOP);
        poll(NULL, 0, (int)(state >> 16) % 15);
        kill(stopped, SIGCONT);
        poll(NULL, 0, (int)(state >> 20) % 10);
    }
}

Test(determinism, holds_when_processes_are_stopped_now_and_then)
{
    expect_as_undisturbed(mixed, stop_now_and_then, "with stops");
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
    expect_same(&a, &b, other);
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
    struct command c = ncube_start_on(
        &(struct ncube_run){.program = "guest/streams", .args = {"copies lines"}, .trace = trace},
        (struct streams_of_test){ends[0], -1});
    close(ends[0]);
    for (; *text != '\0'; text++) {
        cr_assert_eq(write(ends[1], text, 1), 1);
        poll(NULL, 0, pause_ms);
    }
    close(ends[1]);
    struct outcome o = command_wait(&c);
    struct observed seen = {.status = o.status, .out = strdup(o.out)};
    seen.trace = file_read(folder, "trace", &seen.trace_bytes);
    outcome_free(&o);
    free(trace);
    folder_remove(folder);
    return seen;
}

Test(determinism, does_not_depend_on_when_input_comes)
{
    const char *text = "one\ntwo and more\n\nthe last";
    struct observed file = observe(
        (struct ncube_run){.program = "guest/streams", .args = {"copies lines"}, .input = text}, NULL);
    struct observed slow = observe_input_from_pipe(text, 15);

    expect_same(&file, &slow, "input byte by byte");
    observed_free(&file);
    observed_free(&slow);
}
