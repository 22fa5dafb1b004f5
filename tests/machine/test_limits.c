/* Limits of the host: shared resources stay within them, and a machine that does not fit is
 * refused before anything is started. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/guest.h"

TestSuite(limits, .timeout = 600);

/* Runs ncube with the rest of its command line under limits that a shell sets. */
static struct outcome run_line(const char *limits, const char *rest)
{
    char *line = format("%s; exec %s %s", limits, build_path("bin/ncube"), rest);
    struct outcome o = command_run((char *[]){"/bin/sh", "-c", line, NULL}, NULL);

    free(line);
    return o;
}

/* ---- Shared resources ---- */

static const struct crowd {
    const char *name, *options;
} crowds[] = {
    {"all open one file", "-d 7"},
    {"loads in a row", "-d 1 --status node0"},
};

RowTest(limits, of_descriptors_are_not_reached_by, crowds)
{
    const struct crowd *c = &crowds[*row];
    char *folder = folder_with_programs("guest/crowd"), *program = build_path("guest/crowd");
    const char *file = *row == 0 ? "file" : "crowd";

    file_write(folder, "file", "x", 1);
    char *rest = format("run %s --serve %s %s '%s' %s", c->options, folder, program, c->name, file);

    outcome_must_be(run_line("ulimit -n 64", rest), c->name, 0, "passed\n", "");
    free(rest);
    free(program);
    folder_remove(folder);
}

/* ---- Machines that do not fit ---- */

static const struct narrow {
    const char *name, *limits, *machine, *words[4]; /* %s: none, the run succeeds */
} narrows[] = {
    {"descriptors", "ulimit -n 24", "dim = 0;", {"open files", "have 24", "ulimit -Hn"}},
    {"a soft limit of descriptors", "ulimit -Sn 24", "dim = 3; nodes_per_cabinet = 1;", {NULL}},
    {"a soft limit of the streams alone", "ulimit -Sn 4", "dim = 0;", {NULL}},
    {"descriptors of many cabinets",
     "ulimit -n 90",
     "dim = 6; nodes_per_cabinet = 1;",
     {"open files", "have 90", "cabinet"}},
    {"addresses", "ulimit -v 1000000", "dim = 6; ram_mb = 64;", {"MB of address space", "have 976", "ulimit -v"}},
    {"addresses, for ncube alone", "ulimit -v 500000", "dim = 0;", {"MB of address space", "have 488", "ulimit -v"}},
    {"the size of files", "ulimit -f 100000", "dim = 4;", {"MB in one file", "have 48", "ulimit -f"}},
};

RowTest(limits, that_stop_a_machine_are_named_in_one_line, narrows)
{
    const struct narrow *n = &narrows[*row];
    char *folder = folder_new();

    file_write(folder, "machine.conf", n->machine, strlen(n->machine));
    char *rest = format("run -m %s/machine.conf --serve %s %s", folder, folder, build_path("examples/hello"));
    struct outcome o = run_line(n->limits, rest);
    cr_expect_eq(o.status, n->words[0] ? 1 : 0, "%s: status %d: %s", n->name, o.status, o.err);
    cr_expect_eq(count_lines(o.err), n->words[0] ? 1 : 0, "%s: %s", n->name, o.err);
    for (int i = 0; n->words[i]; i++)
        cr_expect_not_null(strstr(o.err, n->words[i]), "%s: no '%s' in: %s", n->name, n->words[i], o.err);
    outcome_free(&o);
    free(rest);
    folder_remove(folder);
}

/* ---- The limit of addresses, at its border ---- */

/* What a machine says that it needs is enough, and a megabyte less is refused. */
static void expect_border(const char *machine)
{
    char *folder = folder_new();

    file_write(folder, "m.conf", machine, strlen(machine));
    char *rest = format("run -m %s/m.conf %s", folder, build_path("examples/hello"));
    struct outcome o = run_line("ulimit -v 200000", rest);
    unsigned mb = 0;

    cr_assert(sscanf(o.err, "ncube: this machine needs %u MB", &mb) == 1, "%s: %s", machine, o.err);
    outcome_free(&o);
    for (unsigned less = 0; less < 2; less++) {
        char *limit = format("ulimit -v %u", (mb - less) << 10);

        o = run_line(limit, rest);
        outcome_expect(&o, limit, less, NULL, less ? "MB of address space" : "");
        outcome_free(&o);
        free(limit);
    }
    free(rest);
    folder_remove(folder);
}

Test(limits, of_addresses_that_suffice_are_those_that_are_told)
{
    expect_border("dim = 0;");
    expect_border("dim = 3;");
    expect_border("dim = 6; ram_mb = 4;");
    expect_border("dim = 4; nodes_per_cabinet = 3;");
}
