/* Parallel files of virtual processors, on volumes and at the front end. unstar.c and e2fsck judge what they leave. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/star_program.h"
#include "tests/libpio/unstar.h"
#include "tests/machine/guest.h"

TestSuite(star, .timeout = 600);

#define PROGRAM "guest/star"
#define VOLUMES 4

/* Takes the parts of a file out of the images, and the streams out of these. Data and .meta have names of their own. */
static struct unstar take_file(const char *folder, const char *machine, const char *data, const char *meta)
{
    static const char *const suffixes[] = {"", ".meta", ".first", ".dir"};
    char *ncube = build_path("bin/ncube"), *path = format("%s/out", folder);
    struct unstar u;

    for (int k = 0; k < 4; k++) {
        char *part = format("%s%s", k == 1 ? meta : data, suffixes[k]), *to = format("%s%s", path, suffixes[k]);
        struct outcome o = command_run((char *[]){ncube, "disk", "-m", (char *)machine, "get", part, to, NULL}, "");

        cr_assert(k > 1 || o.status == 0, "%s: %s", part, o.err); /* the others are there if there is an IB segment */
        outcome_free(&o);
        free(part);
        free(to);
    }
    bool readable = unstar_read(path, &u);
    cr_assert(readable, "%s: %s", data, u.why);
    free(ncube);
    free(path);
    return u;
}

/* Of the PIO file /x. */
static struct unstar take_streams(const char *folder, const char *machine)
{
    return take_file(folder, machine, "pio:/x", "//df00/x");
}

/* The seed's program, run in memory alone, gives the same streams. */
static void compare_streams(struct unstar *u, int seed, int rows, const char *about)
{
    struct star_program p = {.seed = (uint32_t)seed, .steps = 50, .only_streams = true, .rows = rows};

    star_program_run(&p);
    cr_assert_eq(u->vps, p.vps, "%s", about);
    for (long vp = 0; vp < p.vps; vp++) {
        cr_assert_eq(u->length[vp], p.stream[vp].length, "%s: VP %ld", about, vp);
        cr_assert(memcmp(u->stream[vp], p.stream[vp].bytes, (size_t)u->length[vp]) == 0, "%s: VP %ld", about, vp);
    }
    star_program_free(&p);
}

static const struct random_case {
    const char *nodes[2]; /* -d or -n */
    const char *least, *block, *grid, *way;
} random_cases[] = {
    {{"-d", "0"}, "0", "1024", "0", "0"}, {{"-d", "1"}, "1", "64", "0", "0"},   {{"-d", "3"}, "0", "64", "0", "3"},
    {{"-n", "3"}, "0", "1000", "0", "2"}, {{"-n", "7"}, "2", "1024", "0", "0"}, {{"-d", "3"}, "0", "256", "1", "0"},
    {{"-n", "6"}, "1", "512", "1", "1"},
};

DrawnRowTest(star, random_programs_are_like_one_file_for_each_vp, random_cases, 2)
{
    const struct random_case *c = &random_cases[*row];
    char *folder = folder_with_images(VOLUMES, 1024, 1024), *machine = machine_file(folder, 3, VOLUMES, "");

    for (int seed = 1; seed <= 2; seed++) {
        char *text = format("%d", seed), *about = format("seed %d, row %zu", seed, *row);
        bool by_dim = strcmp(c->nodes[0], "-d") == 0;
        struct ncube_run r = {.dim = by_dim ? c->nodes[1] : NULL,
                              .machine = machine,
                              .program = PROGRAM,
                              .args = {"random program", "/x", "4", text, c->least, c->block, c->grid, c->way}};

        if (!by_dim) {
            r.options[0] = "-n";
            r.options[1] = c->nodes[1];
        }
        guest_must_pass(&r);
        struct unstar u = take_streams(folder, machine);
        compare_streams(&u, seed, 0, about);
        unstar_free(&u);
        free(text);
        free(about);
        images_check(folder, VOLUMES);
        folder_remove(folder);
        free(machine);
        folder = folder_with_images(VOLUMES, 1024, 1024);
        machine = machine_file(folder, 3, VOLUMES, "");
    }
    free(machine);
    folder_remove(folder);
}

/* ---- Arrays of others ---- */

#define ROWS 5

