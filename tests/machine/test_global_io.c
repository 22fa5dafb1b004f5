/* Global mode [P1 2.5]: each call once for all nodes, on the front end and on a volume; its streams, its failures, and
 * what it saves. */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/machine/guest.h"

TestSuite(global_io, .timeout = 600);

#define PROGRAM  "guest/global_io"
#define PROGRAM3 "guest/global_io3" /* three processes on each node */

static void must_pass(const char *program, const char *dim, const char *machine, const char *folder, const char *name,
                      const char *prefix)
{
    guest_must_pass(&(struct ncube_run){
        .dim = dim, .machine = machine, .serve = folder, .program = program, .args = {name, prefix}});
}

static const char *const dims[] = {"0", "1", "3"};

RowTest(global_io, holds_for_files_of_the_front_end, dims)
{
    char *folder = folder_new();

    must_pass(PROGRAM, dims[*row], NULL, folder, "all", "/");
    must_pass(PROGRAM, dims[*row], NULL, folder, "mapped", "/");
    if (dims[*row][0] < '2') /* processes that share a node are slow to run */
        must_pass(PROGRAM3, dims[*row], NULL, folder, "all", "/");
    folder_remove(folder);
}

static const struct volume_row {
    const char *dim, *more;
} volume_rows[] = {{"0", ""}, {"2", ""}, {"3", ""}, {"2", "faults = ( { parity = 2; seed = 7; } );"}};

/* With faults there is no broadcast in the network. */
RowTest(global_io, holds_for_files_of_volumes, volume_rows)
{
    const struct volume_row *r = &volume_rows[*row];
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 3, 1, r->more);

    must_pass(PROGRAM, r->dim, machine, folder, "all", "//df00/");
    must_pass(PROGRAM, r->dim, machine, folder, "mapped", "//df00/");
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}

/* ---- Streams ---- */

static const char input[] = "first\n7 8\n10 20\nlast but one\nlast\n";

/* What nodes print in local mode without a line's end comes at their own end. */
RowTest(global_io, prints_and_reads_once, dims)
{
    const char *const rest = dims[*row][0] == '0'   ? ""
                             : dims[*row][0] == '1' ? "[local]"
                                                    : "[local][local][local][local][local][local][local]";
    const char *const errors = dims[*row][0] == '0' ? "e" : dims[*row][0] == '1' ? "ee" : "eeeeeeee";
    char *out = format("[local]size? has 10 and 20\nno line's end\npassed\n%s", rest);

    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = dims[*row], .program = PROGRAM, .args = {"streams", "/"}, .input = input}),
        dims[*row], 0, out, errors);
    free(out);
}

Test(global_io, follows_copies_of_streams)
{
    char *folder = folder_new();

    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = "2", .serve = folder, .program = PROGRAM, .args = {"redirected", "/"}}),
        "redirected", 0, "once\npassed\n", "");
    folder_remove(folder);
}

Test(global_io, has_one_trace)
{
    char *folder = folder_new();

    guest_must_repeat(&(struct ncube_run){.dim = "2", .serve = folder, .program = PROGRAM, .args = {"stdio", "/"}});
    folder_remove(folder);
}

/* ---- Who is missing ---- */

static const struct end {
    const char *name, *err;
} ends[] = {
    {"lacking", "  node 0 waits in global read for node 2\n  node 1 waits in global read for node 0\n"
                "  node 2 waits in global read for node 3\n  node 3 has ended with status 0\n"},
    {"other call", "  node 0 waits in global lseek for node 1\n  node 1 waits in global write for node 0\n"
                   "  nodes 2-3: each waits in global lseek for node 0\n"},
};

RowTest(global_io, names_call_and_node_that_is_missing, ends)
{
    char *folder = folder_new();

    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = "2", .serve = folder, .program = PROGRAM, .args = {ends[*row].name, "/"}}),
        ends[*row].name, 125, NULL, ends[*row].err);
    folder_remove(folder);
}

/* ---- What it saves: 2 MB of df00 ---- */

struct cost {
    double us;
    long reads, bytes_read; /* of the drive, with the file's metadata */
};

static void take_reads(const char *folder, struct cost *cost)
{
    size_t bytes;
    char *text = file_read(folder, "stats.json", &bytes);
    json_t *root = json_loadb(text, bytes, 0, NULL), *drive = json_array_get(json_object_get(root, "drives"), 0);

    cr_assert_not_null(drive);
    cost->reads = (long)json_integer_value(json_object_get(drive, "reads"));
    cost->bytes_read = (long)json_integer_value(json_object_get(drive, "bytes_read"));
    json_decref(root);
    free(text);
}

static struct cost cost_of(const char *folder, const char *machine, const char *dim, const char *mode)
{
    char *stats = format("%s/stats.json", folder);
    struct cost cost = {0};
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = dim, .machine = machine, .stats = stats, .program = "guest/global_costs", .args = {mode}});

    outcome_expect(&o, mode, 0, NULL, "");
    if (sscanf(o.out, "2 MB in %lf us", &cost.us) == 1)
        take_reads(folder, &cost);
    outcome_free(&o);
    free(stats);
    return cost;
}

Test(global_io, reads_the_disk_once_as_fast_as_one_node)
{
    char *folder = folder_with_images(1, 8192, 4096), *machine = machine_file(folder, 5, 1, "ram_mb = 16;");

    cost_of(folder, machine, "0", "write");
    struct cost one = cost_of(folder, machine, "0", "local"), all = cost_of(folder, machine, "5", "global");
    struct cost each = cost_of(folder, machine, "2", "local");
    cr_expect_geq(each.bytes_read, 4 * (2 << 20), "local: %ld bytes", each.bytes_read);
    cr_expect_leq(each.bytes_read - 4 * all.bytes_read, 0, "local %ld, global %ld bytes", each.bytes_read,
                  all.bytes_read);
    cr_expect_eq(all.reads, one.reads, "32 nodes: %ld reads, one: %ld", all.reads, one.reads);
    cr_expect_leq(all.us, 1.10 * one.us, "32 nodes: %.0f us, one: %.0f us", all.us, one.us);
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}
