/*
 * The same work on plain QEMU, without plugin and kernel: every hart computes, the last one to end stops QEMU with
 * status 0. As under Vertex, the harts compute in U-mode, and Sv39 maps memory by pages of 4 KB.
 *
 * Compiled with -DHARTS=n -DTURNS=n and a work (work.h).
 */
#include "tests/bench/work.h"

#define BASE        0x80000000u /* of memory */
#define TABLES      16u         /* of 2 MB each */
#define ENTRIES     512u
#define PAGE_BYTES  4096u
#define PTE_TABLE   0x01u
#define PTE_PAGE    0xdfu /* valid, all rights, user, accessed and dirty */
#define SATP_SV39   (8ull << 60)
#define ECALL_USER  8u
#define TEST_DEVICE 0x100000u /* of QEMU's virt machine */
#define TEST_PASS   0x5555u
#define TEST_FAIL   0x13333u

__attribute__((aligned(PAGE_BYTES))) static uint64_t root[ENTRIES], middle[ENTRIES], leaf[TABLES][ENTRIES];
static uint64_t memory[HARTS][WORK_WORDS];
static uint64_t ended;

uint64_t plain_prepare(void);
void plain_main(uint64_t hart);
void plain_trap(uint64_t cause);

static uint64_t entry(const void *to, uint64_t bits)
{
    return (uint64_t)to >> 12 << 10 | bits;
}

/* Maps memory where it lies. All harts write the same tables. Returns satp. */
uint64_t plain_prepare(void)
{
    root[BASE >> 30] = entry(middle, PTE_TABLE);
    for (uint64_t i = 0; i < TABLES; i++)
        middle[i] = entry(leaf[i], PTE_TABLE);
    for (uint64_t i = 0; i < TABLES * ENTRIES; i++)
        leaf[i / ENTRIES][i % ENTRIES] = entry((const char *)BASE + i * PAGE_BYTES, PTE_PAGE);
    return SATP_SV39 | (uint64_t)root / PAGE_BYTES;
}

void plain_main(uint64_t hart)
{
    volatile uint64_t sum = work(TURNS, memory[hart]);

    (void)sum;
}

void plain_trap(uint64_t cause)
{
    if (cause != ECALL_USER)
        *(volatile uint32_t *)TEST_DEVICE = TEST_FAIL;
    else if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) == HARTS)
        *(volatile uint32_t *)TEST_DEVICE = TEST_PASS;
    for (;;)
        __asm__ volatile("wfi");
}
