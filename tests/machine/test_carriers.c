/*
 * Harts that take turns, in one thread of each cabinet and processor: however they are divided among processors and
 * cabinets, and whatever the program does, a machine ends by a signal or by the loss of one of its QEMUs, and leaves
 * nothing. A loop without end keeps no other program from running.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "emu/qemu/fiber.h"
#include "tests/machine/booted.h"
#include "tests/machine/observe.h"

static void set_up(void)
{
    if (!fiber_possible())
        cr_skip_test(NO_FIBERS);
}

TestSuite(carriers, .init = set_up, .timeout = 600);

/* Programs without end; each has come to it when it has printed so many lines. */
static const struct state {
    const char *name, *program, *arg;
    size_t lines;
} states[] = {
    {"computes", "guest/ends", "spins", 1},
    {"computes among messages", "guest/ends", "spins among messages", 1},
    {"computes with a handler", "guest/ends", "spins with a handler", 1},
    {"computes in several processes", "guest/processes", "spins", 1},
    {"polls", "guest/ends", "polls for nothing", 1},
    {"prints", "guest/ends", "prints", 100},
    {"sends", "guest/ends", "talks", 0},
};
#define STATES (sizeof states / sizeof *states)

static const struct way {
    const char *name, *dim, *machine, *options[3];
} ways[] = {
    {"as it is", "2", "", {NULL}},
    {"one node", "0", "", {NULL}},
    {"one processor", "2", "", {"--cores", "1"}},
    {"ncube beside QEMU", "2", "", {"--harts=turns"}},
    {"two processors, two cabinets", "2", "nodes_per_cabinet = 2;", {"--cores", "2"}},
    {"a cabinet for each node, strict", "2", "nodes_per_cabinet = 1;", {"--sync=strict"}},
    {"a thread for each hart", "2", "nodes_per_cabinet = 2;", {"--harts=threads"}},
};

static struct command start(const struct state *s, const struct way *w, const char *folder)
{
    char *machine = machine_file(folder, 3, 0, w->machine);
    struct ncube_run r = {.dim = w->dim, .machine = machine, .program = s->program, .args = {s->arg}};

    memcpy(r.options, w->options, sizeof r.options);
    struct command c = ncube_start(&r);
    if (s->lines > 0)
        command_await_lines(&c, s->lines);
    else
        command_ends_within(&c, 100);
    return c;
}

static struct outcome end(struct command *c, const char *what)
{
    cr_expect(command_ends_within(c, END_MS), "%s: it does not end", what);
    struct outcome o = command_wait(c);
    command_expect_nothing_left(c, what);
    return o;
}

/* "sends" needs a neighbour. */
static bool can_be(const struct state *s, const struct way *w)
{
    return strcmp(w->dim, "0") != 0 || strcmp(s->arg, "talks") != 0;
}

DrawnRowTest(carriers, let_go_at_a_signal_whatever_their_harts_do, ways, 2)
{
    const struct way *w = &ways[*row];
    char *folder = folder_new();

    for (size_t i = 0; i < STATES; i++) {
        char *what = format("%s, %s", w->name, states[i].name);

        if (can_be(&states[i], w)) {
            struct command c = start(&states[i], w, folder);

            kill(c.pid, SIGINT);
            struct outcome o = end(&c, what);
            cr_expect_eq(o.status, 128 + SIGINT, "%s: status %d: %s", what, o.status, o.err);
            /* The signal, how many nodes have not ended, and each of them or fewer. */
            cr_expect_leq(count_lines(o.err), 2 + (1 << atoi(w->dim)), "%s: %s", what, o.err);
            outcome_free(&o);
        }
        free(what);
    }
    folder_remove(folder);
}

/* One of several, perhaps. */
DrawnRowTest(carriers, that_are_lost_end_the_machine, ways, 2)
{
    static const int signals[] = {SIGKILL, SIGSEGV, SIGABRT};
    const struct way *w = &ways[*row];
    char *folder = folder_new();

    for (size_t i = 0; i < STATES; i++) {
        char *what = format("%s, %s, signal %d", w->name, states[i].name, signals[i % 3]);

        if (can_be(&states[i], w)) {
            struct command c = start(&states[i], w, folder);

            kill(command_find_qemu(&c), signals[i % 3]);
            struct outcome o = end(&c, what);
            cr_expect(o.status == 1 && count_lines(o.err) == 1 && strstr(o.err, "qemu-system-riscv64"),
                      "%s: status %d: %s", what, o.status, o.err);
            outcome_free(&o);
        }
        free(what);
    }
    folder_remove(folder);
}

/* Its carrier has other harts, too, also where it has all of them. */
Test(carriers, with_a_loop_without_end_execute_other_programs)
{
    static const char *const lines[][5] = {{"-d", "2", NULL}, {"-d", "2", "--cores", "1", NULL}};

    for (size_t i = 0; i < 2; i++) {
        struct booted b = booted_up(lines[i]);
        struct command loop = xnc_start(&b, (struct streams_of_test){-1, -1}, WORDS("-d1", "guest/ends", "spins"));

        command_await_lines(&loop, 1);
        for (int k = 0; k < 5; k++)
            xnc_expect(&b, "", WORDS("-d1", "guest/neighbours", "answers"), 0, "passed\n", "");
        kill(loop.pid, SIGINT);
        struct outcome o = command_wait(&loop);
        cr_expect_eq(o.status, 128 + SIGINT, "status %d: %s", o.status, o.err);
        outcome_free(&o);
        booted_down(&b);
    }
}

/* A machine of one node has one hart, and nothing to wait for. */
Test(carriers, with_one_hart_are_exact)
{
    struct ncube_run r = {.dim = "0", .program = "guest/exact", .args = {"all", "5"}};
    struct observed turns = observe(r, disturb_by_stops);

    for (int i = 0; i < 2; i++) {
        r.options[0] = i ? "--harts=threads" : "--sync=strict";
        struct observed other = observe(r, NULL);
        observed_expect_same(&turns, &other, r.options[0]);
        observed_free(&other);
    }
    observed_free(&turns);
}
