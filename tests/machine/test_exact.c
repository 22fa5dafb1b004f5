/*
 * Exactness: random programs (tests/guest/exact.c) have the same trace, output and statistics, to the byte, however
 * far user code runs ahead, on however many processors and cabinets. The reference is --sync=strict, which stops user
 * code at every bound of conservative simulation. What the programs write to their volumes must be the same, too. So
 * must the run be when it is recorded, and when the recording is replayed elsewhere. A machine that is kept up lives
 * with several of those that need no volume, side by side, and its recording is replayed elsewhere, too.
 *
 * SEEDS=n tries n seeds of each program, from FIRST on, and each in all ways; RACKS=1 each in those of ncube-mpi.
 * Without them, each program has one seed and one of the ways, and guest/exact sends half of its messages; every third
 * program has the seed that once failed, with which its machine is twice as large. A failure names the program and its
 * seed.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/booted.h"
#include "tests/machine/observe.h"

TestSuite(exact, .timeout = 36000);

#define VOLUMES         2
#define IMAGE_KILOBYTES 1024

/* ---- Random programs ---- */

#define IPSC            "timing = \"ipsc-860\";\n"
#define SHORT_LOOKAHEAD "timing = { hop_cycles = 1; byte_cycles = 1; header_bytes = 1; };\n"

#define CACHED   "cache_kb = 64; write = \"back\"; group = 4; commands = 16; fill = \"later\";"
#define WITH_CFS "cfs" /* in place of a service: the volumes are disks of the CFS, of 4 KB blocks; */
#define WITH_CLF "clf" /* or servers of Clusterfile */

static const struct subject {
    const char *program, *mix;
    int least_dim; /* every other seed has a dimension more */
    int volumes;
    const char *service; /* of the one I/O node with all volumes; NULL: each volume has one */
    const char *limit;   /* of virtual time; then any end is as good as another, if it is always the same */
    const char *more;    /* of the machine file; NULL: nothing */
    bool piped;          /* the program is there twice, the second time on three nodes */
    const char *ncube;   /* another one (command.h) */
    const char *drive;   /* settings of each drive, with a service; NULL: none */
} subjects[] = {
    {"guest/exact", "compute", 2, .volumes = 0},
    {"guest/exact", "poll", 2, .volumes = 0},
    {"guest/exact", "await", 2, .volumes = 0},
    {"guest/exact", "calls", 2, .volumes = 0},
    {"guest/exact", "receive", 2, .volumes = 0},
    {"guest/exact", "signals", 2, .volumes = 0},
    {"guest/exact", "handlers", 2, .volumes = 0},
    {"guest/exact", "files", 2, .volumes = 2},
    {"guest/exact", "all", 2, .volumes = 2},
    {"guest/exact2", "compute", 1, .volumes = 0},
    {"guest/exact2", "await", 1, .volumes = 0},
    {"guest/exact2", "handlers", 1, .volumes = 0},
    {"guest/exact2", "all", 1, .volumes = 1},
    {"guest/exact_groups", "groups", 2, .volumes = 0},
    {"guest/exact_mpi", "mpi", 2, .volumes = 0},
    {"guest/exact_global", "global", 2, .volumes = 1},
    {"guest/exact_ends", "ends", 2, .limit = "0.2"},
    {"guest/exact", "files", 2, .volumes = 2, .service = "service = \"concurrent\";"},
    {"guest/exact", "all", 2, .volumes = 2, .service = "service = \"concurrent\";"},
    {"guest/exact_striped", "striped", 2, .volumes = 2,
     .more = "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\"]; map = \"cyclic 1000 2\"; } );"},
    {"guest/cfs_random", "cfs", 2, .volumes = 2, .service = WITH_CFS},
    {"guest/exact_clf", "clusterfile", 2, .volumes = 2, .service = WITH_CLF},
    {"guest/sequences", "sequences", 2, .volumes = 2},
    {"guest/pipes", "exact", 3, .piped = true},
    {"guest/star", "exact", 2, .volumes = 2},
    {"guest/exact_forks", "forks", 1, .volumes = 1},
    {"guest/exact_forks", "forks", 1, .volumes = 2, .service = "service = \"concurrent\";"},
    {"guest/exact_loops", "polls", 2, .volumes = 0},
    {"guest/exact_loops", "bursts", 2, .volumes = 0},
    {"guest/exact_loops", "nested", 2, .volumes = 0},
    {"guest/exact_loops2", "polls", 1, .volumes = 0},
    {"guest/exact_loops2", "bursts", 1, .volumes = 0},
    {"guest/exact_loops2", "nested", 1, .volumes = 0},
    {"guest/exact_kills", "kills", 2, .volumes = 0},
    {"guest/exact_kills2", "kills", 1, .volumes = 0},
    {"guest/exact_ends2", "ends", 1, .limit = "0.2"},
    {"guest/requests", "exact", 2, .volumes = 2, .service = "service = \"concurrent\";", .ncube = "echo/bin/ncube"},
    {"guest/exact", "all", 2, .volumes = 2, .more = IPSC "costs = \"instructions\";"},
    {"guest/exact_groups", "groups", 2, .more = IPSC},
    {"guest/exact2", "brief", 1, .more = SHORT_LOOKAHEAD},
    {"guest/exact", "brief", 1, .more = SHORT_LOOKAHEAD},
    {"guest/exact", "files", 2, .volumes = 2, .service = "service = \"concurrent\";",
     .drive = CACHED "misses = \"aside\";"},
    {"guest/exact", "all", 2, .volumes = 2, .service = "", .drive = CACHED},
};