/* Puts the array with which a seed's program begins on the volumes, in that order. */
static void put_array(const char *folder, const char *machine, int seed, const char *line, const char *option)
{
    struct star_program p = {.seed = (uint32_t)seed, .only_streams = true, .rows = ROWS};
    char *ncube = build_path("bin/ncube"), *path = format("%s/array", folder), *extent[2];

    star_program_run(&p); /* no steps */
    struct unstar u = {.vps = p.vps, .rank = 2, .extent = {p.extent[0], p.extent[1]}};
    cr_assert(unstar_places(&u, line), "%s", line);
    FILE *f = fopen(path, "wb");
    for (int row = 0; row < ROWS; row++)
        for (long vp = 0; vp < p.vps; vp++) {
            fseek(f, 8 * (row * p.vps + u.place[vp]), SEEK_SET);
            fwrite(p.stream[vp].bytes + 8 * row, 8, 1, f);
        }
    fclose(f);
    for (int axis = 0; axis < 2; axis++)
        extent[axis] = format("%ld", p.extent[axis]);
    command_must_succeed(
        (char *[]){ncube, "disk", "-m", (char *)machine, "put", "--block", "1K", path, "pio:/x", NULL});
    command_must_succeed((char *[]){ncube, "star", "-m", (char *)machine, "meta", "pio:/x", extent[0], extent[1],
                                    "--block", "8", "--order", (char *)option, NULL});
    free(extent[0]);
    free(extent[1]);
    free(path);
    free(ncube);
    unstar_free(&u);
    star_program_free(&p);
}

static const struct array_case {
    int seed;
    const char *line, *option, *nodes, *least, *grid, *way;
} array_cases[] = {
    {1, "order column", "column", "8", "0", "0", "0"},     {2, "order grid 2 3", "grid:2x3", "3", "0", "0", "0"},
    {3, "order grid 3 2", "grid:3x2", "5", "1", "0", "0"}, {4, "order column", "column", "7", "0", "1", "0"},
    {5, "order column", "column", "2", "0", "1", "2"},     {6, "order grid 9 1", "grid:9x1", "1", "0", "0", "0"},
    {7, "order grid 2 4", "grid:2x4", "8", "0", "1", "0"},
};

DrawnRowTest(star, random_programs_on_arrays_of_others_in_each_order, array_cases, 2)
{
    const struct array_case *c = &array_cases[*row];
    char *folder = folder_with_images(VOLUMES, 1024, 1024), *machine = machine_file(folder, 3, VOLUMES, "");
    char *seed = format("%d", c->seed), *rows = format("%d", ROWS);

    put_array(folder, machine, c->seed, c->line, c->option);
    guest_must_pass(
        &(struct ncube_run){.machine = machine,
                            .program = PROGRAM,
                            .args = {"random program", "/x", "4", seed, c->least, "1024", c->grid, c->way, rows},
                            .options = {"-n", c->nodes}});
    struct unstar u = take_streams(folder, machine);
    compare_streams(&u, c->seed, ROWS, c->line);
    unstar_free(&u);
    images_check(folder, VOLUMES);
    free(seed);
    free(rows);
    free(machine);
    folder_remove(folder);
}

/* ---- 65,536 virtual processors on 8 nodes, and what else there is ---- */

static void must_pass(const char *folder_machine, const char *option, const char *nodes, const char *name)
{
    guest_must_pass(&(struct ncube_run){
        .machine = folder_machine, .program = PROGRAM, .args = {name, "/x", "4"}, .options = {option, nodes}});
}

