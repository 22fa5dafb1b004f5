/*
 * Address spaces: made and freed, ranges of promised pages, faults, loading, the heap (vm.h). Their tables are in
 * vm_tables.c, text that is executed elsewhere and copies of a whole space in vm_text.c, a program's bytes in
 * vm_bytes.c.
 */
#include "vertex/memory/vm.h"

#include <stdbool.h>

#include "vertex/base/addr.h"
#include "vertex/base/csr.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/vm_tables.h"

#define ROOT_USER_ENTRIES VM_INDEX(VM_USER_END, 2)

const pte_t *vm_active_root; /* of satp */

__attribute__((aligned(PAGE_BYTES))) pte_t vm_kernel_root[VM_TABLE_ENTRIES], vm_kernel_middle[VM_TABLE_ENTRIES],
    vm_kernel_leaf[VM_TABLE_ENTRIES];

/* ---- Making ---- */

int vm_init(struct vm *vm)
{
    uint64_t pages;
    char *run = page_longest_run(&pages);

    *vm = (struct vm){.root = vm_table_new()};
    vm_fills_begin();
    vm->home = run + pages / VM_HOME_SKIP * PAGE_BYTES;
    vm->home_top = run + pages * PAGE_BYTES;
    if (!vm->root)
        return -N_ENOMEM;
    for (unsigned i = ROOT_USER_ENTRIES; i < VM_TABLE_ENTRIES; i++)
        vm->root[i] = vm_kernel_root[i];
    return 0;
}

void vm_activate(const struct vm *vm)
{
    vm_active_root = vm ? vm->root : NULL;
    csr_write(satp, SATP_SV39 | addr_to_machine(vm ? vm->root : vm_kernel_root) / PAGE_BYTES);
    vm_fence();
}

int vm_fault(struct vm *vm, uint64_t va, pte_t right)
{
    pte_t *entry = vm_walk(vm, va, false);

    if (!entry || !(*entry & right))
        return -N_EFAULT;
    if (*entry & PTE_V)
        vm_fence();
    else
        vm_entry_fill(vm, va, entry);
    return 0;
}

/* ---- Ranges ---- */

/* Returns the number of entries of [low, high) that are 0, those of missing tables included. */
static uint64_t count_missing(const struct vm *vm, uint64_t low, uint64_t high)
{
    uint64_t missing = 0;

    for (uint64_t va = low, n; va < high; va += n * PAGE_BYTES) {
        const pte_t *entry = vm_walk(vm, va, false);

        n = vm_entries_in_table(va, high);
        if (!entry)
            missing += n;
        for (uint64_t i = 0; entry && i < n; i++)
            missing += entry[i] == 0;
    }
    return missing;
}

static bool is_empty(const pte_t *table)
{
    for (unsigned i = 0; i < VM_TABLE_ENTRIES; i++)
        if (table[i])
            return false;
    return true;
}

/* Frees the last-level tables of [low, high) that have no entries. */
static void remove_empty_tables(struct vm *vm, uint64_t low, uint64_t high)
{
    for (uint64_t va = low; va < high; va = (va / VM_MIDDLE_BYTES + 1) * VM_MIDDLE_BYTES) {
        pte_t *middle = vm_table_below(&vm->root[VM_INDEX(va, 2)], false);
        pte_t *entry = middle ? &middle[VM_INDEX(va, 1)] : NULL;
        if (entry && *entry && is_empty(vm_table_of(*entry))) {
            page_free(MEM_PROCESS, vm_table_of(*entry), 1);
            *entry = 0;
        }
    }
}

static int make_tables(struct vm *vm, uint64_t low, uint64_t high)
{
    for (uint64_t va = low; va < high; va += vm_entries_in_table(va, high) * PAGE_BYTES)
        if (!vm_walk(vm, va, true)) {
            remove_empty_tables(vm, low, high);
            return -N_ENOMEM;
        }
    return 0;
}

static void promise_missing(struct vm *vm, uint64_t low, uint64_t high, pte_t rights)
{
    for (uint64_t va = low, n; va < high; va += n * PAGE_BYTES) {
        pte_t *entry = vm_walk(vm, va, false);

        n = vm_entries_in_table(va, high);
        for (uint64_t i = 0; i < n; i++)
            if (entry[i] == 0)
                entry[i] = PTE_DEMAND | rights;
    }
}

/* Promises the pages first: a range for which the memory does not suffice gets no tables. */
int vm_add_zero(struct vm *vm, uint64_t low, uint64_t high, pte_t rights)
{
    low = PAGE_ROUND_DOWN(low);
    high = PAGE_ROUND_UP(high);
    uint64_t missing = count_missing(vm, low, high); /* of less than 2 GB */
    if (!page_promise(missing))
        return -N_ENOMEM;
    if (make_tables(vm, low, high) != 0) {
        page_release(missing);
        return -N_ENOMEM;
    }
    promise_missing(vm, low, high, rights);
    return 0;
}

