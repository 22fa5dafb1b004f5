/* Machines with dead links, nodes, I/O nodes and drives, and with parity errors. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(broken, .timeout = 600);

#define PROGRAM "guest/broken"
#define VOLUMES 2

static const struct broken_case {
    const char *name, *dim, *program_case, *faults;
    int status;
    const char *err; /* occurs in the standard error; "": nothing does; with a newline at its end: no other line does */
} broken_cases[] = {
    {"noise", "3", "noise", "{ parity = 20; seed = 1; }", 0, ""},
    {"other noise", "3", "noise", "{ parity = 35; seed = 2; }", 0, ""},
    {"one noisy link", "2", "noise", "{ parity = 30; link = [0, 1]; seed = 9; }", 0, ""},
    {"dead link", "3", "dead link", "{ link = [1, 1]; from_us = 200000; until_us = 400000; }", 0, ""},
    {"last message", "1", "last message", "{ link = [0, 0]; from_us = 200000; until_us = 280000; }", 0,
     "did not arrive: 1, the first to node 1, type 5: error 118"},
    {"given up", "1", "given up", "{ parity = 1000; link = [0, 0]; from_us = 200000; }", 0, ""},
    {"owed", "1", "owed", "{ parity = 1000000; link = [0, 0]; from_us = 200000; until_us = 700000; }", 0, ""},
    {"front end's reply that is given up", "0", "front end's reply is given up",
     "{ parity = 1500; link = [0, 13]; from_us = 500000; }", 0, ""},
    {"front end's reply without a way", "2", "front end owes",
     "{ link = [1, 1]; from_us = 200000; until_us = 400000; }", 0, ""},
    {"front end's reply in noise that ends", "2", "front end owes",
     "{ parity = 1000000; link = [1, 1]; from_us = 200000; until_us = 400000; }", 0, ""},
    {"told by destination", "2", "told by destination", "{ link = [0, 0]; from_us = 200000; until_us = 400000; }", 0,
     ""},
    {"reply that is given up", "0", "reply is given up", "{ parity = 1500; link = [7, 13]; from_us = 500000; }", 0, ""},
    {"followed", "2", "followed", "{ link = [1, 1]; from_us = 200000; until_us = 300000; }", 0, ""},
    {"dead node", "2", "dead node", "{ node = 3; from_us = 200000; until_us = 400000; }", 0, ""},
    {"dead node outside", "2", "works", "{ node = 5; }", 0, ""},
    {"dead node inside", "3", "works", "{ node = 5; }", 1, "can't be loaded: node 1 has no working route to node 5\n"},
    {"node that dies while it works", "2", "works for 300 ms", "{ node = 3; from_us = 200000; }", 123,
     "node 3 has been dead since 0.200000 s: the program can neither continue nor end there\n"},
    {"node that is dead when it ends", "2", "works for 300 ms", "{ node = 3; from_us = 200000; until_us = 3000000; }",
     0, ""},
    {"dead SI node of the front end", "2", "works", "{ node = 0; }", 1, "can't be loaded: no path to node 0 works"},
    {"noise from the first byte", "2", "works", "{ parity = 1000000; link = [0, 13]; }", 1,
     "the noisiest channel, from the front end to node 0, has damaged"},
    {"noise in the loading tree", "2", "works", "{ parity = 1000000; link = [0, 1]; }", 1,
     "the noisiest channel, from node 0 to node 2, has damaged"},
    {"noise to the front end", "2", "noise to the front end", "{ parity = 1000000; link = [0, 13]; from_us = 200000; }",
     125, "  the noisiest channel, from node 0 to the front end, has damaged"},
    {"too much noise to load", "2", "works", "{ parity = 1000; link = [0, 13]; }", 1, "no path to node 0 works"},
    {"too much noise to load node 2", "2", "works", "{ parity = 1000; link = [0, 1]; }", 1, "no working route"},
    {"dead I/O node from the start", "0", "missing volume", "{ io_node = [3, 1]; }", 0,
     "volume df01 is missing: I/O node 1 of board 3 does not answer\n"},
    {"I/O node that comes late", "0", "late volume", "{ io_node = [3, 1]; until_us = 500000; }", 0,
     "volume df01 is missing: I/O node 1 of board 3 does not answer\n"},
    {"dead link of an I/O node", "0", "missing volume", "{ link = [6, 13]; }", 0,
     "volume df01 is missing: I/O node 1 of board 3 does not answer\n"},
    {"I/O node that dies", "0", "works for 300 ms", "{ io_node = [3, 1]; from_us = 200000; }", 1,
     "was not shut down: no path to it works"},
    {"I/O node that dies and recovers", "0", "dead I/O node",
     "{ io_node = [3, 0]; from_us = 500000; until_us = 900000; }", 0, ""},
    {"answer that is lost", "0", "answer is lost", "{ io_node = [3, 0]; from_us = 500000; until_us = 700000; }", 0, ""},
    {"dead drive from the start", "0", "missing drive", "{ drive = \"df01\"; }", 0,
     "volume df01 is missing: the drive failed to read the superblock\n"},
    {"drive that dies and recovers", "0", "dead drive", "{ drive = \"df00\"; from_us = 500000; until_us = 900000; }", 0,
     "the drive failed to write"},
};