static const struct way {
    const char *name, *machine /* lines of its file; NULL: none */, *options[3];
    const char *ncube; /* another one; NULL: the subject's */
    const char *width; /* NCUBE_WIDTH: short runs are spread; NULL: perhaps */
} ways[] = {
    {.name = "strict", .options = {"--sync=strict"}}, /* the reference */
    {.name = "ahead"},
    {.name = "ahead on one processor, many cabinets", .machine = "nodes_per_cabinet = 1;", .options = {"--cores", "1"}},
    {.name = "ahead on two processors, two nodes to a cabinet",
     .machine = "nodes_per_cabinet = 2;",
     .options = {"--cores", "2"}},
    {.name = "ahead, spread, with much patience", .width = "2,300"},
    {.name = "ahead, spread, without patience, two nodes to a cabinet",
     .machine = "nodes_per_cabinet = 2;",
     .width = "2,0"},
    {.name = "ahead, ncube beside QEMU", .options = {"--harts=turns"}},
    {.name = "ahead, a thread for each hart", .options = {"--harts=threads"}},
    {.name = "ahead, no text pool", .machine = "shared_text_kb = 0;"},
    {.name = "ahead, on one rack", .ncube = "tests/racks/1"},
    {.name = "ahead, on two racks", .ncube = "tests/racks/2"},
    {.name = "ahead, on three racks, two nodes to a cabinet",
     .machine = "nodes_per_cabinet = 2;",
     .ncube = "tests/racks/3"},
    {.name = "ahead, on five racks", .ncube = "tests/racks/5"},
    {.name = "ahead, translated code thrown away at each opportunity", .ncube = "tests/renews/ncube"},
    {.name = "the same, two nodes to a cabinet", .machine = "nodes_per_cabinet = 2;", .ncube = "tests/renews/ncube"},
    {.name = "ahead, a text pool that nsdisk nearly fills", .machine = "shared_text_kb = 200;"},
};

/* A run in one of the ways, and the contents of its volumes at the end. */
struct result {
    struct observed seen;
    char *image[VOLUMES];
    size_t image_bytes[VOLUMES];
};

static void copy_images(const char *from, const char *to)
{
    for (int k = 0; k < VOLUMES; k++) {
        char *image = format("%s/df%02d.img", from, k);

        command_must_succeed((char *[]){"cp", image, (char *)to, NULL});
        free(image);
    }
}

static void read_images(struct result *r, const char *folder)
{
    for (int k = 0; k < VOLUMES; k++) {
        char *name = format("df%02d.img", k);

        r->image[k] = file_read(folder, name, &r->image_bytes[k]);
        free(name);
    }
}

#define LIFE_MS 600000 /* as a run (observe.h) */

static bool has_cfs(const struct subject *s)
{
    return s->service && strcmp(s->service, WITH_CFS) == 0;
}

static bool has_clf(const struct subject *s)
{
    return s->service && strcmp(s->service, WITH_CLF) == 0;
}

