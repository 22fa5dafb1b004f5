/* What patterns and plans may cost a node, in cycles; docs/mapping.md has what they do cost. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/command.h"

TestSuite(mapping, .timeout = 600);

static const struct {
    const char *what;
    double most;
} limits[] = {
    {"element and place of a byte, powers of two", 250},
    {"run of a plan, items of a row, powers of two", 150},
    {"run of a plan, items of a row, other sizes", 150},
    {"run of a plan, rows of 8 items, powers of two", 150},
    {"run of a plan, rows of 8 items, other sizes", 150},
    {"gathered piece of 8 bytes, items of a row, powers of two", 12},
    {"gathered piece of 8 bytes, items of a row, other sizes", 12},
    {"scattered piece of 8 bytes, items of a row, powers of two", 12},
    {"scattered piece of 8 bytes, items of a row, other sizes", 12},
};

Test(mapping, costs_a_node_no_more_than_it_may)
{
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "0", .program = "guest/mapping"});

    cr_assert_eq(o.status, 0, "%s", o.err);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const char *line = strstr(o.out, limits[i].what);

        cr_assert_not_null(line, "%s", limits[i].what);
        double cycles = strtod(line + strlen(limits[i].what) + strlen(": "), NULL);
        cr_expect(cycles > 0 && cycles <= limits[i].most, "%s: %.1f cycles, at most %.0f", limits[i].what, cycles,
                  limits[i].most);
    }
    outcome_free(&o);
}