/* The bytes are those of the array, row after row, whoever has written them, and any number of nodes reads them. */
Test(star, many_vps_write_an_array_and_other_nodes_read_it)
{
    char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = machine_file(folder, 3, VOLUMES, "");

    for (int round = 0; round < 2; round++) {
        must_pass(machine, "-n", round == 0 ? "8" : "3", "doubles");
        struct unstar u = take_streams(folder, machine);
        cr_assert(u.vps == 65536 && u.nb_block == 8 && u.nb_rows == 16 && u.cb_bytes == 0);
        for (long vp = 0; vp < u.vps; vp++)
            for (int k = 0; k < 16; k++) {
                double x;

                memcpy(&x, u.stream[vp] + 8 * k, sizeof x);
                cr_assert_eq(x, (double)vp + k * 65536.0, "VP %ld, item %d", vp, k);
            }
        unstar_free(&u);
        images_check(folder, VOLUMES);
        must_pass(machine, "-n", "1", "finds doubles");
        must_pass(machine, "-n", "5", "finds doubles");
    }
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

/* What the program of [P4 Figure 2] has in VP (a, b) after each step: x, an int. */
static void compare_figure_2(const struct unstar *u, const char *about)
{
    cr_assert(u->vps == 256 * 128 && u->nb_block == 4 && u->nb_rows == 10 && u->cb_bytes == 16, "%s", about);
    for (long vp = 0; vp < u->vps; vp++) {
        int x = 0, found;
        double y[10], ends[2];

        cr_assert_eq(u->length[vp], 56, "%s: VP %ld", about, vp);
        for (int i = 0; i < 10; i++) {
            y[i] = (double)(vp / 128 * (i + 1) % 71 + vp % 128) + 0.5;
            x = (int)(x + y[i]);
            x = x > 100 ? x % 100 : x;
            memcpy(&found, u->stream[vp] + 4 * i, sizeof found);
            cr_assert_eq(found, x, "%s: VP %ld, step %d", about, vp, i);
        }
        memcpy(ends, u->stream[vp] + 40, sizeof ends);
        cr_assert(ends[0] == y[0] && ends[1] == y[9], "%s: VP %ld", about, vp);
    }
}

/* Its files are the same to the byte, whatever the number of nodes. */
Test(star, the_program_of_figure_2_leaves_one_file_for_any_number_of_nodes)
{
    static const char *const nodes[] = {"1", "2", "3", "7", "8"};
    char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = machine_file(folder, 3, VOLUMES, "");
    char *ncube = build_path("bin/ncube"), *out = format("%s/out", folder);
    struct outcome first = {0};

    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
        must_pass(machine, "-n", nodes[i], "figure 2");
        struct unstar u = take_streams(folder, machine);
        compare_figure_2(&u, nodes[i]);
        unstar_free(&u);
        struct outcome sum = command_run((char *[]){"sha256sum", out, NULL}, NULL);
        cr_assert(sum.status == 0 && sum.out_bytes > 64, "%s", sum.err);
        if (i == 0)
            first = sum;
        cr_expect_str_eq(sum.out, first.out, "%s nodes", nodes[i]);
        if (i > 0)
            outcome_free(&sum);
        struct outcome scalar =
            command_run((char *[]){ncube, "disk", "-m", machine, "get", "//df00/sum", "-", NULL}, NULL);
        cr_expect_str_eq(scalar.out, "22.5\n", "%s nodes: %s", nodes[i], scalar.err);
        outcome_free(&scalar);
    }
    outcome_free(&first);
    images_check(folder, VOLUMES);
    free(out);
    free(ncube);
    free(machine);
    folder_remove(folder);
}

/* A file of IB is three PIO files, of which 32 can be open; each has a descriptor on each volume. Over eight volumes
 * those run out first. What could not be opened leaves nothing open, and nothing on the volumes. */
Test(star, one_file_too_many_is_an_error_that_takes_nothing)
{
    static const struct {
        int volumes;
        const char *nb, *ib;
    } most[] = {{4, "32", "10"}, {8, "31", "10"}};

    for (int k = 0; k < 2; k++) {
        char *folder = folder_with_images(most[k].volumes, 8192, 1024), *volumes = format("%d", most[k].volumes);
        char *machine = machine_file(folder, 4, most[k].volumes, "");

        guest_must_pass(&(struct ncube_run){.machine = machine,
                                            .program = PROGRAM,
                                            .args = {"many files", "/x", volumes, most[k].nb, most[k].ib},
                                            .options = {"-n", "3"}});
        images_check(folder, most[k].volumes);
        free(machine);
        free(volumes);
        folder_remove(folder);
    }
}

Test(star, a_file_of_the_front_end_is_another_place)
{
    char *folder = folder_new(), *path = format("%s/x", folder);
    struct unstar u;

    guest_must_pass(&(struct ncube_run){.dim = "1",
                                        .serve = folder,
                                        .program = PROGRAM,
                                        .args = {"random program", "unix:x", "4", "5", "0", "64", "0"}});
    bool readable = unstar_read(path, &u);
    cr_assert(readable, "%s", u.why);
    compare_streams(&u, 5, 0, "front end");
    unstar_free(&u);
    free(path);
    folder_remove(folder);
}

/* One ordinary file, on a volume or over several. */
Test(star, a_file_of_one_volume_or_a_striped_one_is_another_place)
{
    static const char *const files[] = {"//df01/x", "//big/x"};
    static const char striped[] =
        "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\", \"df02\"]; map = \"cyclic 1000 3\"; } );\n";

    for (int k = 0; k < 4; k++) {
        char *folder = folder_with_images(VOLUMES, 1024, 1024), *machine = machine_file(folder, 3, VOLUMES, striped);
        char *name = format("unix:%s", files[k % 2]), *seed = format("%d", k + 1);

        guest_must_pass(&(struct ncube_run){.machine = machine,
                                            .program = PROGRAM,
                                            .args = {"random program", name, "4", seed, k < 2 ? "0" : "2", "64", "0"},
                                            .options = {"-n", k < 2 ? "7" : "3"}});
        struct unstar u = take_file(folder, machine, files[k % 2], files[k % 2]);
        compare_streams(&u, k + 1, 0, name);
        unstar_free(&u);
        images_check(folder, VOLUMES);
        free(name);
        free(seed);
        free(machine);
        folder_remove(folder);
    }
}

