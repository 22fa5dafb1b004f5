/* A process gets on whatever arrives (vertex/message/pace.h): tests/guest/floods.c. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/machine/guest.h"
#include "tests/machine/observe.h"

TestSuite(floods, .timeout = 600);

static const struct flood {
    const char *what, *dim, *bytes, *count;
} floods[] = {
    {"computes", "1", "8", "3000"},   {"computes", "3", "8", "1000"},   {"computes", "3", "100", "1000"},
    {"computes", "3", "1000", "400"}, {"computes", "4", "8", "600"},    {"calls", "1", "8", "3000"},
    {"calls", "3", "8", "1000"},      {"reads", "3", "8", "1000"},      {"reads", "3", "1000", "400"},
    {"shares", "3", "8", "1000"},     {"computes", "3", "2000", "200"},
};

DrawnRowTest(floods, leave_the_process_its_share, floods, 2)
{
    const struct flood *f = &floods[*row];
    struct ncube_run r = {
        .dim = f->dim, .limit = "60", .program = "guest/floods", .args = {f->what, f->bytes, f->count}};

    guest_must_pass(&r);
}

/* Where the channels rest, and how long, is the same in every run. */
Test(floods, come_at_the_same_times)
{
    static const char *const what[] = {"computes", "calls", "reads", "shares"};

    for (size_t i = 0; i < sizeof what / sizeof *what; i++) {
        struct ncube_run r = {.dim = "2", .program = "guest/floods", .args = {what[i], "8", "600"}};

        observe_ahead_and_strict(r, what[i]);
    }
}
