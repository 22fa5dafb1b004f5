/*
 * An nsdisk that ends, at any time of its life: a machine is put together from this build's parts
 * and an nsdisk that ends where the test wants it to (tests/nsdisk/ends_on_request.c).
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/command.h"

TestSuite(lost_nsdisk, .timeout = 600);

#define VOLUMES 2

/* A folder with bin/ncube, lib/, the images and a machine file in which volume 0 has that name. */
struct home {
    char *folder, *ncube, *machine, *program;
};

static void link_part(const char *folder, const char *name, const char *part)
{
    char *from = build_path(part), *to = format("%s/%s", folder, name), whole[PATH_MAX];

    cr_assert_not_null(realpath(from, whole), "%s", from);
    cr_assert_eq(symlink(whole, to), 0, "%s", to);
    free(from);
    free(to);
}

static char *write_machine(const char *folder, const char *volume)
{
    char *path = format("%s/machine.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f,
            "dim = 3;\nfront_end = { si = 0; };\nboards = ( { number = 3; io_nodes = (\n"
            "{ index = 0; si = [7]; drives = ( { volume = \"%s\"; image = \"df00.img\"; } ); },\n"
            "{ index = 1; si = [6]; drives = ( { volume = \"df01\"; image = \"df01.img\"; } ); } "
            "); } );\n",
            volume);
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* ncube finds its parts beside itself: it is copied, they are linked. */
static struct home home_new(const char *volume)
{
    struct home h = {.folder = folder_with_images(VOLUMES, 1024, 1024), .program = build_path("guest/lost_nsdisk")};
    char *bin = format("%s/bin", h.folder), *lib = format("%s/lib", h.folder), *from = build_path("bin/ncube");

    h.ncube = format("%s/ncube", bin);
    h.machine = write_machine(h.folder, volume);
    cr_assert(mkdir(bin, 0777) == 0 && mkdir(lib, 0777) == 0);
    command_must_succeed((char *[]){"cp", from, h.ncube, NULL});
    link_part(h.folder, "lib/vertex.elf", "lib/vertex.elf");
    link_part(h.folder, "lib/plugin.so", "lib/plugin.so");
    link_part(h.folder, "lib/nsdisk.elf", "guest/nsdisk_ends.elf");
    free(bin);
    free(lib);
    free(from);
    return h;
}

/* The other volume must be in the state of a clean shutdown. */
static void home_end(struct home *h)
{
    char *image = format("%s/df01.img", h->folder),
         *line = format("dumpe2fs -h %s 2>&1 | grep -q 'state: *clean'", image);

    command_must_succeed((char *[]){"e2fsck", "-fn", image, NULL});
    command_must_succeed((char *[]){"sh", "-c", line, NULL});
    free(image);
    free(line);
    folder_remove(h->folder);
    free(h->ncube);
    free(h->machine);
    free(h->program);
}

static const struct end {
    const char *name, *volume, *program_case, *file, *err;
} ends[] = {
    {"while it serves", "df00", "asks", "//df00/end", "ncube: nsdisk on I/O node 0 of board 3 has ended: status 3\n"},
    {"by a fault", "df00", "asks", "//df00/fault", ": store to an address that is not writable, pc 0x"},
    {"while it mounts", "ends", "asks", "//df01/x", "ncube: nsdisk on I/O node 0 of board 3 has ended: status 4\n"},
    {"while it shuts down", "df00", "names it", "//df00/end-later",
     "ncube: nsdisk on I/O node 0 of board 3 has ended: status 5\n"},
};

RowTest(lost_nsdisk, ends_the_run_with_a_line, ends)
{
    const struct end *e = &ends[*row];
    struct home h = home_new(e->volume);
    struct outcome o = command_run((char *[]){h.ncube, "run", "-d", "2", "-m", h.machine, h.program,
                                              (char *)e->program_case, (char *)e->file, NULL},
                                   "");

    outcome_expect(&o, e->name, 1, NULL, e->err);
    cr_expect(strstr(o.err, "nsdisk on I/O node 0 of board 3 has ended: ") != NULL, "%s: %s", e->name, o.err);
    cr_expect_eq(count_lines(o.err), 1, "%s: %s", e->name, o.err);
    outcome_free(&o);
    home_end(&h);
}

#define TOLD "ncube: nsdisk on I/O node 0 of board 3 has ended, and the program with it\n"

static void expect_told(struct command *c, const char *what, const char *out)
{
    outcome_must_be(command_wait(c), what, 1, out, TOLD);
}

static void expect_end(struct home *h, struct booted *b)
{
    struct outcome down = command_run((char *[]){h->ncube, "down", "--name", b->name, NULL}, "");
    struct outcome end = booted_end(b, END_MS);

    outcome_expect(&down, "down", 1, "", "");
    outcome_expect(&end, "boot", 1, NULL, "ncube: nsdisk on I/O node 0 of board 3 has ended: status 3\n");
    cr_expect_eq(count_lines(end.err), 1, "%s", end.err);
    outcome_free(&down);
    outcome_free(&end);
}

/* All programs end; the machine stays, without that I/O node. */
Test(lost_nsdisk, kills_all_programs_and_the_machine_stays)
{
    const struct streams_of_test in_memory = {-1, -1};
    struct home h = home_new("df00");
    struct booted b;

    snprintf(b.name, sizeof b.name, "lost-nsdisk-%d", (int)getpid());
    b.command = command_start((char *[]){h.ncube, "boot", "--name", b.name, h.machine, NULL}, NULL, 0);
    booted_await(&b);
    struct command other = xnc_start(&b, in_memory, WORDS("-d", "0", h.program, "waits"));
    command_await_lines(&other, 1);
    struct command asks = xnc_start(&b, in_memory, WORDS("-d", "1", h.program, "asks", "//df00/end"));
    expect_told(&asks, "the program that asked", "");
    expect_told(&other, "another program", "waits\n");
    for (int i = 0; i < 2; i++)
        xnc_expect(&b, "", WORDS("-d", "0", h.program, "finds it down"), 0, "passed\n", "");
    expect_end(&h, &b);
    home_end(&h);
}
