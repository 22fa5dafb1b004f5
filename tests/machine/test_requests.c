/* Requests of programs to servers (tests/guest/requests.c), whose nsdisks have a family for tests (echo_family.h). */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(requests, .timeout = 600);

#define VOLUMES    4
#define CONCURRENT "service = \"concurrent\";"

static const struct row {
    const char *name, *dim, *more;
} rows[] = {
    {"limits", "0", ""},
    {"any order", "2", ""},
    {"held", "3", ""},
    {"held long", "2", "server_limit_s = 1;"},
    {"held, dead", "0",
     "server_limit_s = 1;\n"
     "faults = ( { io_node = [3, 1]; from_us = 4000000; }, { io_node = [3, 2]; from_us = 4000000; } );"},
    {"end", "1", ""},
    {"end", "1", "timing = \"wang-leiss\";"},
    {"answers", "0", ""},
    {"heads", "2", ""},
    {"reads", "2", ""},
    {"costs", "1", ""},
    {"costs", "1", "timing = \"wang-leiss\";"},
    {"dead", "0",
     "server_limit_s = 1;\n"
     "faults = ( { io_node = [3, 1]; from_us = 2000000; }, { io_node = [3, 2]; from_us = 2000000; } );"},
};

/* A machine with an I/O node for each volume, all with this service. */
static char *machine_of(const char *folder, const char *service, const char *more)
{
    char *path = format("%s/machine.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f, "dim = 3;\nfront_end = { si = 0; };\n%s\nboards = ( { number = 3; io_nodes = (\n", more);
    for (int i = 0; i < VOLUMES; i++)
        fprintf(f, "{ index = %d; %s si = [%d]; drives = ( { volume = \"df%02d\"; image = \"df%02d.img\"; } ); }%s\n",
                i, service, 7 - i, i, i, i < VOLUMES - 1 ? "," : " ); } );");
    cr_assert_eq(fclose(f), 0);
    return path;
}

static struct outcome run(const struct row *r, const char *ncube, const char *service, const char *folder)
{
    char *machine = machine_of(folder, service, r->more);
    struct outcome o = ncube_run(&(struct ncube_run){
        .ncube = ncube, .dim = r->dim, .machine = machine, .program = "guest/requests", .args = {r->name}});

    free(machine);
    return o;
}

RowTest(requests, are_answered, rows)
{
    const struct row *r = &rows[*row];
    char *folder = folder_with_images(VOLUMES, 1024, 1024);
    struct outcome o = run(r, "echo/bin/ncube", CONCURRENT, folder);

    cr_expect(strstr(o.out, "passed\n"), "%s: %s%s", r->name, o.out, o.err);
    outcome_free(&o);
    if (!strstr(r->more, "faults"))
        images_check(folder, VOLUMES);
    folder_remove(folder);
}

Test(requests, of_no_family_are_refused)
{
    static const struct row r = {"no family", "0", ""};
    static const struct {
        const char *ncube, *service;
    } ways[] = {{NULL, ""}, {NULL, CONCURRENT}, {"echo/bin/ncube", ""}};

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *folder = folder_with_images(VOLUMES, 1024, 1024);

        outcome_must_be(run(&r, ways[i].ncube, ways[i].service, folder), ways[i].service, 0, "passed\n", "");
        folder_remove(folder);
    }
}

Test(requests, that_nobody_answers_are_a_deadlock)
{
    static const struct row r = {"held on", "0", "server_limit_s = 1;"};
    char *folder = folder_with_images(VOLUMES, 1024, 1024);
    struct outcome o = run(&r, "echo/bin/ncube", CONCURRENT, folder);

    cr_expect_neq(o.status, 0);
    cr_expect(strstr(o.err, "deadlock at 6"), "%s", o.err);
    cr_expect(strstr(o.err, "waits for a reply") || strstr(o.err, "file server"), "%s", o.err);
    outcome_free(&o);
    folder_remove(folder);
}

Test(requests, end_with_their_server)
{
    static const struct row r = {"ends it", "0", ""};
    char *folder = folder_with_images(VOLUMES, 1024, 1024);
    struct outcome o = run(&r, "echo/bin/ncube", CONCURRENT, folder);

    cr_expect_neq(o.status, 0);
    cr_expect(strstr(o.err, "ncube: nsdisk on I/O node 0 of board 3 has ended: status 3\n"), "%s", o.err);
    outcome_free(&o);
    folder_remove(folder);
}
