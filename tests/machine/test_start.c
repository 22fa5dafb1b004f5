/* What a node of a large machine costs the host at least, as far as it can be counted without noise. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <string.h>
#include <sys/resource.h>

#include "tests/machine/command.h"

TestSuite(start, .timeout = 600);

/* Of ncube and its QEMUs, while hello runs. */
static long count_page_faults(const char *dim)
{
    struct rusage before, after;
    const struct ncube_run r = {.dim = dim, .program = "examples/hello"};

    getrusage(RUSAGE_CHILDREN, &before);
    struct outcome o = ncube_run(&r);
    getrusage(RUSAGE_CHILDREN, &after);
    cr_assert_eq(o.status, 0, "%s", o.err);
    outcome_free(&o);
    return after.ru_minflt - before.ru_minflt;
}

/* 198 were counted: 130 in QEMU's own memory, the others in the node's and in what each process maps of it. Each costs
 * a microsecond and 4 KB. */
#define FAULTS_PER_NODE 225

Test(start, takes_no_more_page_faults_per_node)
{
    long few = count_page_faults("6"), many = count_page_faults("8"), per_node = (many - few) / (256 - 64);

    cr_expect_leq(per_node, FAULTS_PER_NODE, "%ld page faults on 64 nodes, %ld on 256: %ld for each more", few, many,
                  per_node);
}

/* Without them start takes a fifth longer, and nothing would say so. */
Test(start, finds_the_functions_of_qemu_that_make_it_faster)
{
    struct outcome o =
        command_run((char *[]){"sh", "-c", "nm -D --defined-only \"$(command -v qemu-system-riscv64)\"", NULL}, NULL);

    cr_assert_eq(o.status, 0, "%s", o.err);
    cr_expect(strstr(o.out, " T qemu_ram_addr_from_host\n"));
    cr_expect(strstr(o.out, " T cpu_physical_memory_test_and_clear_dirty\n"), "see emu/plugin/plugin_pages.c");
    outcome_free(&o);
}
