/*
 * The tables and pages of a space (vm_tables.h).
 */
#include "vertex/memory/vm_tables.h"

#include <stddef.h>

#include "vertex/memory/copy.h"
#include "vertex/memory/page.h"

uint64_t addr_window;

/* Filled pages to the next fence for the host's sake (vm.h), and between the last two; a new space begins anew. */
#define FENCE_FILLS 192u /* three quarters of QEMU's first TLB */
static uint32_t fills_left, fills_apart;

pte_t *vm_table_new(void)
{
    pte_t *table = page_alloc(MEM_PROCESS, 1);

    if (table)
        copy_zero(table, PAGE_BYTES);
    return table;
}

pte_t *vm_table_below(pte_t *entry, bool create)
{
    if (!*entry) {
        pte_t *table = create ? vm_table_new() : NULL;

        if (!table)
            return NULL;
        *entry = PTE_FROM_MACHINE(addr_to_machine(table)) | PTE_V;
    }
    return vm_table_of(*entry);
}

pte_t *vm_walk(const struct vm *vm, uint64_t va, bool create)
{
    if (va >= VM_USER_END)
        return NULL;
    pte_t *middle = vm_table_below(&vm->root[VM_INDEX(va, 2)], create);
    pte_t *leaf = middle ? vm_table_below(&middle[VM_INDEX(va, 1)], create) : NULL;
    return leaf ? &leaf[VM_INDEX(va, 0)] : NULL;
}

static void fence_for_host(void)
{
    vm_fence();
    fills_apart *= 2;
    fills_left = fills_apart;
}

void vm_entry_fill(const struct vm *vm, uint64_t va, pte_t *entry)
{
    void *page = page_take_promised(vm_home_of(vm, va));

    copy_zero(page, PAGE_BYTES);
    vm_entry_set_page(entry, page, *entry & PTE_RIGHTS);
    if (--fills_left == 0)
        fence_for_host();
}

void vm_entry_drop(pte_t *entry)
{
    if (*entry & PTE_V) {
        if (!(*entry & PTE_SHARED))
            page_free(MEM_PROCESS, vm_entry_page(*entry), 1);
    } else if (*entry & PTE_DEMAND) {
        page_release(1);
    }
    *entry = 0;
}

void *vm_resolve(struct vm *vm, uint64_t va, pte_t right)
{
    pte_t *entry = vm_walk(vm, va, false);

    if (!entry || !(*entry & right))
        return NULL;
    if (!(*entry & PTE_V))
        vm_entry_fill(vm, va, entry);
    return (char *)vm_own_page(vm, va, *entry) + va % PAGE_BYTES;
}

void vm_fills_begin(void)
{
    fills_left = fills_apart = FENCE_FILLS;
}