static void remove_pages(struct vm *vm, uint64_t low, uint64_t high)
{
    for (uint64_t va = low; va < high; va += PAGE_BYTES) {
        pte_t *entry = vm_walk(vm, va, false);

        if (entry)
            vm_entry_drop(entry);
    }
    vm_fence();
}

/* Returns a page of which vm_load is about to write [from, to), and clears the rest if the page is new. */
static void *page_for_load(struct vm *vm, uint64_t va, uint64_t from, uint64_t to, pte_t rights)
{
    pte_t *entry = vm_walk(vm, va, true);

    if (!entry)
        return NULL;
    if (*entry & PTE_V) {
        *entry |= rights;
    } else if (*entry & PTE_DEMAND) {
        *entry |= rights;
        vm_entry_fill(vm, va, entry);
    } else {
        if (!page_promise(1))
            return NULL;
        char *page = page_take_promised(vm_home_of(vm, va));
        copy_zero(page, from);
        copy_zero(page + to, PAGE_BYTES - to);
        vm_entry_set_page(entry, page, rights);
    }
    return vm_entry_page(*entry);
}

int vm_load(struct vm *vm, uint64_t va, const void *bytes, uint64_t n, pte_t rights)
{
    const char *source = bytes;

    if (rights & PTE_X && va + n > vm->text_high)
        vm->text_high = va + n;
    while (n > 0) {
        uint64_t from = va % PAGE_BYTES;
        uint64_t piece = PAGE_BYTES - from < n ? PAGE_BYTES - from : n;
        char *page = page_for_load(vm, va, from, from + piece, rights);

        if (!page)
            return -N_ENOMEM;
        copy_bytes(page + from, source, piece);
        va += piece, source += piece, n -= piece;
    }
    return 0;
}

int vm_map_shared(struct vm *vm, uint64_t va, uint64_t machine, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
        pte_t *entry = vm_walk(vm, va + at, true);

        if (!entry)
            return -N_ENOMEM;
        *entry = PTE_FROM_MACHINE(machine + at) | PTE_R | PTE_X | PTE_USER | PTE_SHARED | PTE_V;
    }
    return 0;
}

/* ---- The heap ---- */

/* Clears the part of the last page that the heap gives up, as the heap may grow into it again. */
static void clear_tail(struct vm *vm, uint64_t low, uint64_t old)
{
    const pte_t *entry = vm_walk(vm, low, false);
    uint64_t page_end = PAGE_ROUND_UP(low), high = old < page_end ? old : page_end;

    if (entry && *entry & PTE_V && low < high)
        copy_zero((char *)vm_entry_page(*entry) + low % PAGE_BYTES, high - low);
}

int64_t vm_move_break(struct vm *vm, int64_t increment)
{
    uint64_t old = vm->break_now, wanted = old + increment;

    if (increment < 0 && (wanted < vm->break_low || wanted > old))
        return -N_EINVAL;
    if (increment > 0 &&
        (wanted < old || wanted > vm->stack_low - VM_GUARD_BYTES || wanted - vm->break_low > vm->heap_bytes ||
         wanted - old > ((uint64_t)page_free_count() + 1) * PAGE_BYTES)) /* without reading the tables */
        return -N_ENOMEM;
    if (increment > 0) {
        int error = vm_add_zero(vm, PAGE_ROUND_UP(old), wanted, PTE_R | PTE_W);

        if (error)
            return error;
    } else if (increment < 0) {
        remove_pages(vm, PAGE_ROUND_UP(wanted), PAGE_ROUND_UP(old));
        clear_tail(vm, wanted, old);
    }
    vm->break_now = wanted;
    return old;
}

/* ---- Freeing ---- */

static void free_leaf(pte_t *leaf)
{
    for (unsigned i = 0; i < VM_TABLE_ENTRIES; i++)
        if (leaf[i])
            vm_entry_drop(&leaf[i]);
    page_free(MEM_PROCESS, leaf, 1);
}

static void free_middle(pte_t *middle)
{
    for (unsigned i = 0; i < VM_TABLE_ENTRIES; i++)
        if (middle[i])
            free_leaf(vm_table_of(middle[i]));
    page_free(MEM_PROCESS, middle, 1);
}

void vm_free(struct vm *vm)
{
    vm_drop_moved_text(vm);
    for (unsigned i = 0; i < ROOT_USER_ENTRIES; i++)
        if (vm->root[i])
            free_middle(vm_table_of(vm->root[i]));
    page_free(MEM_PROCESS, vm->root, 1);
    vm->root = NULL;
}
