/*
 * The trace of a run as a timeline: its slices are nested, its arrows have two ends in slices, its phases end; it is
 * the same in every run, and whoever looks at it changes nothing.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/guest.h"

TestSuite(trace, .timeout = 600);

enum { FAILED = 1, VOLUMES = 2, TRACKS = 1 << 16, PROCESS_NODES = 1, PROCESS_CHANNELS, PROCESS_DRIVES };

/* ---- Runs ---- */

static const struct way {
    const char *name, *more, *options[2];
} ways[] = {
    {"ahead", "", {NULL}},
    {"strict", "", {"--sync=strict"}},
    {"many cabinets on one processor", "nodes_per_cabinet = 1;", {"--cores=1"}},
};

/* Runs the work of tests/guest/phases.c on fresh images. Returns its trace, which the caller frees. */
static char *run_traced(const char *name, const struct way *way, const char *option)
{
    char *folder = folder_with_images(VOLUMES, 1024, 1024), *machine = machine_file(folder, 3, VOLUMES, way->more);
    char *trace = format("%s/%s", folder, name);
    const struct ncube_run r = {.dim = "3",
                                .machine = machine,
                                .trace = trace,
                                .program = "guest/phases",
                                .args = {"work", "//df00/a", "//df01/b"},
                                .options = {option ? option : way->options[0]}};
    size_t bytes;

    struct outcome o = ncube_run(&r);
    cr_assert_eq(o.status, 0, "%s: %s", way->name, o.err);
    char *text = file_read(folder, name, &bytes);
    outcome_free(&o);
    free(machine);
    free(trace);
    folder_remove(folder);
    return text;
}

static void expect_same_in_all_ways(const char *name)
{
    char *first = run_traced(name, &ways[0], NULL);

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char *again = run_traced(name, &ways[i], NULL);

        cr_expect(strcmp(first, again) == 0, "%s: another %s", ways[i].name, name);
        free(again);
    }
    free(first);
}

Test(trace, a_timeline_is_the_same_in_every_run)
{
    expect_same_in_all_ways("t.json");
}

Test(trace, a_picl_trace_is_the_same_in_every_run)
{
    expect_same_in_all_ways("t.picl");
}

Test(trace, a_timeline_changes_nothing)
{
    char *text = run_traced("t", &ways[0], NULL);
    char *plain = run_traced("t", &ways[0], "--trace-format=text");

    cr_expect(strstr(text, " mark exchange\n") != NULL);
    cr_expect_str_eq(text, plain);
    free(text);
    free(plain);
}

/* ---- What is in a timeline ---- */

struct slice {
    long since, until, track;
    const char *name;
};

struct timeline {
    json_t *all, *events;
    struct slice *slice; /* in the order of their beginnings, the longer first */
    size_t slices;
};

static const char *string_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));

    return text ? text : "";
}

static long number_of(const json_t *event, const char *key)
{
    return (long)json_integer_value(json_object_get(event, key));
}

static long cycles_of(const json_t *event, const char *key)
{
    return lround(json_number_value(json_object_get(event, key)) * 20);
}

static long track_of(const json_t *event)
{
    return number_of(event, "pid") * TRACKS + number_of(event, "tid");
}

static int compare_slices(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;

    if (x->track != y->track)
        return x->track < y->track ? -1 : 1;
    if (x->since != y->since)
        return x->since < y->since ? -1 : 1;
    return x->until > y->until ? -1 : x->until < y->until;
}

static struct timeline read_timeline(const char *text)
{
    json_error_t error;
    struct timeline t = {.all = json_loads(text, 0, &error)};
    size_t i;
    json_t *e;

