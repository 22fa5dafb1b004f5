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
    "cache_kb = 64; write = \"groups\"; group = 2; evict = \"used-first\"; commands = 16; fill = \"later\";",
    "cache_kb = 128; write = \"back\"; group = 4; commands = 64; fill = \"later\"; misses = \"aside\";",
};

/* One volume, whose drive has these settings. */
static char *served_machine(const char *folder, const char *name, const char *service, const char *set,
                            const char *more)
{
    char *path = format("%s/%s", folder, name);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f,
            "dim = 3;\n%s\nboards = ( { number = 3; io_nodes = ( { index = 0; si = [7]; service = \"%s\";\n"
            "    drives = ( { volume = \"df00\"; image = \"df00.img\"; %s } ); } ); } );\n",
            more, service, set);
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* In concurrent service where the settings need it. */
static char *cached_machine(const char *folder, const char *name, const char *set, const char *more)
{
    return served_machine(folder, name, strstr(set, "aside") ? "concurrent" : "in-order", set, more);
}

#define SETTINGS_OF_A_CASE 3

static const struct file_case {
    const char *dim, *name;
    int kilobytes, block_bytes;
} file_cases[] = {
    /* each with SETTINGS_OF_A_CASE of the settings in turn, of which one is drawn */
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

RowTest(caches, keep_files, file_cases)
{
    const struct file_case *c = &file_cases[*row];

    for (size_t i = 0; i < SETTINGS_OF_A_CASE; i++) {
        if (!is_drawn(i, SETTINGS_OF_A_CASE))
            continue;
        char *folder = folder_with_images(1, c->kilobytes, c->block_bytes);
        char *machine =
            cached_machine(folder, "cached.conf", settings[(*row + i) % (sizeof settings / sizeof *settings)], "");

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

/* Its end: of the program, or the limit of virtual time, with nothing of the machine waited for. */
static json_t *run_with_stats(const char *set, const char *sync, const char *limit)
{
    char *folder = folder_with_images(1, 2048, 1024), *machine = cached_machine(folder, "cached.conf", set, "");
    char *json = format("%s/stats", folder), *option = format("--stats=%s", json);
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "2",
                                                     .machine = machine,
                                                     .program = "guest/files",
                                                     .args = {"one file", "//df00/"},
                                                     .limit = limit,
                                                     .options = {option, sync}});
    json_t *stats = json_load_file(json, 0, NULL);

    cr_assert_eq(o.status != 0, limit != NULL, "%s", o.err);
    cr_assert_not_null(stats);
    json_object_del(stats, "host");
    if (!limit)
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
        json_t *one = run_with_stats(settings[i], NULL, NULL),
               *two = run_with_stats(settings[i], "--sync=strict", NULL);

        cr_expect(json_equal(one, two), "%s: statistics differ", settings[i]);
        cr_expect_gt(json_integer_value(json_object_get(cache_of(one), "hits")), 0, "%s: no hits", settings[i]);
        cr_expect_eq(json_array_size(json_object_get(cache_of(one), "write_backs")), 6);
        json_decref(one);
        json_decref(two);
    }
    json_t *plain = run_with_stats("", NULL, NULL);
    cr_expect_null(cache_of(plain), "counts of a cache that is not there");
    json_decref(plain);
}

static int64_t requests_of(const json_t *stats)
{
    return json_integer_value(json_object_get(cache_of(stats), "requests"));
}

Test(caches, counts_of_a_run_that_is_cut_off_are_those_of_that_time)
{
    static const char *const limits[] = {"0.5", "0.6"};
    int64_t before = 0;

    for (size_t i = 0; i < 2; i++) {
        json_t *one = run_with_stats(settings[4], NULL, limits[i]);
        json_t *two = run_with_stats(settings[4], "--sync=strict", limits[i]);

        cr_expect(json_equal(one, two), "%s: statistics differ: %lld and %lld requests", limits[i],
                  (long long)requests_of(one), (long long)requests_of(two));
        cr_expect_gt(requests_of(one), before, "%s", limits[i]);
        before = requests_of(one);
        json_decref(one);
        json_decref(two);
    }
}

/* ---- Hits beside misses ---- */

