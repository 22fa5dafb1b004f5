/*
 * Nothing that a program can read depends on QEMU's own clocks, on the host, or on an earlier program of the node. For
 * a kernel, such sources are closed one level deeper; docs/exactness.md lists every source.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/observe.h"

TestSuite(clocks, .timeout = 300);

Test(clocks, are_in_no_register_that_a_program_can_reach)
{
    struct outcome o = ncube_run(&(struct ncube_run){.program = "guest/clocks", .args = {"registers"}});

    outcome_expect(&o, "registers", 0, "read: 001 002 003\nwritten: 001 002 003\npassed\n", ""); /* fflags, frm, fcsr */
    outcome_free(&o);
}

/* ---- Whatever a program can ask has the same answer in every run ---- */

static struct observed ask(const char *images, const struct ncube_run *how, disturb_fn disturb)
{
    char *folder = folder_new(), *machine = machine_file(folder, 2, 1, "nodes_per_cabinet = 2;");
    char *image = format("%s/df00.img", images);
    struct ncube_run r = {.dim = "2", .machine = machine, .program = "guest/clocks", .args = {"all", "//df00/new"}};

    memcpy(r.options, how->options, sizeof r.options);
    command_must_succeed((char *[]){"cp", image, folder, NULL});
    struct observed seen = observe(r, disturb);
    free(image);
    free(machine);
    folder_remove(folder);
    return seen;
}

Test(clocks, tell_the_same_in_every_run)
{
    char *images = folder_with_images(1, 512, 1024);
    struct observed plain = ask(images, &(struct ncube_run){0}, NULL);
    struct observed loaded = ask(images, &(struct ncube_run){.options = {"--cores", "1"}}, disturb_by_load);
    struct observed strict = ask(images, &(struct ncube_run){.options = {"--sync=strict"}}, disturb_by_stops);

    cr_expect_gt(count_lines(plain.out), 30, "%s", plain.out);
    observed_expect_same(&plain, &loaded, "under load");
    observed_expect_same(&plain, &strict, "strict, with stops");
    observed_free(&plain);
    observed_free(&loaded);
    observed_free(&strict);
    folder_remove(images);
}

/* ---- Data that other programs left ---- */

Test(clocks, registers_and_memory_hold_nothing_of_the_program_before)
{
    struct booted b = booted_up(WORDS("-d", "1"));

    for (int i = 0; i < 2; i++) {
        xnc_expect(&b, "", WORDS("-d", "1", "guest/clocks", "leave"), 0, "passed\n", "");
        xnc_expect(&b, "", WORDS("-d", "1", "guest/clocks", "find"), 0, "passed\n", "");
    }
    booted_down(&b);
}