    cr_assert_not_null(t.all, "line %d: %s", error.line, error.text);
    t.events = json_object_get(t.all, "traceEvents");
    t.slice = calloc(json_array_size(t.events) + 1, sizeof *t.slice);
    json_array_foreach(t.events, i, e)
    {
        if (strcmp(string_of(e, "ph"), "X") == 0)
            t.slice[t.slices++] = (struct slice){.since = cycles_of(e, "ts"),
                                                 .until = cycles_of(e, "ts") + cycles_of(e, "dur"),
                                                 .track = track_of(e),
                                                 .name = string_of(e, "name")};
    }
    qsort(t.slice, t.slices, sizeof *t.slice, compare_slices);
    return t;
}

static void timeline_free(struct timeline *t)
{
    json_decref(t->all);
    free(t->slice);
}

/* Each slice ends before or with the one that it begins in. */
static void expect_nested(const struct timeline *t)
{
    long open[16];
    size_t depth = 0;

    for (size_t i = 0; i < t->slices; i++) {
        const struct slice *s = &t->slice[i];

        if (i == 0 || s->track != t->slice[i - 1].track)
            depth = 0;
        while (depth > 0 && open[depth - 1] <= s->since)
            depth--;
        cr_assert(depth == 0 || s->until <= open[depth - 1], "track %ld: '%s' from %ld to %ld is not nested", s->track,
                  s->name, s->since, s->until);
        cr_assert(depth < 16 && s->since < s->until);
        open[depth++] = s->until;
    }
}

static bool is_in_slice(const struct timeline *t, long track, long cycles)
{
    for (size_t i = 0; i < t->slices; i++)
        if (t->slice[i].track == track && t->slice[i].since <= cycles && cycles <= t->slice[i].until)
            return true;
    return false;
}

/* Each arrow has one beginning and one end, later, both in slices, and a number of its own. Returns how many there
 * are. */
static size_t expect_arrows(const struct timeline *t)
{
    json_t *begun = json_object(), *ended = json_object();
    size_t i, arrows = 0;
    json_t *e;

    json_array_foreach(t->events, i, e)
    {
        const char *phase = string_of(e, "ph");
        char id[32];

        if (strcmp(phase, "s") != 0 && strcmp(phase, "f") != 0)
            continue;
        snprintf(id, sizeof id, "%ld", number_of(e, "id"));
        cr_assert(is_in_slice(t, track_of(e), cycles_of(e, "ts")), "%s is in no slice", id);
        json_t *beginning = json_object_get(begun, id);
        if (phase[0] == 's') {
            cr_assert_null(beginning, "%s begins twice", id);
            json_object_set(begun, id, e);
            continue;
        }
        cr_assert_not_null(beginning, "%s does not begin", id);
        cr_assert_leq(cycles_of(beginning, "ts"), cycles_of(e, "ts"));
        cr_assert_null(json_object_get(ended, id), "%s ends twice", id);
        json_object_set(ended, id, e);
        arrows++;
    }
    cr_expect_eq(json_object_size(begun), arrows, "%zu arrows do not end", json_object_size(begun) - arrows);
    json_decref(begun);
    json_decref(ended);
    return arrows;
}

static size_t count_events(const struct timeline *t, const char *phase, int process, const char *name)
{
    size_t i, n = 0;
    json_t *e;

    json_array_foreach(t->events, i, e)
    {
        n += strcmp(string_of(e, "ph"), phase) == 0 && (process == 0 || number_of(e, "pid") == process) &&
             strncmp(string_of(e, "name"), name, strlen(name)) == 0;
    }
    return n;
}