static char *folder_with_images_for(const struct subject *s)
{
    bool large = has_cfs(s) || has_clf(s);

    return folder_with_images(VOLUMES, large ? 4 * IMAGE_KILOBYTES : IMAGE_KILOBYTES, large ? 4096 : 1024);
}

/* key: what makes servers of the volumes. */
static char *machine_with_servers(const char *folder, int dim, const char *key, const char *more)
{
    static const char cache[] = "cache_kb = 128; block = 4096; write = \"groups\"; fill = \"later\"; commands = 16;";
    char *path = format("%s/m.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f, "dim = %d;\n%s\n%s\nboards = ( { number = 0; io_nodes = (\n", dim, more, key);
    for (int k = 0; k < VOLUMES; k++)
        fprintf(f,
                "{ index = %d; si = [%d]; service = \"concurrent\"; drives = ( { volume = \"df0%d\"; image = "
                "\"df0%d.img\"; %s } ); }%s\n",
                k, k, k, k, cache, k < VOLUMES - 1 ? "," : " ); } );");
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* `option`: one more; NULL: none. */
static struct result run_with(const struct subject *s, unsigned seed, const struct way *way, const char *images,
                              const char *option)
{
    int dim = s->least_dim + (int)((seed + 1) % 2);
    char *folder = folder_new();
    char *more = format("%s\n%s", way->machine ? way->machine : "", s->more ? s->more : "");
    const char *drive = s->drive ? s->drive : "";
    char *machine = has_cfs(s) ? machine_with_servers(folder, dim, "cfs = { volumes = [ \"df00\", \"df01\" ]; };", more)
                    : has_clf(s) ? machine_with_servers(folder, dim, "metadata = \"df01\";", more)
                    : s->service ? machine_file_of_drives(folder, dim, s->volumes, s->service, drive, more)
                                 : machine_file(folder, dim, s->volumes, more);
    char *dim_text = format("%d", dim), *seed_text = format("%u", seed);
    char *volumes_text = format("%d", s->volumes);
    bool halves = strcmp(s->program, "guest/exact") == 0 || strcmp(s->program, "guest/exact2") == 0;
    struct ncube_run r = {.ncube = way->ncube && !s->ncube ? way->ncube : s->ncube,
                          .dim = dim_text,
                          .machine = machine,
                          .program = s->program,
                          .args = {s->mix, seed_text, volumes_text, halves && !getenv("SEEDS") ? "2" : NULL}};
    struct result result;

    if (s->limit) {
        r.limit = s->limit;
        r.may_fail = true;
        memcpy(r.args, ((const char *[RUN_ARGS]){seed_text}), sizeof r.args);
    }
    if (s->piped) {
        r.dim = "1";
        memcpy(r.args + 2, ((const char *[]){"|", "-n", "3", s->program, s->mix, seed_text}), 6 * sizeof *r.args);
    }
    memcpy(r.options, way->options, sizeof r.options);
    for (size_t k = 0; option && k < sizeof r.options / sizeof *r.options; k++)
        if (!r.options[k]) {
            r.options[k] = option;
            option = NULL;
        }
    copy_images(images, folder);
    if (way->width)
        setenv("NCUBE_WIDTH", way->width, 1);
    result.seen = observe(r, NULL);
    unsetenv("NCUBE_WIDTH");
    read_images(&result, folder);
    free(dim_text);
    free(seed_text);
    free(volumes_text);
    free(machine);
    free(more);
    folder_remove(folder);
    return result;
}

static struct result run(const struct subject *s, unsigned seed, const struct way *way, const char *images)
{
    return run_with(s, seed, way, images, NULL);
}

static void result_free(struct result *r)
{
    observed_free(&r->seen);
    for (int k = 0; k < VOLUMES; k++)
        free(r->image[k]);
}

static void expect_same(const struct result *a, const struct result *b, const char *how)
{
    observed_expect_same(&a->seen, &b->seen, how);
    for (int k = 0; k < VOLUMES; k++)
        cr_expect(a->image_bytes[k] == b->image_bytes[k] && memcmp(a->image[k], b->image[k], a->image_bytes[k]) == 0,
                  "%s: volume df%02d is not the same", how, k);
}

/* Each program has one of the ways, and all ways have as many programs; each of several seeds has another way. */
static bool is_in_share(size_t program, size_t way)
{
    return 1 + program % (sizeof ways / sizeof *ways - 1) == way;
}

/* A run that is recorded, and its replay elsewhere, without its images. */
static void expect_replay_equal(size_t row, unsigned seed, const char *images, const struct result *reference)
{
    const struct subject *s = &subjects[row];
    char *folder = folder_new(), *recording = format("%s/run.ncr", folder), *option = format("--record=%s", recording);
    char *how = format("%s %s, seed %u, recorded", s->program, s->mix, seed);
    struct result recorded = run_with(s, seed, &ways[1], images, option);
    struct observed replayed = observe_replay(s->ncube, recording, s->limit != NULL);

    expect_same(reference, &recorded, how);
    observed_expect_same(&reference->seen, &replayed, how);
    observed_free(&replayed);
    result_free(&recorded);
    free(how);
    free(option);
    free(recording);
    folder_remove(folder);
}

static bool is_on_racks(const struct way *w)
{
    return w->ncube && strstr(w->ncube, "racks");
}

static void expect_all_ways_equal(size_t row, unsigned seed, const char *images)
{
    const struct subject *s = &subjects[row];
    struct result reference = run(s, seed, &ways[0], images);

    for (size_t w = 1; w < sizeof ways / sizeof *ways; w++) {
        if (getenv("RACKS") ? !is_on_racks(&ways[w]) : !getenv("SEEDS") && !is_in_share(row + seed, w))
            continue;
        struct result other = run(s, seed, &ways[w], images);
        char *how = format("%s %s, seed %u, %s", s->program, s->mix, seed, ways[w].name);

        expect_same(&reference, &other, how);
        free(how);
        result_free(&other);
    }
    if (getenv("SEEDS") || row % 6 == 1)
        expect_replay_equal(row, seed, images, &reference);
    result_free(&reference);
}

static unsigned number_from(const char *variable, unsigned otherwise)
{
    const char *text = getenv(variable);

    return text != NULL ? (unsigned)atoi(text) : otherwise;
}

DrawnRowTest(exact, is_every_random_program, subjects, 3)
{
    unsigned first = number_from("FIRST", *row % 3 == 0 ? 62 : 63), seeds = number_from("SEEDS", 1);

    if (subjects[*row].limit) /* short ones, of which each is one of eight ways to end */
        seeds *= getenv("SEEDS") ? 8 : 4;
    char *images = folder_with_images_for(&subjects[*row]);

    for (unsigned seed = first; seed < first + seeds; seed++)
        expect_all_ways_equal(*row, seed, images);
    folder_remove(images);
}

/* A timeline has more in it than the text: when user code ran, waits, channels, drives. */
Test(exact, a_timeline_of_random_programs_is_too)
{
    char *images = folder_with_images(VOLUMES, IMAGE_KILOBYTES, 1024);
    unsigned seed = number_from("FIRST", 63);

    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++) {
        const struct subject *s = &subjects[i];
        if (s->service || s->more || (strcmp(s->mix, "all") != 0 && strcmp(s->mix, "signals") != 0))
            continue;
        struct result strict = run_with(s, seed, &ways[0], images, "--trace-format=chrome");
        struct result ahead = run_with(s, seed, &ways[2], images, "--trace-format=chrome");
        cr_expect(strstr(strict.seen.trace, "\"traceEvents\"") != NULL);
        expect_same(&strict, &ahead, s->program);
        result_free(&strict);
        result_free(&ahead);
    }
    folder_remove(images);
}

/* Whether the outputs of two programs, which have begun side by side, are those, in either order. */
static bool are_outputs(const char *const one[2], const struct observed two[2])
{
    bool straight = strcmp(one[0], two[0].out) == 0 && strcmp(one[1], two[1].out) == 0,
         crossed = strcmp(one[0], two[1].out) == 0 && strcmp(one[1], two[0].out) == 0;

    return straight || crossed;
}

/* Two random programs side by side on a machine that is kept up, then a third one: its life, and its replay
 * elsewhere. */
static void expect_life_equal(const struct subject *s, unsigned seed)
{
    char *folder = folder_new(), *machine = machine_file(folder, s->least_dim + 1, s->volumes, "");
    char *recording = format("%s/run.ncr", folder), *trace = format("%s/trace", folder);
    char *dim = format("%d", s->least_dim), *first = format("%u", seed), *second = format("%u", seed + 2);
    struct streams_of_test in_memory = {-1, -1};

    struct booted b = booted_up(WORDS("-m", machine, "--record", recording, "--trace", trace));
    struct command one = xnc_start(&b, in_memory, WORDS("-d", dim, s->program, s->mix, first, "0")),
                   two = xnc_start(&b, in_memory, WORDS("-d", dim, s->program, s->mix, second, "0"));
    struct outcome end[] = {command_wait_within(&one, LIFE_MS), command_wait_within(&two, LIFE_MS)};
    xnc_expect(&b, NULL, WORDS("-d", dim, s->program, s->mix, first, "0"), 0, NULL, "");
    booted_down(&b);
    struct observed seen[] = {observe_replay_of(NULL, recording, "--program=1"),
                              observe_replay_of(NULL, recording, "--program=2")};
    size_t bytes;
    char *lived = file_read(folder, "trace", &bytes);
    cr_expect(end[0].status == 0 && end[1].status == 0, "%s %s, seed %u: %s%s", s->program, s->mix, seed, end[0].err,
              end[1].err);
    cr_expect(are_outputs((const char *const[]){end[0].out, end[1].out}, seen), "%s %s, seed %u, a life: output",
              s->program, s->mix, seed);
    for (int i = 0; i < 2; i++) {
        cr_expect(seen[i].trace_bytes == bytes && memcmp(seen[i].trace, lived, bytes) == 0,
                  "%s %s, seed %u, a life: trace", s->program, s->mix, seed);
        observed_free(&seen[i]);
        outcome_free(&end[i]);
    }
    free(lived);
    free(second);
    free(first);
    free(dim);
    free(trace);
    free(recording);
    free(machine);
    folder_remove(folder);
}

Test(exact, a_life_of_random_programs_is_the_same_elsewhere)
{
    unsigned first = number_from("FIRST", 63), seeds = number_from("SEEDS", 1);

    for (unsigned seed = first; seed < first + seeds; seed++)
        for (size_t i = 0, n = 0; i < sizeof subjects / sizeof *subjects; i++) {
            const struct subject *s = &subjects[i];

            if (s->volumes > 0 || s->limit || s->piped || s->ncube)
                continue;
            if (getenv("SEEDS") || n++ % 4 == 0)
                expect_life_equal(s, seed);
        }
}

Test(exact, programs_of_other_seeds_differ)
{
    char *images = folder_with_images(VOLUMES, IMAGE_KILOBYTES, 1024);
    struct result one = run(&subjects[0], 1, &ways[1], images), other = run(&subjects[0], 3, &ways[1], images);
    char *difference = observed_difference(&one.seen, &other.seen);

    cr_expect_not_null(difference);
    free(difference);
    result_free(&one);
    result_free(&other);
    folder_remove(images);
}

/* ---- The trace is complete ---- */

/* How many lines of the trace have this word as the event and this one, NULL: any, among the details. */
static size_t count_events(const char *trace, const char *event, const char *detail)
{
    char *text = strdup(trace), *rest = text;
    size_t n = 0;

    for (char *line; (line = strsep(&rest, "\n")) != NULL && *line != '\0';) {
        char name[16];
        int at = 0;

        cr_assert_eq(sscanf(line, "%*u %*u %15s%n", name, &at), 1, "a line of the trace: %s", line);
        n += strcmp(name, event) == 0 && (detail == NULL || strstr(line + at, detail) != NULL);
    }
    free(text);
    return n;
}

Test(exact, the_trace_has_every_send_arrival_receive_interrupt_and_exit)
{
    struct observed seen = observe((struct ncube_run){.dim = "3", .program = "guest/clockwork"}, NULL);
    const char *trace = seen.trace;
    const char *data = "tag=0x1 "; /* twelve messages of each of eight nodes, all of type 1 */

    cr_expect_eq(count_events(trace, "send", data), 96);
    cr_expect_eq(count_events(trace, "arrival", data), 96);
    cr_expect_eq(count_events(trace, "receive", data), 96);
    cr_expect_eq(count_events(trace, "exit", NULL), 8);
    cr_expect_gt(count_events(trace, "interrupt", NULL), 50);
    observed_free(&seen);
}
