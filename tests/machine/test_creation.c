/*
 * Making, opening and removing PIO files over eight volumes: how long, in virtual time, and how many commands of each
 * drive; the same in every run.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/machine/guest.h"

TestSuite(creation, .timeout = 600);

#define VOLUMES 8

static json_int_t most_writes(const char *path)
{
    json_t *stats = json_load_file(path, 0, NULL), *drive;
    json_int_t most = 0;
    size_t i;

    cr_assert_not_null(stats);
    json_array_foreach(json_object_get(stats, "drives"), i, drive)
    {
        json_int_t writes = json_integer_value(json_object_get(drive, "writes"));

        most = writes > most ? writes : most;
    }
    json_decref(stats);
    return most;
}

static const struct row {
    const char *dim;
    long make_us, open_us, remove_us, writes; /* at most */
} rows[] = {
    {"0", 400000, 50000, 120000, 20},
    {"3", 1200000, 80000, 650000, 90},
};

RowTest(creation, asks_all_volumes_at_once, rows)
{
    const struct row *r = &rows[*row];
    char *folder = folder_with_images(VOLUMES, 4096, 4096), *machine = machine_file(folder, 5, VOLUMES, "");
    char *stats = format("%s/stats", folder), *option = format("--stats=%s", stats);
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = r->dim, .machine = machine, .program = "guest/creates", .args = {"1", "8"}, .options = {option}});
    long make_us, open_us, remove_us;

    cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
    cr_assert_eq(sscanf(o.out, "make=%ld open=%ld remove=%ld", &make_us, &open_us, &remove_us), 3, "%s", o.out);
    cr_expect_leq(make_us, r->make_us, "%ld us to make a file", make_us);
    cr_expect_leq(open_us, r->open_us, "%ld us to open a file", open_us);
    cr_expect_leq(remove_us, command_bound(r->remove_us), "%ld us to remove a file", remove_us);
    cr_expect_leq(most_writes(stats), r->writes, "%ld writes of a drive", (long)most_writes(stats));
    images_check(folder, VOLUMES);
    outcome_free(&o);
    free(option);
    free(stats);
    free(machine);
    folder_remove(folder);
}

Test(creation, repeats_every_event)
{
    ncube_must_repeat_on_volumes((struct ncube_run){.dim = "2", .program = "guest/creates", .args = {"2", "4"}}, 4);
}
