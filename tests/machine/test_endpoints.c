/* Endpoints [P1 2.2, 2.4]: getmsg, putmsg, ioctl, and addressing domains. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(endpoints, .timeout = 600);

#define PROGRAM  "guest/endpoints"
#define PROGRAM3 "guest/endpoints3" /* three processes on each node */

static const struct row {
    const char *program, *dim;
} rows[] = {
    {PROGRAM, "0"}, {PROGRAM, "1"}, {PROGRAM, "2"}, {PROGRAM, "3"}, {PROGRAM, "4"}, {PROGRAM3, "0"}, {PROGRAM3, "2"},
};

RowTest(endpoints, work_on_all_cubes, rows)
{
    guest_must_pass(&(struct ncube_run){.dim = rows[*row].dim, .program = rows[*row].program, .args = {"all"}});
}

static const char *const cubes[] = {"0", "1", "3"};

DrawnRowTest(endpoints, redistribute_arrays, cubes, 2)
{
    guest_must_pass(&(struct ncube_run){.dim = cubes[*row], .program = PROGRAM, .args = {"redistribution"}});
}

/* ---- <rk.h> ---- */

static const struct row reactive[] = {
    {"guest/reactive", "0"}, {"guest/reactive", "3"}, {"guest/reactive3", "0"}, {"guest/reactive3", "2"}};

RowTest(endpoints, serve_the_calls_of_the_reactive_kernel, reactive)
{
    guest_must_pass(&(struct ncube_run){.dim = reactive[*row].dim, .program = reactive[*row].program, .args = {"all"}});
}

static const struct abort {
    const char *name, *err;
} aborts[] = {
    {"bad node", "xsend: node 0: to process 0 of node 1: invalid argument\n"},
    {"sent twice",
     "xsend: node 0: the argument is not a message of this process: it comes from neither xmalloc nor xrecv, "
     "or was sent\n"},
};

RowTest(endpoints, abort_with_a_line_when_a_reactive_call_fails, aborts)
{
    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = "0", .program = "guest/reactive", .args = {aborts[*row].name}}),
        aborts[*row].name, 134, NULL, aborts[*row].err);
}

/* ---- Domains ---- */

Test(endpoints, have_one_trace)
{
    guest_must_repeat(&(struct ncube_run){.dim = "2", .program = PROGRAM, .args = {"rows"}});
}

/* The rows are in no order. */
Test(endpoints, of_a_row_print_and_read_once)
{
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "2", .program = PROGRAM, .args = {"global rows"}, .input = "1\n2\n"});

    outcome_expect(&o, "global rows", 0, NULL, "");
    cr_expect(count_lines(o.out) == 3 && strstr(o.out, "row 0\n") && strstr(o.out, "row 1\n"), "%s", o.out);
    outcome_free(&o);
}

static const struct end {
    const char *name, *err;
} ends[] = {
    {"lacking", "  node 0 waits in nsync of context 5 for node 1\n"},
    {"lacking sum", "  node 0 waits in isumn of context 5 for node 1\n"},
    {"lacking print", "  node 0 waits in global write of context 5 for node 1\n"},
};

RowTest(endpoints, name_who_is_missing_in_a_domain, ends)
{
    outcome_must_be(ncube_run(&(struct ncube_run){.dim = "2", .program = PROGRAM, .args = {ends[*row].name}}),
                    ends[*row].name, 125, NULL, ends[*row].err);
}
