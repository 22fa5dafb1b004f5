/* Programs on machines without I/O nodes, in one table: what they print and how they end. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#include "tests/machine/command.h"

struct program {
    char name[64];
    char dim[4];
    char program[64];      /* below the build folder */
    char args[4][64];
    char input[64];
    int status;
    char out[256];         /* exactly */
    char err[256];         /* occurs in standard error; empty: nothing is there */
};

static struct program programs[] = {
    {"one node says hello", "0", "examples/hello", {""}, "", 0, "hello from node 0 of 1\n", ""},
    {"a status of zero", "0", "guest/status", {"0"}, "", 0, "", ""},
    {"a status is passed on", "0", "guest/status", {"42"}, "", 42, "", ""},
    {"the highest status of the nodes counts", "2", "guest/status", {"7"}, "", 10, "", ""},
};

ParameterizedTestParameters(programs, end_as_expected) {
    return cr_make_param_array(struct program, programs, sizeof programs / sizeof *programs);
}

ParameterizedTest(struct program *p, programs, end_as_expected) {
    char *ncube = build_path("bin/ncube"), *program = build_path(p->program);
    char *argv[12] = {ncube, "run", "-d", p->dim, program};
    for (int i = 0; i < 4 && p->args[i][0] != '\0'; i++)
        argv[5 + i] = p->args[i];
    struct outcome o = command_run(argv, p->input);
    cr_expect_eq(o.status, p->status, "%s: status %d, not %d; %s", p->name, o.status, p->status, o.err);
    cr_expect_str_eq(o.out, p->out, "%s", p->name);
    cr_expect(p->err[0] != '\0' ? strstr(o.err, p->err) != NULL : o.err[0] == '\0', "%s: standard error: %s", p->name,
              o.err);
    outcome_free(&o);
}
