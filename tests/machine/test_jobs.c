/* How ncube run makes one job of nodes: several programs, exit statuses, lines of output, reports of faults. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(jobs, .timeout = 600);

#define WHO "guest/neighbours", "says who"

static const struct job {
    const char *name, *dim, *options[3], *program, *args[10];
    int status;
    const char *out; /* lines in any order; NULL: any */
    const char *err;
} jobs[] = {
    {"two programs get halves",
     "2",
     {NULL},
     "guest/neighbours",
     {"says who", "a", ":", WHO, "b"},
     0,
     "a 0 of 4\na 1 of 4\nb 2 of 4\nb 3 of 4\npassed\n",
     ""},
    {"three get the rest evenly",
     "2",
     {NULL},
     "guest/neighbours",
     {"says who", "a", ":", WHO, "b", ":", WHO, "c"},
     0,
     "a 0 of 4\na 1 of 4\nb 2 of 4\nc 3 of 4\npassed\n",
     ""},
    {"one node and the others",
     "3",
     {"-n", "1"},
     "guest/neighbours",
     {"says who", "a", ":", WHO, "b"},
     0,
     "a 0 of 8\nb 1 of 8\nb 2 of 8\nb 3 of 8\nb 4 of 8\nb 5 of 8\nb 6 of 8\nb 7 of 8\npassed\n",
     ""},
    {"the others and one",
     "2",
     {NULL},
     "guest/neighbours",
     {"says who", "a", ":", "-n1", WHO, "b"},
     0,
     "a 0 of 4\na 1 of 4\na 2 of 4\nb 3 of 4\npassed\n",
     ""},
    {"who serves is not waited for",
     "1",
     {"-n", "1"},
     "examples/hello",
     {":", "guest/answers_serving"},
     0,
     "hello from node 0 of 2\n",
     ""},
    {"the status is the others'", "1", {"-n", "1"}, "guest/answers_serving", {":", "guest/status", "6"}, 7, "", ""},
    {"programs talk to each other",
     "4",
     {"-n", "5"},
     "guest/neighbours",
     {"answers", ":", "guest/neighbours", "answers"},
     0,
     "passed\n",
     ""},
    {"more programs than nodes", "0", {NULL}, "examples/hello", {":", "examples/hello"}, 1, "", "give a larger -d"},
    {"one node of two", "1", {"-n", "1"}, "examples/hello", {NULL}, 0, "hello from node 0 of 1\n", ""},
    {"one node of four talks to itself", "2", {"-n", "1"}, "guest/neighbours", {"answers"}, 0, "passed\n", ""},
    {"five nodes of 32",
     "5",
     {"-n", "2"},
     "guest/neighbours",
     {"answers", ":", "-n", "3", "guest/neighbours", "answers"},
     0,
     "passed\n",
     ""},
    {"no second program", "1", {NULL}, "examples/hello", {":"}, 2, "", "no program given between ':'"},
    {"a load that fails names its program", "1", {NULL}, "examples/hello", {":", "./none"}, 1, "", "./none"},

    {"the highest status", "2", {NULL}, "guest/neighbours", {"ends backwards"}, 6, "", ""},
    {"the same when asked for", "2", {"--status=highest"}, "guest/neighbours", {"ends backwards"}, 6, "", ""},
    {"the first node's", "2", {"--status=first"}, "guest/neighbours", {"ends backwards"}, 6, "", ""},
    {"node 0's", "2", {"--status=node0"}, "guest/neighbours", {"ends backwards"}, 3, "", ""},
    {"a rule that there is not",
     "2",
     {"--status=last"},
     "guest/neighbours",
     {"ends backwards"},
     2,
     "",
     "give highest, first or node0"},

    {"a heap as the user says", "0", {"--heap=16K"}, "guest/ends", {"memory ends"}, 1, "", "only 0 blocks of 128 KB"},
    {"a heap that suffices",
     "0",
     {"--heap=4M", "--stack=64K", "--comm=1M"},
     "guest/library",
     {"argument"},
     0,
     NULL,
     ""},
    {"a stack that no node has",
     "0",
     {"--stack=32M"},
     "examples/hello",
     {NULL},
     1,
     "",
     "a stack of 32768 KB does not fit"},
    {"a size that is none", "0", {"--comm=1G"}, "examples/hello", {NULL}, 2, "", "give a size up to 64M"},
    {"no size at all", "0", {"--heap=0"}, "examples/hello", {NULL}, 2, "", "give a size"},

    {"lines with labels",
     "1",
     {"--label"},
     "examples/hello",
     {NULL},
     0,
     "node 0: hello from node 0 of 2\nnode 1: hello from node 1 of 2\n",
     ""},
    {"registers after a fault", "1", {"--registers"}, "guest/faults", {"null store", "1"}, 1, NULL, "\n  pc   0x"},
    {"a fault's function and line",
     "0",
     {NULL},
     "guest/faults",
     {"stack overflow", "0"},
     1,
     NULL,
     ", in overflow_stack (faults.c:"},
    {"a wild jump's caller", "0", {NULL}, "guest/faults", {"null jump", "0"}, 1, NULL, ", called from main (faults.c:"},
};

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The text's lines, sorted. */
static char *sort_lines(const char *text)
{
    char *copy = strdup(text), *line[64], *sorted = calloc(1, strlen(text) + 2);
    size_t n = 0;

    for (char *at = strtok(copy, "\n"); at != NULL && n < 64; at = strtok(NULL, "\n"))
        line[n++] = at;
    qsort(line, n, sizeof *line, compare_lines);
    for (size_t i = 0; i < n; i++)
        strcat(strcat(sorted, line[i]), "\n");
    free(copy);
    return sorted;
}

RowTest(jobs, end_as_expected, jobs)
{
    const struct job *j = &jobs[*row];
    struct ncube_run r = {.dim = j->dim, .program = j->program};

    memcpy(r.options, j->options, sizeof j->options);
    memcpy(r.args, j->args, sizeof j->args);
    struct outcome o = ncube_run(&r);
    char *sorted = sort_lines(o.out);
    outcome_expect(&o, j->name, j->status, NULL, j->err);
    if (j->out != NULL)
        cr_expect_str_eq(sorted, j->out, "%s: it printed: %s", j->name, o.out);
    free(sorted);
    outcome_free(&o);
}

/* Nodes write their lines in two pieces each; none is broken by another's. */
Test(jobs, lines_in_pieces_stay_whole)
{
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "3", .program = "guest/neighbours", .args = {"breaks its lines"}});

    lines_must_be_whole(&o, 8, 20);
    outcome_free(&o);
}

Test(jobs, of_several_programs_are_repeatable)
{
    guest_must_repeat(&(struct ncube_run){.dim = "3",
                                          .options = {"-n", "3"},
                                          .program = "guest/neighbours",
                                          .args = {"answers", ":", "guest/neighbours", "answers"}});
}
