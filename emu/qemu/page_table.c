#include "emu/qemu/page_table.h"

#include <string.h>

#include "vertex/contract/machine.h"

#define PPN           0xfffffffffffull
#define VA_BITS       39
#define LOWEST_KERNEL CABINET_RAM_BASE

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

uint64_t page_table_root(uint64_t satp)
{
    return (satp & PPN) * NODE_PAGE_BYTES;
}

bool page_table_place(const struct page_memory *m, uint64_t satp, uint64_t va, struct page_place *p)
{
    uint64_t entry;
    int level = page_table_find(m, page_table_root(satp), va, &entry);

    if (level < 0)
        return false;
    uint64_t span, pa = page_table_address(entry, level, va, &span);
    *p = (struct page_place){
        .bytes = span, .writable = (entry & PTE_WRITE) != 0, .executable = (entry & PTE_EXECUTE) != 0};
    if (!(entry & PTE_VALID))
        return (entry & PTE_PROMISED) != 0 && va < LOWEST_KERNEL;
    size_t bytes = 0; /* the kernel's large page has more addresses than there is memory */
    p->at = m->at(m->ctx, pa, &bytes);
    p->bytes = bytes < p->bytes ? bytes : p->bytes;
    return p->at != NULL;
}

size_t page_table_read(const struct page_memory *m, uint64_t satp, uint64_t va, void *bytes, size_t n)
{
    size_t done = 0;
    struct page_place p;

    while (done < n && page_table_place(m, satp, va + done, &p)) {
        size_t piece = n - done < p.bytes ? n - done : p.bytes;

        if (p.at)
            memcpy((uint8_t *)bytes + done, p.at, piece);
        else
            memset((uint8_t *)bytes + done, 0, piece);
        done += piece;
    }
    return done;
}
