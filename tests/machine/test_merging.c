/*
 * Writes of several nodes to one file of a volume, which nsdisk carries out as one [P1 2.6, Figure 9]: against a token
 * that goes round, in virtual time and in commands of the drive; the same in every run.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(merging, .timeout = 600);

#define BYTES "2097152"

struct measured {
    long us;
    long writes; /* commands of the drive */
    char *file;
    size_t bytes;
};

static long drive_writes(const char *path)
{
    json_t *stats = json_load_file(path, 0, NULL);

    cr_assert_not_null(stats);
    long n = json_integer_value(json_object_get(json_array_get(json_object_get(stats, "drives"), 0), "writes"));
    json_decref(stats);
    return n;
}

static char *take_out(const char *folder, size_t *bytes)
{
    char *image = format("%s/df00.img", folder), *dump = format("dump /f %s/f", folder);

    command_must_succeed((char *[]){"debugfs", "-R", dump, image, NULL});
    free(image);
    free(dump);
    return file_read(folder, "f", bytes);
}

static struct measured measure(const char *dim, const char *way, const char *nodes, const char *service)
{
    struct measured m;
    char *folder = folder_with_images(1, 4096, 1024), *machine = machine_file_one_node(folder, 4, 1, service, "");
    char *stats = format("%s/stats", folder), *option = format("--stats=%s", stats);
    struct outcome o = ncube_run(&(struct ncube_run){.dim = dim,
                                                     .machine = machine,
                                                     .program = "guest/token",
                                                     .args = {way, "//df00/f", nodes, BYTES},
                                                     .options = {option}});

    cr_assert_eq(o.status, 0, "%s: %s%s", way, o.out, o.err);
    m.us = strtol(o.out, NULL, 10);
    m.writes = drive_writes(stats);
    images_check(folder, 1);
    m.file = take_out(folder, &m.bytes);
    outcome_free(&o);
    free(option);
    free(stats);
    free(machine);
    folder_remove(folder);
    return m;
}

static const struct row {
    const char *dim, *nodes, *service;
} rows[] = {
    {"2", "3", ""}, {"2", "4", ""}, {"3", "8", ""}, {"4", "16", ""}, {"2", "4", "service = \"concurrent\";"},
};

RowTest(merging, makes_mapped_writes_faster_than_a_token, rows)
{
    const struct row *r = &rows[*row];
    struct measured token = measure(r->dim, "token", r->nodes, r->service);
    struct measured mapped = measure(r->dim, "mapped", r->nodes, r->service);

    cr_expect_geq(token.us, 5 * mapped.us, "%s nodes: %ld us by token, %ld us mapped", r->nodes, token.us, mapped.us);
    cr_expect_geq(token.writes, 8 * mapped.writes, "%s nodes: %ld writes by token, %ld mapped", r->nodes, token.writes,
                  mapped.writes);
    cr_assert_eq(token.bytes, strtoul(BYTES, NULL, 10));
    cr_assert_eq(token.bytes, mapped.bytes);
    cr_expect_eq(memcmp(token.file, mapped.file, token.bytes), 0, "%s nodes: the files differ", r->nodes);
    free(token.file);
    free(mapped.file);
}

/* Plain writes, each of which waits for the one before it. */
Test(merging, takes_plain_writes_of_sixteen_nodes_together)
{
    struct measured m = measure("4", "positioned", "16", "");

    cr_expect_leq(m.writes, 2048 / 6, "%ld writes of the drive for 2048 of the nodes", m.writes);
    free(m.file);
}

Test(merging, repeats_every_event)
{
    static const char *const ways[] = {"mapped", "positioned"};

    for (int way = 0; way < 2; way++)
        ncube_must_repeat_on_volumes(
            (struct ncube_run){.dim = "3", .program = "guest/token", .args = {ways[way], "//df00/f", "8", "131072"}},
            1);
}