Test(trace, a_timeline_shows_calls_waits_messages_files_and_phases)
{
    char *text = run_traced("t.json", &ways[0], NULL);
    struct timeline t = read_timeline(text);

    expect_nested(&t);
    cr_expect_geq(expect_arrows(&t), 8u * 3 * 4); /* messages of the exchange: nodes, dimensions, lengths */
    cr_expect_geq(count_events(&t, "X", PROCESS_NODES, "nwrite"), 8u * 3 * 4); /* nsdisk calls it, too */
    cr_expect_geq(count_events(&t, "X", PROCESS_NODES, "nread"), 8u * 3 * 4);
    cr_expect_gt(count_events(&t, "X", PROCESS_NODES, "waits in nread for a message of type 7 from node"), 0);
    cr_expect_gt(count_events(&t, "X", PROCESS_NODES, "waits for the file server"), 0);
    cr_expect_gt(count_events(&t, "X", PROCESS_NODES, "user"), 0);
    cr_expect_gt(count_events(&t, "X", PROCESS_CHANNELS, "0: 6000"), 0);
    cr_expect_gt(count_events(&t, "X", PROCESS_DRIVES, "write"), 0);
    cr_expect_gt(count_events(&t, "C", PROCESS_DRIVES, "queue of df01"), 0);
    cr_expect_gt(count_events(&t, "C", PROCESS_DRIVES, "rate of df00"), 0);
    cr_expect_gt(count_events(&t, "b", 0, "FWRITE"), 0);
    cr_expect_eq(count_events(&t, "b", 0, "exchange"), 8);
    cr_expect_eq(count_events(&t, "b", 0, "files"), 8);
    cr_expect_eq(count_events(&t, "b", 0, ""), count_events(&t, "e", 0, ""), "what begins does not end");
    timeline_free(&t);
    free(text);
}

Test(trace, a_timeline_of_some_nodes_has_no_others)
{
    char *text = run_traced("t.json", &ways[0], "--trace-nodes=1-2,host");
    struct timeline t = read_timeline(text);

    expect_nested(&t);
    cr_expect_gt(expect_arrows(&t), 0);
    for (size_t i = 0; i < t.slices; i++)
        if (t.slice[i].track / TRACKS == PROCESS_NODES)
            cr_assert(t.slice[i].track % TRACKS == 1 || t.slice[i].track % TRACKS == 2 ||
                      t.slice[i].track % TRACKS == 32768);
    timeline_free(&t);
    free(text);
}

Test(trace, a_packed_timeline_is_the_same_text)
{
    char *folder = folder_new(), *plain = format("%s/t.json", folder), *packed = format("%s/p.json.gz", folder);
    const char *const paths[] = {plain, packed};

    for (int i = 0; i < 2; i++) {
        outcome_must_be(
            ncube_run(&(struct ncube_run){.dim = "2", .trace = paths[i], .program = "guest/phases", .args = {"work"}}),
            paths[i], 0, "passed\n", "");
    }
    command_must_succeed((char *[]){"gunzip", packed, NULL});
    packed[strlen(packed) - 3] = '\0';
    command_must_succeed((char *[]){"cmp", plain, packed, NULL});
    free(plain);
    free(packed);
    folder_remove(folder);
}

/* ---- Ends ---- */

Test(trace, marks_have_bounds)
{
    guest_must_pass(&(struct ncube_run){.program = "guest/phases", .args = {"bounds"}});
}

/* Wherever the limit falls, arrows have both ends, in slices. */
static void cut_at(unsigned kilobytes)
{
    char *folder = folder_new(), *path = format("%s/t.json", folder), *limit = format("--trace-limit=%uK", kilobytes);
    size_t bytes;
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "4", .trace = path, .program = "guest/phases", .args = {"work"}, .options = {limit}});

    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_expect(count_lines(o.err) == 1 && strstr(o.err, "reached its limit") != NULL, "%s", o.err);
    char *text = file_read(folder, "t.json", &bytes);
    cr_expect_leq(bytes, kilobytes << 10);
    struct timeline t = read_timeline(text);
    expect_arrows(&t);
    timeline_free(&t);
    free(text);
    free(limit);
    free(path);
    outcome_free(&o);
    folder_remove(folder);
}

Test(trace, a_limit_leaves_a_whole_timeline_and_a_line)
{
    for (unsigned kilobytes = 64; kilobytes < 70; kilobytes++)
        cut_at(kilobytes);
}

