#include "emu/debug/page_table.h"

#include <string.h>

#include "vertex/contract/machine.h"

#define PPN     0xfffffffffffull
#define VA_BITS 39

int page_table_find(const struct page_memory *m, uint64_t root, uint64_t va, uint64_t *entry)
{
    uint64_t table = root;

    if (va >> (VA_BITS - 1) != 0 || table == 0)
        return -1;
    for (int level = PAGE_TABLE_LEVELS - 1; level >= 0; level--) {
        size_t bytes;
        const uint8_t *at = m->at(m->ctx, table + (va >> (12 + 9 * level) & 511) * sizeof *entry, &bytes);

        if (!at || bytes < sizeof *entry)
            return -1;
        memcpy(entry, at, sizeof *entry);
        if ((*entry & PTE_VALID) == 0 || (*entry & (PTE_READ | PTE_WRITE | PTE_EXECUTE)) != 0)
            return level;
        table = (*entry >> 10 & PPN) * NODE_PAGE_BYTES;
    }
    return -1;
}

uint64_t page_table_address(uint64_t entry, int level, uint64_t va, uint64_t *bytes)
{
    uint64_t span = (uint64_t)NODE_PAGE_BYTES << (9 * level), offset = va & (span - 1);

    *bytes = span - offset;
    return ((entry >> 10 & PPN) * NODE_PAGE_BYTES & ~(span - 1)) + offset;
}
