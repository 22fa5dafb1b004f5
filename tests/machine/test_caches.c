/*
 * Drives with a data cache: the same files with every setting, counts in the statistics, the same in every run, and all
 * the memory that a machine file may give them.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(caches, .timeout = 600);

static const char *const settings[] = {
    "cache_kb = 64; write = \"through\"; group = 4;",
    "cache_kb = 256; write = \"groups\"; block = 8192; group = 2; evict = \"fifo\";",
    "cache_kb = 1000; write = \"back\"; look_ahead = 2;",
};

/* One volume, whose drive has these settings. */
static char *cached_machine(const char *folder, const char *name, const char *set, const char *more)
{
    char *path = format("%s/%s", folder, name);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f,
            "dim = 3;\n%s\nboards = ( { number = 3; io_nodes = ( { index = 0; si = [7];\n"
            "    drives = ( { volume = \"df00\"; image = \"df00.img\"; %s } ); } ); } );\n",
            more, set);
    cr_assert_eq(fclose(f), 0);
    return path;
}

static const struct file_case {
    const char *dim, *name;
    int kilobytes, block_bytes;
} file_cases[] = {
    {"0", "reads and writes", 1024, 1024},
    {"0", "reads and writes", 8192, 4096},
    {"0", "truncates and appends", 1024, 1024},
    {"0", "renames and links", 1024, 1024},
    {"0", "a big file", 4096, 2048},
    {"0", "holes", 4096, 4096},
    {"3", "own files", 4096, 1024},
    {"2", "one file", 2048, 1024},
    {"0", "a full volume", 1200, 4096},
};

ParameterizedTestParameters(caches, keep_files)
{
    return TABLE_ROWS(file_cases);
}

ParameterizedTest(size_t *row, caches, keep_files)
{
    const struct file_case *c = &file_cases[*row];

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char *folder = folder_with_images(1, c->kilobytes, c->block_bytes);
        char *machine = cached_machine(folder, "cached.conf", settings[i], "");

        guest_must_pass(&(struct ncube_run){
            .dim = c->dim, .machine = machine, .program = "guest/files", .args = {c->name, "//df00/"}});
        images_check(folder, 1);
        free(machine);
        folder_remove(folder);
    }
}

Test(caches, leave_on_the_drive_what_a_machine_without_them_reads)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        char *folder = folder_with_images(1, 1024, 1024);
        char *cached = cached_machine(folder, "cached.conf", settings[i], "");
        char *plain = cached_machine(folder, "plain.conf", "", "");

        guest_must_pass(
            &(struct ncube_run){.machine = cached, .program = "guest/files", .args = {"leaves open", "//df00/"}});
        images_check(folder, 1);
        guest_must_pass(&(struct ncube_run){
            .machine = plain, .program = "guest/files", .args = {"finds what was left", "//df00/"}});
        free(cached);
        free(plain);
        folder_remove(folder);
    }
}

/* ---- Statistics ---- */

static json_t *run_with_stats(const char *set, const char *sync)
{
    char *folder = folder_with_images(1, 2048, 1024), *machine = cached_machine(folder, "cached.conf", set, "");
    char *json = format("%s/stats", folder), *option = format("--stats=%s", json);
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "2",
                                                     .machine = machine,
                                                     .program = "guest/files",
                                                     .args = {"one file", "//df00/"},
                                                     .options = {option, sync}});
    json_t *stats = json_load_file(json, 0, NULL);

    cr_assert_eq(o.status, 0, "%s", o.err);
    cr_assert_not_null(stats);
    json_object_del(stats, "host");
    images_check(folder, 1);
    outcome_free(&o);
    free(option);
    free(json);
    free(machine);
    folder_remove(folder);
    return stats;
}

static json_t *cache_of(const json_t *stats)
{
    return json_object_get(json_array_get(json_object_get(stats, "drives"), 0), "data_cache");
}

Test(caches, count_their_hits_and_are_the_same_in_every_run)
{
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        json_t *one = run_with_stats(settings[i], NULL), *two = run_with_stats(settings[i], "--sync=strict");

        cr_expect(json_equal(one, two), "%s: statistics differ", settings[i]);
        cr_expect_gt(json_integer_value(json_object_get(cache_of(one), "hits")), 0, "%s: no hits", settings[i]);
        cr_expect_eq(json_array_size(json_object_get(cache_of(one), "write_backs")), 6);
        json_decref(one);
        json_decref(two);
    }
    json_t *plain = run_with_stats("", NULL);
    cr_expect_null(cache_of(plain), "counts of a cache that is not there");
    json_decref(plain);
}

/* ---- Memory ---- */

/* Nodes of 4 MB have room for 1536 KB: for these, and for six buffers of 32 KB. */
Test(caches, may_take_what_a_node_has_room_for_and_no_more)
{
    char *folder = folder_with_images(1, 8192, 4096);
    char *most = cached_machine(folder, "most.conf", "cache_kb = 1344; write = \"back\";", "ram_mb = 4;");
    char *more = cached_machine(folder, "more.conf", "cache_kb = 1345; write = \"back\";", "ram_mb = 4;");
    struct ncube_run r = {.dim = "0", .machine = most, .program = "guest/files", .args = {"a big file", "//df00/"}};

    guest_must_pass(&r);
    images_check(folder, 1);
    r.machine = more;
    struct outcome o = ncube_run(&r);
    outcome_expect(&o, "one KB more", 1, "", "cache_kb = 1345: the data caches of this I/O node take 1537 KB");
    outcome_free(&o);
    free(most);
    free(more);
    folder_remove(folder);
}
