/* Programs that load programs: tests/guest/rexec.c, which loads itself. */
#include <criterion/criterion.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(rexec, .timeout = 600);

#define PROGRAM "guest/rexec"

static const struct guest_end ends[] = {
    {"1", "loads others", 0, "passed\n", ""},
    {"2", "loads others", 0, "passed\n", ""},
    {"4", "loads others", 0, "passed\n", ""},
    {"2", "one by one, again and again", 0, "passed\n", ""},
    {"2", "statuses", 13, "passed\n", ""},
    {"2", "arguments", 95, "passed\n", ""},
    {"0", "takes its place", 0, "passed\n", ""},
    {"3", "takes its place", 0, "passed\n", ""},
    {"1", "is refused in its place", 0, "passed\n", ""},
    {"2", "errors", 0, "passed\n", ""},
    {"2", "two want one", 0, "passed\n", ""},
    {"2", "a fault", 1, "", "in child_faults (rexec.c:"},
};

RowTest(rexec, goes_as_it_should, ends)
{
    char *folder = folder_with_programs(PROGRAM);

    guest_must_end(PROGRAM, &ends[*row], folder, NULL);
    folder_remove(folder);
}

Test(rexec, loads_from_a_volume)
{
    char *images = folder_with_images(1, 2048, 1024), *machine = machine_file(images, 2, 1, "");
    char *folder = folder_with_programs(PROGRAM);

    guest_must_pass(&(struct ncube_run){.machine = machine,
                                        .dim = "2",
                                        .serve = folder,
                                        .program = PROGRAM,
                                        .args = {"from a volume", "//df00/rexec"}});
    images_check(images, 1);
    folder_remove(folder);
    free(machine);
    folder_remove(images);
}

Test(rexec, makes_a_farm_of_workers)
{
    char *folder = build_path("examples");

    outcome_must_be(ncube_run(&(struct ncube_run){
                        .dim = "3", .serve = folder, .program = "examples/manager", .args = {"worker", "20"}}),
                    "manager", 0, "sum 2490\n", "");
    free(folder);
}

Test(rexec, is_repeatable)
{
    char *folder = folder_with_programs(PROGRAM);

    guest_must_repeat(&(struct ncube_run){.dim = "2", .serve = folder, .program = PROGRAM, .args = {"loads others"}});
    folder_remove(folder);
}

/* Whatever the result of the load, the subcube is free, and nothing is left of it (Vertex panics if a page is). */
Test(rexec, gives_its_nodes_back_when_its_user_goes_away)
{
    char *folder = folder_with_programs(PROGRAM);
    struct booted b = booted_up(WORDS("-d", "2"));

    for (int i = 0; i < 8; i++) {
        struct command c =
            xnc_start(&b, (struct streams_of_test){-1, -1}, WORDS("-d2", "--serve", folder, PROGRAM, "for ever"));

        poll(NULL, 0, 150 + 17 * i);
        kill(c.pid, i % 2 ? SIGKILL : SIGTERM);
        struct outcome o = command_wait(&c);
        outcome_free(&o);
        xnc_expect(&b, "", WORDS("--wait", "-d2", "guest/neighbours", "answers"), 0, "passed\n", "");
    }
    booted_down(&b);
    folder_remove(folder);
}