/* 128 clients. Returns the microseconds that the program prints; *queue_max: the most commands at the drive. */
static double us_and_queue(const char *set, const char *name, int *queue_max)
{
    char *folder = folder_with_images(1, 12000, 4096), *machine = format("%s/beside.conf", folder);
    FILE *f = fopen(machine, "we");

    cr_assert_not_null(f);
    fprintf(f,
            "dim = 7;\nboards = ( { number = 3; io_nodes = ( { index = 0; si = [7, 71]; service = \"concurrent\";\n"
            "    drives = ( { volume = \"df00\"; image = \"df00.img\"; cache_kb = 1024; write = \"back\"; %s } );\n"
            "} ); } );\n",
            set);
    cr_assert_eq(fclose(f), 0);
    char *json = format("%s/stats", folder), *option = format("--stats=%s", json);
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "7", .machine = machine, .program = "guest/beside", .args = {name, "//df00/"}, .options = {option}});
    const char *us = strstr(o.out, "us=");

    cr_assert(o.status == 0 && us, "%s: %s%s", name, o.out, o.err);
    double result = atof(us + 3);
    json_t *stats = json_load_file(json, 0, NULL), *drive = json_array_get(json_object_get(stats, "drives"), 0);
    *queue_max = (int)json_integer_value(json_object_get(drive, "queue_max"));
    json_decref(stats);
    images_check(folder, 1);
    outcome_free(&o);
    free(option);
    free(json);
    free(machine);
    folder_remove(folder);
    return result;
}

static double us_beside(const char *set, const char *name)
{
    int queue_max;

    return us_and_queue(set, name, &queue_max);
}

Test(caches, answer_hits_beside_misses)
{
    double alone = us_beside("misses = \"aside\";", "hits"), beside = us_beside("misses = \"aside\";", "misses");
    double waits = us_beside("misses = \"wait\";", "misses");

    cr_expect_geq(alone / beside, 0.95, "hits: %.0f us, beside misses: %.0f us", alone, beside);
    cr_expect_lt(alone / waits, 0.9, "behind misses: %.0f us", waits);
}

/* The drive's line is full: it is never idle. With 32 KB in each command. */
Test(caches, keep_a_drive_busy_with_a_request_of_each_client)
{
    int queue_max;
    double aside = us_and_queue("misses = \"aside\"; commands = 64;", "all", &queue_max), wait = us_beside("", "all");

    cr_expect_gt(queue_max, 32, "%d commands at the drive at once", queue_max);
    cr_expect_leq(aside / wait, 0.9, "128 clients: %.0f us, one after the other: %.0f us", aside, wait);
}

/* ---- Memory ---- */

/* What a node of 4 MB has room for, and one KB more, with six buffers of 32 KB; `needs`: of that. Files of both kinds
 * of size, and of several clients at once. */
static const struct edge {
    const char *set;
    unsigned cache_kb;
    const char *needs;
} edges[] = {
    {"write = \"back\";", 1344, "take 1537 KB"},
    {"write = \"back\"; fill = \"later\"; look_ahead = 16;", 587, "take 780 KB"},
    {"write = \"groups\"; misses = \"aside\";", 331, "take 524 KB"},
};

RowTest(caches, may_take_what_a_node_has_room_for_and_no_more, edges)
{
    static const char *const programs[][2] = {{"0", "a big file"}, {"0", "many files"}, {"3", "own files"}};
    const struct edge *e = &edges[*row];
    char *folder = folder_with_images(1, 8192, 4096);
    char *set[2] = {format("cache_kb = %u; %s", e->cache_kb, e->set),
                    format("cache_kb = %u; %s", e->cache_kb + 1, e->set)};
    const char *service = *row == 0 ? "in-order" : "concurrent";
    char *most = served_machine(folder, "most.conf", service, set[0], "ram_mb = 4;");
    char *more = served_machine(folder, "more.conf", service, set[1], "ram_mb = 4;");
    struct ncube_run r = {.machine = most, .program = "guest/files"};

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        r.dim = programs[i][0];
        r.args[0] = programs[i][1], r.args[1] = "//df00/";
        outcome_must_be(ncube_run(&r), programs[i][1], 0, "passed\n", "");
        images_check(folder, 1);
    }
    r.machine = more;
    outcome_must_be(ncube_run(&r), "one KB more", 1, "", e->needs);
    for (int i = 0; i < 2; i++)
        free(set[i]);
    free(most);
    free(more);
    folder_remove(folder);
}
