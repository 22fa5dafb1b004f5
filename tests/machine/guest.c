/* Runs of guest programs: see guest.h. */
#include "tests/machine/guest.h"

#include <criterion/criterion.h>
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
    struct outcome o = ncube_run(r);
    char *name = format("%s, %s", r->program, r->args[0]);

    outcome_expect(&o, name, 0, "passed\n", "");
    free(name);
    outcome_free(&o);
}

void guest_must_end(const char *program, const struct guest_end *e, const char *served, const char *faults)
{
    char *folder = folder_new(), *more = format("faults = ( %s );\n", faults ? faults : "");
    char *machine = machine_file(folder, atoi(e->dim), 0, more);
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = e->dim, .machine = faults ? machine : NULL, .serve = served, .program = program, .args = {e->name}});

    outcome_expect(&o, e->name, e->status, e->out, e->err);
    outcome_free(&o);
    free(machine);
    free(more);
    folder_remove(folder);
}

/* ---- Runs that repeat ---- */

static const char *const sync[] = {"--sync=ahead", "--sync=strict"};

void trace_must_repeat(struct first_trace *first, const char *folder, const char *run)
{
    size_t bytes;
    char *trace = file_read(folder, "trace", &bytes);

    cr_expect(first->text == NULL || (bytes == first->bytes && memcmp(trace, first->text, bytes) == 0),
              "%s: another trace", run);
    if (first->text == NULL)
        *first = (struct first_trace){trace, bytes};
    else
        free(trace);
}

void guest_must_repeat(const struct ncube_run *r)
{
    char *folder = folder_new(), *path = format("%s/trace", folder);
    struct first_trace first = {NULL, 0};
    struct ncube_run run = *r;
    size_t option = 0;

    while (run.options[option] != NULL)
        option++;
    run.trace = path;
    for (int i = 0; i < 2; i++) {
        run.options[option] = sync[i];
        guest_must_pass(&run);
        trace_must_repeat(&first, folder, sync[i]);
    }
    free(first.text);
    free(path);
    folder_remove(folder);
}

void ncube_must_repeat_on_volumes(struct ncube_run r, int volumes)
{
    struct first_trace first = {NULL, 0};

    for (int i = 0; i < 2; i++) {
        char *folder = folder_with_images(volumes, 1024, 1024), *machine = machine_file(folder, 3, volumes, "");
        char *path = format("%s/trace", folder);

        r.machine = machine;
        r.trace = path;
        r.options[0] = sync[i];
        struct outcome o = ncube_run(&r);
        cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
        trace_must_repeat(&first, folder, sync[i]);
        outcome_free(&o);
        free(path);
        free(machine);
        folder_remove(folder);
    }
    free(first.text);
}
