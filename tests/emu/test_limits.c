#include "emu/base/limits.h"

#include <criterion/criterion.h>
#include <string.h>
#include <sys/resource.h>

static const struct limits plenty = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};

Test(limits, the_one_that_is_too_low_is_named_with_what_is_needed_and_there)
{
    static const struct {
        struct limits needed, there;
        const char *words[3];
    } cases[] = {
        {{101, 1, 1, 1, 1}, {100, 9, 9, 9, 9}, {"needs 101 open files", "have 100", "ulimit -Hn"}},
        {{1, 8200, 1, 1, 1}, {9, 4096, 9, 9, 9}, {"needs 8200 threads", "have 4096", "ulimit -u"}},
        {{1, 1, 3 << 20, 1, 1},
         {9, 9, 2 << 20, 9, 9},
         {"needs 3 MB of address space in one process", "have 2", "ulimit -v"}},
        {{1, 1, 1, (3 << 20) + 1, 1}, {9, 9, 9, 2 << 20, 9}, {"needs 4 MB in one file", "have 2", "ulimit -f"}},
        {{1, 1, 1, 1, 5 << 20}, {9, 9, 9, 9, 4 << 20}, {"needs 5 MB of memory", "have 4", "fewer nodes"}},
    };
    char error[300];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_not(limits_suffice(&cases[i].needed, &cases[i].there, error, sizeof error), "case %zu", i);
        for (int k = 0; k < 3; k++)
            cr_expect_not_null(strstr(error, cases[i].words[k]), "case %zu: %s", i, error);
        cr_expect(limits_suffice(&cases[i].needed, &plenty, error, sizeof error), "case %zu", i);
        cr_expect(limits_suffice(&cases[i].needed, &cases[i].needed, error, sizeof error), "case %zu", i);
    }
}

Test(limits, of_descriptors_go_up_to_the_hard_one)
{
    struct rlimit before, after;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    before.rlim_max = 512;
    before.rlim_cur = 100;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
    cr_expect_eq(limits_raise().descriptors, 512);
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &after), 0);
    cr_expect_eq(after.rlim_cur, 512);
    cr_expect_eq(after.rlim_max, 512);
}

Test(limits, of_files_and_addresses_stay_as_they_are)
{
    struct rlimit l;

    cr_assert_eq(getrlimit(RLIMIT_FSIZE, &l), 0);
    l.rlim_cur = 7 << 20;
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &l), 0);
    cr_expect_eq(limits_raise().file_bytes, 7 << 20);
    cr_expect_gt(limits_raise().threads, 0);
}

/* Plausible on any host that can run this. */
Test(limits, of_memory_are_what_the_host_has)
{
    cr_expect_gt(limits_raise().memory_bytes, 16ull << 20);
    cr_expect_lt(limits_raise().memory_bytes, 1ull << 50);
}
