/* Groups (libpio/group): what their operations give on sets of any size and order, and what is said when a member does
 * not come. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(groups, .timeout = 600);

#define PROGRAM  "guest/groups"
#define PROGRAM3 "guest/groups3" /* three processes on each node */

static const char *const self_tests[] = {
    "odd sets",           "subcubes",
    "overlapping",        "four groups in two contexts",
    "contexts are apart", "wildcards see no operation",
    "nsync beside any",   "contexts run out",
    "bad arguments",      "handlers run meanwhile",
    "four contexts",      "slow member",
};

static void must_pass_on(const char *program, const char *dim, const char *name)
{
    guest_must_pass(&(struct ncube_run){.dim = dim, .program = program, .args = {name}});
}

/* One after the other on one machine. */
Test(groups, work_on_all_cubes)
{
    static const char *const dims[] = {"0", "1", "3"};
    struct booted b = booted_up(WORDS("-d", "3"));

    for (size_t i = 0; i < sizeof self_tests / sizeof *self_tests; i++)
        for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
            xnc_must_pass(&b, &(struct ncube_run){.dim = dims[d], .program = PROGRAM, .args = {self_tests[i]}});
    booted_down(&b);
}

Test(groups, wait_for_a_slow_member_with_little_memory)
{
    char *folder = folder_new(), *machine = machine_file(folder, 3, 0, "ram_mb = 2;\n");

    guest_must_pass(&(struct ncube_run){.dim = "3", .machine = machine, .program = PROGRAM, .args = {"slow member"}});
    free(machine);
    folder_remove(folder);
}

/* On odd numbers of nodes as well, in test_odd. */
Test(groups, have_members_on_one_node)
{
    struct booted b = booted_up(WORDS("-d", "1"));

    for (size_t i = 0; i < sizeof self_tests / sizeof *self_tests; i++)
        xnc_must_pass(&b, &(struct ncube_run){.dim = "1", .program = PROGRAM3, .args = {self_tests[i]}});
    booted_down(&b);
}

/* Of what they do beside messages; the sets are in test_exact's random programs. */
Test(groups, have_one_trace)
{
    static const char *const names[] = {"contexts are apart", "nsync beside any", "handlers run meanwhile"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        guest_must_repeat(&(struct ncube_run){.dim = "2", .program = PROGRAM, .args = {names[i]}});
}

Test(groups, of_different_lists_are_refused)
{
    must_pass_on(PROGRAM, "2", "lists differ");
}

Test(groups, carry_what_libraries_build_on_them)
{
    static const char *const dims[] = {"0", "1", "3"};

    for (size_t d = 0; d < sizeof dims / sizeof *dims; d++)
        must_pass_on("guest/collectives", dims[d], NULL);
}

/* ---- Costs ---- */

static double cost(const struct outcome *o, const char *name)
{
    double us = -1;

    for (const char *line = o->out; line && us < 0; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            sscanf(line + strlen(name), " n=%*d us=%lf", &us);
    cr_assert(us > 0, "no cost of %s in: %s", name, o->out);
    return us;
}

/* A channel carries 1 MB in 9 cycles a byte: 471.9 ms, and 64 KB in 29.5 ms. */
static const struct costs {
    const char *what, *dim, *size;
    double all_reduce_us, long_all_reduce_us;
} costs[] = {
    {"all nodes of a cube", "5", NULL, 5 * 120, 4 * 29491},
    {"half a cube", "4", "8", 3 * 180, 4 * 29491},
    {"no subcube", "4", "12", 4 * 200, 8 * 29491},
};

RowTest(groups, reduce_eight_bytes_and_broadcast_a_megabyte_in_time, costs)
{
    const struct costs *c = &costs[*row];
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = c->dim, .program = "guest/group_costs", .args = {"64", c->size}});

    outcome_expect(&o, c->what, 0, NULL, "");
    cr_expect_leq(cost(&o, "all-reduce"), c->all_reduce_us, "%s: all-reduce in %.1f us", c->what,
                  cost(&o, "all-reduce"));
    /* A tree would carry 64 KB log2 n times to the root, and back; halves carry them twice. */
    cr_expect_leq(cost(&o, "long-all-reduce"), c->long_all_reduce_us, "%s: all-reduce of 64 KB in %.1f us", c->what,
                  cost(&o, "long-all-reduce"));
    if (!c->size)
        cr_expect_leq(cost(&o, "two-partners"), 1.3 * cost(&o, "two-messages"),
                      "an exchange with two partners in %.1f us, two messages in %.1f", cost(&o, "two-partners"),
                      cost(&o, "two-messages"));
    cr_expect_leq(cost(&o, "megabyte"), 471900 / 0.8, "%s: 1 MB in %.1f us", c->what, cost(&o, "megabyte"));
    outcome_free(&o);
}

/* ---- Who is missing ---- */

/* What one of several members leaves undone. */
static const struct end {
    struct guest_end end;
    const char *faults;
} ends[] = {
    {{"2", "one has ended", 125, NULL, "node 2 waits in group_all_reduce of context 5 for node 3\n"}, NULL},
    {{"2", "one does not make", 125, NULL, "waits in group_make for node 1\n"}, NULL},
    {{"1", "nothing comes", 125, NULL, "each waits for a message of any type in context 5 from any node\n"}, NULL},
    {{"2", "member dies", 123, NULL, "node 3 has been dead since 0.200000 s"}, "{ node = 3; from_us = 200000; }"},
    {{"2", "member dies", 125, NULL, "  node 3 was dead from 0.200000 s to 0.400000 s\n"},
     "{ node = 3; from_us = 200000; until_us = 400000; }"},
};

RowTest(groups, name_who_is_missing, ends)
{
    guest_must_end(PROGRAM, &ends[*row].end, NULL, ends[*row].faults);
}
