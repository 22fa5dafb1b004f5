/*
 * What the plugin costs a node that computes, by the instructions of the host that QEMU generates for it: an iteration
 * of `integer` in variants (counted.S), each measured in turn with the others; the best of ROUNDS. `make bench-counted`
 * prints a table: what the variant has, ns for an iteration, and the ratio of plain QEMU's to it.
 *
 * The last three variants are what a changed QEMU would generate. No QEMU is involved.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS      12
#define ITERATIONS  30000000u /* the counter does not reach its limit */
#define SHORT_ONES  300000u
#define ENV_BYTES   0x10000
#define PAGE_BYTES  4096u
#define TABLE_AT    0x200000u /* the table's address on the node */
#define TLB_ENTRIES 256u

typedef void counted_fn(void *env);
counted_fn counted_plain, counted_nothing, counted_addition, counted_as_it_is, counted_one_hart, counted_one_address,
    counted_entry, counted_no_values, counted_in_env;
extern uint64_t counted_score[];

static const struct variant {
    const char *name;
    counted_fn *run;
} variants[] = {
    {"plain QEMU", counted_plain},
    {"a plugin with nothing", counted_nothing},
    {"the addition", counted_addition},
    {"the comparison, then the addition: as it is", counted_as_it_is},
    {"the same in a QEMU with one hart", counted_one_hart},
    {"the address of the counter computed once", counted_one_address},
    {"as it is, without values of accesses", counted_no_values},
    {"without them, and the counter's address in env", counted_entry},
    {"without them, and the counter itself in env", counted_in_env},
};
#define VARIANTS (sizeof variants / sizeof *variants)

static struct {
    uint64_t read, write, execute, addend;
} tlb[TLB_ENTRIES];
static uint8_t area[ENV_BYTES] __attribute__((aligned(PAGE_BYTES)));
static uint32_t iterations = ITERATIONS;
static uint64_t table[PAGE_BYTES / 8] __attribute__((aligned(PAGE_BYTES)));

static void put(uint8_t *env, int offset, uint64_t value)
{
    memcpy(env + offset, &value, sizeof value);
}

/* The registers of the node and the parts of env that the code uses. */
static uint8_t *prepare(void)
{
    uint8_t *env = area + ENV_BYTES / 2;
    const uint64_t mask = (TLB_ENTRIES - 1) * sizeof *tlb, at = (TABLE_AT >> 7 & mask) / sizeof *tlb;

    memset(area, 0, sizeof area);
    memset(tlb, 0xff, sizeof tlb);
    tlb[at].read = tlb[at].write = TABLE_AT;
    tlb[at].addend = (uint64_t)(uintptr_t)table - TABLE_AT;
    put(env, -0x120, mask);
    put(env, -0x118, (uint64_t)(uintptr_t)tlb);
    put(env, -0x2908, (uint64_t)(uintptr_t)counted_score);
    put(env, 0x50, iterations);
    put(env, 0x58, TABLE_AT);
    put(env, 0x70, 88172645463325252u);
    put(env, 0x80, 1442695040888963407u);
    put(env, 0x88, 6364136223846793005u);
    counted_score[0] = 0;
    return env;
}

static double processor_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double measure(const struct variant *v)
{
    uint8_t *env = prepare();
    double begun = processor_ns();

    v->run(env);
    return (processor_ns() - begun) / iterations;
}

int main(void)
{
    double best[VARIANTS];

    if (getenv("SHORT"))
        iterations = SHORT_ONES;
    for (size_t k = 0; k < VARIANTS; k++)
        best[k] = measure(&variants[k]);
    for (int round = 1; round < ROUNDS; round++)
        for (size_t k = 0; k < VARIANTS; k++) {
            double ns = measure(&variants[k]);

            best[k] = ns < best[k] ? ns : best[k];
        }
    for (size_t k = 0; k < VARIANTS; k++)
        printf("%-50s %6.2f ns %6.2f\n", variants[k].name, best[k], best[0] / best[k]);
    return 0;
}
