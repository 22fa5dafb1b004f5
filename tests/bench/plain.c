/* The same work on plain QEMU, no plugin: every hart computes, the last to end stops the machine. */
#include "tests/bench/work.h"

/* Numbers that the linker is told: the addresses of symbols. */
extern char turns_symbol[], harts_symbol[];
static uint64_t ended;

void plain_main(void)
{
    uint64_t table[WORK_TABLE]; /* on the hart's own stack */
    volatile uint64_t sum = work((uint64_t)turns_symbol, table);

    (void)sum;
    if (__atomic_add_fetch(&ended, 1, __ATOMIC_SEQ_CST) == (uint64_t)harts_symbol)
        *(volatile uint32_t *)0x100000 = 0x5555; /* QEMU's test device: power off */
    for (;;)
        ;
}
