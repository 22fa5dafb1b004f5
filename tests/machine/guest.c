/* Runs of guest programs: see guest.h. */
#include "tests/machine/guest.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *folder_of_programs(const char *const *program)
{
    char *folder = folder_new();

    for (; *program != NULL; program++) {
        char *path = build_path(*program);

        command_must_succeed((char *[]){"cp", path, folder, NULL});
        free(path);
    }
    return folder;
}

void guest_must_pass(const struct ncube_run *r)
{
    char *name = format("%s, %s", r->program, r->args[0]);

    outcome_must_be(ncube_run(r), name, 0, "passed\n", "");
    free(name);
}

void lines_must_be_whole(struct outcome *o, int nodes, int lines)
{
    int next[nodes], node, line, end;

    memset(next, 0, sizeof next);
    for (char *at = strtok(o->out, "\n"); at != NULL; at = strtok(NULL, "\n")) {
        if (strcmp(at, "passed") == 0)
            continue;
        cr_assert(sscanf(at, "node %d line %d%n", &node, &line, &end) == 2 && at[end] == '\0', "broken: %s", at);
        cr_assert(node >= 0 && node < nodes && line == next[node]++, "out of order: %s", at);
    }
    for (node = 0; node < nodes; node++)
        cr_expect_eq(next[node], lines, "node %d: %d lines", node, next[node]);
}

void guest_must_end(const char *program, const struct guest_end *e, const char *served, const char *faults)
{
    char *folder = folder_new(), *more = format("faults = ( %s );\n", faults ? faults : "");
    char *machine = machine_file(folder, atoi(e->dim), 0, more);

    outcome_must_be(
        ncube_run(&(struct ncube_run){
            .dim = e->dim, .machine = faults ? machine : NULL, .serve = served, .program = program, .args = {e->name}}),
        e->name, e->status, e->out, e->err);
    free(machine);
    free(more);
    folder_remove(folder);
}

/* ---- Runs that repeat ---- */

/* Both have the same trace, to the byte: an ordinary run, and one that does not run ahead, which takes long, and so in
 * every third version of the system, or else one on a single processor. */
#define RUNS 2

static const char *way_of(int run, const struct ncube_run *r)
{
    size_t sum = 0;

    for (const char *c = r->program; *c; c++)
        sum += (size_t)*c;
    for (const char *c = r->args[0] ? r->args[0] : ""; *c; c++)
        sum += (size_t)*c;
    return run == 0 ? "--sync=ahead" : is_drawn(sum, 3) ? "--sync=strict" : "--cores=1";
}

struct trace {
    char *text;
    size_t bytes;
};

/* Runs with one more option, with its trace in the folder. out, err: NULL: any. */
static struct trace run_traced(struct ncube_run r, const char *folder, const char *option, const char *out,
                               const char *err)
{
    char *path = format("%s/trace", folder), *name = format("%s, %s, %s", r.program, r.args[0], option);
    struct trace t;
    size_t at = 0;

    while (r.options[at] != NULL)
        at++;
    cr_assert_lt(at, sizeof r.options / sizeof *r.options);
    r.options[at] = option;
    r.trace = path;
    struct outcome o = ncube_run(&r);
    outcome_expect(&o, name, r.may_fail ? o.status : 0, out, err ? err : o.err);
    t.text = file_read(folder, "trace", &t.bytes);
    outcome_free(&o);
    free(name);
    free(path);
    return t;
}

static void expect_same_trace(struct trace t[RUNS], const struct ncube_run *r)
{
    cr_expect(t[0].bytes > 0 && t[0].bytes == t[1].bytes && memcmp(t[0].text, t[1].text, t[0].bytes) == 0,
              "%s, %s: another trace", r->program, r->args[0]);
    for (int i = 0; i < RUNS; i++)
        free(t[i].text);
}

void guest_must_repeat(const struct ncube_run *r)
{
    char *folder = folder_new();
    struct trace t[RUNS];

    for (int i = 0; i < RUNS; i++)
        t[i] = run_traced(*r, folder, way_of(i, r), "passed\n", "");
    expect_same_trace(t, r);
    folder_remove(folder);
}

void ncube_must_repeat_on(const struct images_of_test *images, struct ncube_run r, const char *out)
{
    struct trace t[RUNS];

    for (int i = 0; i < RUNS; i++) {
        char *folder = folder_with_images(images->volumes, images->kilobytes, images->block_bytes);
        char *machine = images->machine(folder, images->volumes);

        r.machine = machine;
        t[i] = run_traced(r, folder, way_of(i, &r), out, NULL);
        free(machine);
        folder_remove(folder);
    }
    expect_same_trace(t, &r);
}

static char *machine_of_eight(const char *folder, int volumes)
{
    return machine_file(folder, 3, volumes, "");
}

void ncube_must_repeat_on_volumes(struct ncube_run r, int volumes)
{
    const struct images_of_test images = {volumes, 1024, 1024, machine_of_eight};

    ncube_must_repeat_on(&images, r, NULL);
}