Test(trace, a_run_that_reaches_its_limit_of_time_has_a_whole_timeline)
{
    char *folder = folder_new(), *path = format("%s/t.json", folder);
    size_t bytes;
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "2", .trace = path, .limit = "0.03", .program = "guest/torture", .args = {"100", "5", "16", "6"}});

    cr_expect_eq(o.status, 124, "%s", o.err);
    char *text = file_read(folder, "t.json", &bytes);
    struct timeline t = read_timeline(text);
    expect_nested(&t);
    expect_arrows(&t);
    timeline_free(&t);
    free(text);
    free(path);
    outcome_free(&o);
    folder_remove(folder);
}

Test(trace, what_could_not_be_written_is_removed)
{
    char *folder = folder_new(), *path = format("%s/t.json", folder);
    char *program = build_path("guest/phases"), *ncube = build_path("bin/ncube");
    char *command = format("ulimit -f 50; trap '' XFSZ; exec %s run -d 3 --trace=%s %s work", ncube, path, program);
    struct outcome o = command_run((char *[]){"sh", "-c", command, NULL}, NULL);

    if (strstr(o.err, "RLIMIT_FSIZE") == NULL) { /* the memory of a cabinet is a file, too: nothing has run */
        cr_expect_eq(o.status, FAILED, "%s", o.err);
        cr_expect(strstr(o.err, "there is no trace") != NULL, "%s", o.err);
    }
    cr_expect_neq(access(path, F_OK), 0, "half a trace is left");
    outcome_free(&o);
    free(command);
    free(ncube);
    free(program);
    free(path);
    folder_remove(folder);
}

static const struct refused {
    const char *options[3];
    int status;
    const char *words[3];
} refused[] = {
    {{"--trace=/dev/full"}, FAILED, {"/dev/full", "No space left", "no trace"}},
    {{"--trace=/dev/full", "--trace-format=chrome"}, FAILED, {"/dev/full", "No space left", "no trace"}},
    {{"--trace=t", "--trace-format=csv"}, 2, {"'csv'", "text, chrome or picl"}},
    {{"--trace=t", "--trace-from=2", "--trace-to=1ms"}, 2, {"2 s", "0.001 s", "later"}},
    {{"--trace=t", "--trace-from=soon"}, 2, {"trace-from", "'soon'", "250ms"}},
    {{"--trace=t", "--trace-to=-1"}, 2, {"trace-to", "'-1'"}},
    {{"--trace=t", "--trace-limit=63K"}, 2, {"trace-limit", "'63K'", "64K"}},
    {{"--trace=t", "--trace-limit=99999999999G"}, 2, {"trace-limit", "99999999999G"}},
    {{"--trace=t", "--trace-nodes=0-2"}, FAILED, {"'0-2'", "0-1"}},
    {{"--trace=t", "--trace-nodes=1-0"}, FAILED, {"'1-0'"}},
    {{"--trace=t", "--trace-nodes=1,,0"}, FAILED, {"''"}},
    {{"--trace-nodes=1"}, 2, {"--trace-nodes", "--trace=FILE"}},
};

Test(trace, what_is_wrong_is_said_in_one_line_and_nothing_is_left)
{
    char *folder = folder_new(), *old = getcwd(NULL, 0);

    cr_assert_eq(chdir(folder), 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refused *r = &refused[i];
        struct outcome o = ncube_run(&(struct ncube_run){
            .dim = "1", .program = "examples/hello", .options = {r->options[0], r->options[1], r->options[2]}});

        cr_expect_eq(o.status, r->status, "%s: %s", r->options[0], o.err);
        cr_expect_eq(count_lines(o.err), 1, "%s: %s", r->options[0], o.err);
        for (int k = 0; k < 3 && r->words[k]; k++)
            cr_expect(strstr(o.err, r->words[k]) != NULL, "no '%s' in: %s", r->words[k], o.err);
        cr_expect_neq(access("t", F_OK), 0, "%s: a file is left", r->options[1]);
        outcome_free(&o);
    }
    cr_assert_eq(chdir(old), 0);
    free(old);
    folder_remove(folder);
}