static const struct on_volumes {
    const char *what, *name, *nodes[2]; /* the runs of the case, on the same volumes */
    int kilobytes;
} on_volumes[] = {
    {"a full volume leaves what all have written", "full volume", {"4", NULL}, 600},
    {"one VP prints, and all hear of it", "elemental", {"4", "1"}, 1200},
    {"a scalar file is written once, and lines by each VP", "scalar file", {"4", "3"}, 600},
    {"a scalar file in elemental code is an error", "scalar in each", {"4", "1"}, 600},
    {"a global descriptor in elemental code is an error", "descriptors in each", {"4", "1"}, 600},
    {"a node in exit is the others' error", "one exits", {"4", NULL}, 600},
};

RowTest(star, leaves_volumes_whole, on_volumes)
{
    const struct on_volumes *c = &on_volumes[*row];
    char *folder = folder_with_images(VOLUMES, c->kilobytes, 1024), *machine = machine_file(folder, 3, VOLUMES, "");

    for (int i = 0; i < 2 && c->nodes[i]; i++)
        must_pass(machine, "-n", c->nodes[i], c->name);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

/* ---- Messages ---- */

#define TRACED_NODES 4
#define PHASES_MOST  8

static struct phase {
    char name[16];
    int messages;
} phases[PHASES_MOST];

static struct phase *phase_of(const char *name)
{
    int i = 0;

    while (i < PHASES_MOST - 1 && phases[i].name[0] != '\0' && strcmp(phases[i].name, name) != 0)
        i++;
    snprintf(phases[i].name, sizeof phases[i].name, "%s", name);
    return &phases[i];
}

/* Counts what compute nodes send each other in each phase. */
static void count_messages(const char *path)
{
    struct phase outside = {0}, *of[TRACED_NODES] = {&outside, &outside, &outside, &outside};
    FILE *f = fopen(path, "re");
    char line[300], name[16];
    int node, to, end;

    cr_assert_not_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%*d %d mark%n %15s", &node, &end, name) >= 1 && strstr(line, " mark ") && node < TRACED_NODES)
            of[node] = line[end + 1] == '\n' ? &outside : phase_of(name);
        else if (sscanf(line, "%*d %d send to=%d", &node, &to) == 2 && node < TRACED_NODES && to < TRACED_NODES)
            of[node]->messages++;
    fclose(f);
}

/* A reduction is a message of each node but the first, and the first one's broadcast. A call by NB, CB or IB costs one
 * reduction, the first by CB makes buffers and a .meta; a node goes to IB alone without a message, and the next call
 * brings all there. */
Test(star, messages_in_the_trace_are_those_of_the_reductions_that_the_library_counts)
{
    static const struct {
        const char *phase;
        int reductions;
    } right[] = {{"NB", 3}, {"CB", 5}, {"alone", 0}, {"met", 4}, {"IB", 3}};
    char *folder = folder_with_images(VOLUMES, 600, 1024), *machine = machine_file(folder, 3, VOLUMES, "");
    char *path = format("%s/trace", folder);
    struct outcome o = ncube_run(&(struct ncube_run){
        .machine = machine, .program = PROGRAM, .args = {"counted", "/x", "4"}, .trace = path, .options = {"-n", "4"}});

    outcome_expect(&o, "counted", 0, "NB 3\nCB 5\nalone 0\nmet 4\nIB 3\npassed\n", "");
    outcome_free(&o);
    count_messages(path);
    for (int i = 0; i < 5; i++) {
        const struct phase *p = phase_of(right[i].phase);

        cr_expect_eq(p->messages, TRACED_NODES * right[i].reductions, "%s: %d messages", p->name, p->messages);
    }
    images_check(folder, VOLUMES);
    free(path);
    free(machine);
    folder_remove(folder);
}

Test(star, some_of_the_nodes_emulate_vps)
{
    char *folder = folder_with_images(VOLUMES, 600, 1024), *machine = machine_file(folder, 3, VOLUMES, "");
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "3", .machine = machine, .program = PROGRAM, .args = {"part of the nodes", "/x", "4"}});

    outcome_expect(&o, "part of the nodes", 0, "passed\npassed\n",
                   "6 of the nodes\n"); /* node 0 of the program, and of the six */
    outcome_free(&o);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

Test(star, scalar_code_prints_once)
{
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "2", .program = PROGRAM, .args = {"prints", "/x", "4"}});

    cr_assert_eq(count_lines(o.out), 6, "%s", o.out);
    cr_assert(strncmp(o.out, "once\n", 5) == 0 && strstr(o.out, "VP 0\n") && strstr(o.out, "VP 2\n") &&
                  strstr(o.out, "again\npassed\n"),
              "%s", o.out);
    outcome_free(&o);
}

Test(star, runs_repeat)
{
    ncube_must_repeat_on_volumes(
        (struct ncube_run){.dim = "3", .program = PROGRAM, .args = {"random program", "/x", "2", "3", "0", "64", "0"}},
        2);
}
