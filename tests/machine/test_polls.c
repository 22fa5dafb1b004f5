/* poll and select: tests/guest/polls.c. */
#include <criterion/criterion.h>

#include "tests/machine/booted.h"

TestSuite(polls, .timeout = 60);

static const struct polling {
    const char *dim, *name;
    int status;
    const char *out, *err;
} pollings[] = {
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

ParameterizedTestParameters(polls, tell_what_is_ready)
{
    return TABLE_ROWS(pollings);
}

ParameterizedTest(size_t *row, polls, tell_what_is_ready)
{
    const struct polling *p = &pollings[*row];
    struct outcome o = ncube_run(&(struct ncube_run){.dim = p->dim, .program = "guest/polls", .args = {p->name}});

    outcome_expect(&o, p->name, p->status, p->out, p->err);
    outcome_free(&o);
}
