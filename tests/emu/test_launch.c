#include "emu/link/launch.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "emu/link/link.h"
#include "vertex/contract/machine.h"

static char *words_a[] = {"a", "", "two words", NULL}, *words_b[] = {"./b", NULL};
static const struct job_program programs[] = {{"a", NULL, words_a, 3, 5, false, 2, NULL},
                                              {"/bin/b", NULL, words_b, 1, 0, true, 1, NULL}};
static const struct job_options options = {.dim = 3,
                                           .program = programs,
                                           .programs = 2,
                                           .serve = "data",
                                           .status_rule = JOB_STATUS_NODE0,
                                           .label = true,
                                           .waits = true,
                                           .stack_bytes = 1,
                                           .heap_bytes = 2,
                                           .comm_bytes = 3};

Test(launch, comes_out_as_it_went_in_with_absolute_paths)
{
    static struct launch l;
    size_t n;
    uint8_t *bytes = launch_pack(&options, "/home/u", &n);

    cr_assert_not_null(bytes);
    cr_assert_eq(launch_unpack(&l, bytes, n), 0);
    cr_expect_eq(l.job.dim, 3);
    cr_expect(l.job.stack_bytes == 1 && l.job.heap_bytes == 2 && l.job.comm_bytes == 3);
    cr_expect_eq(l.job.programs, 2);
    cr_expect_str_eq(l.job.serve, "/home/u/data");
    cr_expect_eq(l.job.status_rule, JOB_STATUS_NODE0);
    cr_expect(l.job.label && l.job.waits && !l.job.registers && !l.job.keeps_going);
    cr_expect_str_eq(l.program[0].path, "/home/u/a");
    cr_expect_eq(l.program[0].nodes, 5);
    cr_expect_eq(l.program[0].argc, 3);
    for (int i = 0; i < 3; i++)
        cr_expect_str_eq(l.program[0].argv[i], words_a[i]);
    cr_expect_null(l.program[0].argv[3]);
    cr_expect_str_eq(l.program[1].path, "/bin/b");
    cr_expect_str_eq(l.program[1].argv[0], "./b");
    launch_free(&l);
    free(bytes);
}

Test(launch, without_a_folder_serves_none)
{
    static struct launch l;
    struct job_options o = options;
    size_t n;

    o.serve = NULL;
    uint8_t *bytes = launch_pack(&o, "/", &n);
    cr_assert_eq(launch_unpack(&l, bytes, n), 0);
    cr_expect_null(l.job.serve);
    launch_free(&l);
    free(bytes);
}

Test(launch, that_is_too_long_is_not_packed)
{
    char *huge = malloc(LINK_MESSAGE_MAX_BYTES + 1), *words[] = {"a", huge, NULL};
    const struct job_program p = {"a", NULL, words, 2, 0, false, 0, NULL};
    const struct job_options o = {.program = &p, .programs = 1};
    size_t n;

    memset(huge, 'x', LINK_MESSAGE_MAX_BYTES);
    huge[LINK_MESSAGE_MAX_BYTES] = '\0';
    cr_expect_null(launch_pack(&o, "/", &n));
    free(huge);
}

Test(launch, that_is_cut_off_or_goes_on_is_refused)
{
    static struct launch l;
    size_t n;
    uint8_t *bytes = launch_pack(&options, "/", &n);

    for (size_t k = 0; k < n; k++) {
        uint8_t *part = malloc(k + 1); /* exactly so long, for tools that watch memory */

        memcpy(part, bytes, k);
        cr_expect_eq(launch_unpack(&l, part, k), -1, "%zu of %zu bytes", k, n);
        free(part);
    }
    uint8_t *more = calloc(1, n + 1);
    memcpy(more, bytes, n);
    cr_expect_eq(launch_unpack(&l, more, n + 1), -1);
    free(more);
    free(bytes);
}

Test(launch, of_random_changes_does_no_harm)
{
    static struct launch l;
    unsigned seed = 5;
    size_t n;
    uint8_t *bytes = launch_pack(&options, "/", &n);

    for (int i = 0; i < 20000; i++) {
        uint8_t *copy = malloc(n);

        memcpy(copy, bytes, n);
        for (int k = rand_r(&seed) % 4; k >= 0; k--)
            copy[(size_t)rand_r(&seed) % n] = (uint8_t)(rand_r(&seed) % 3 ? rand_r(&seed) : 0);
        if (launch_unpack(&l, copy, n) == 0) {
            cr_assert(l.job.programs >= 1 && l.job.programs <= JOB_PROGRAMS_MAX && l.job.dim <= NODE_MAX_DIM);
            for (uint32_t p = 0; p < l.job.programs; p++)
                cr_assert(l.program[p].path[0] == '/' && l.program[p].argv[l.program[p].argc] == NULL);
            launch_free(&l);
        }
        free(copy);
    }
    free(bytes);
}