static struct outcome run_broken(const struct broken_case *b, const char *folder)
{
    char *more = format("faults = ( %s );\n", b->faults), *machine = machine_file(folder, 3, VOLUMES, more);
    struct ncube_run r = {
        .dim = b->dim, .machine = machine, .serve = folder, .program = PROGRAM, .args = {b->program_case}};
    struct outcome o = ncube_run(&r);

    free(machine);
    free(more);
    return o;
}

DrawnRowTest(broken, machines, broken_cases, 2)
{
    const struct broken_case *b = &broken_cases[*row];
    char *folder = folder_with_images(VOLUMES, 1024, 1024);
    struct outcome o = run_broken(b, folder);

    outcome_expect(&o, b->name, b->status, b->status == 0 ? "passed\n" : NULL, b->err);
    if (b->err[0] != '\0' && b->err[strlen(b->err) - 1] == '\n')
        cr_expect_eq(count_lines(o.err), count_lines(b->err), "%s: %s", b->name, o.err);
    outcome_free(&o);
    folder_remove(folder);
}

Test(broken, parallel_files_are_whole_in_spite_of_noise)
{
    char *folder = folder_with_images(VOLUMES, 1024, 1024);
    char *machine = machine_file(folder, 3, VOLUMES, "faults = ( { parity = 15; seed = 4; } );\n");
    struct ncube_run r = {
        .dim = "2", .machine = machine, .program = "guest/pio", .args = {"all nodes, one file", "2", "4096"}};

    guest_must_pass(&r);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

static char *trace_of_noise(const char *folder, const char *machine, const char *name, size_t *bytes)
{
    char *trace = format("%s/%s", folder, name);
    struct ncube_run r = {.dim = "2", .machine = machine, .trace = trace, .program = PROGRAM, .args = {"noise"}};

    guest_must_pass(&r);
    free(trace);
    return file_read(folder, name, bytes);
}

Test(broken, chance_is_the_same_in_every_run)
{
    char *folder = folder_new(), *machine = format("%s/noisy.conf", folder);
    const char text[] = "dim = 2; faults = ( { parity = 40; seed = 3; } );\n";
    size_t a_bytes, b_bytes;

    file_write(folder, "noisy.conf", text, strlen(text));
    char *a = trace_of_noise(folder, machine, "a", &a_bytes), *b = trace_of_noise(folder, machine, "b", &b_bytes);
    cr_expect_not_null(strstr(a, " damage from="), "nothing was damaged");
    cr_expect(a_bytes == b_bytes && memcmp(a, b, a_bytes) == 0, "the traces differ");
    free(a);
    free(b);
    free(machine);
    folder_remove(folder);
}
