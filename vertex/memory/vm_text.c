/*
 * Text that is executed elsewhere, and copies of a whole space (vm.h).
 */
#include "vertex/memory/vm.h"

#include <stdbool.h>

#include "vertex/base/addr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/vm_tables.h"

#define PTE_NEXT_PAGE PTE_FROM_MACHINE(PAGE_BYTES) /* difference of the entries for two adjacent pages */

/* ---- Text that is executed elsewhere ---- */

/* Pages that are all at home are contiguous: returns how many of n entries, from va on, are text at home. */
static uint64_t count_text_at_home(const struct vm *vm, uint64_t va, const pte_t *entry, uint64_t n)
{
    pte_t first = PTE_FROM_MACHINE(addr_to_machine(vm_home_of(vm, va))) | PTE_R | PTE_X | PTE_USER | PTE_V;
    uint64_t i = 0;

    while (i < n && entry[i] == first + i * PTE_NEXT_PAGE)
        i++;
    return i;
}

static void entries_move(pte_t *entry, uint64_t n, uint64_t machine)
{
    pte_t first = PTE_FROM_MACHINE(machine) | PTE_R | PTE_X | PTE_USER | PTE_V | PTE_MOVED;

    for (uint64_t i = 0; i < n; i++)
        entry[i] = first + i * PTE_NEXT_PAGE;
}

static void move_entries_of_text(struct vm *vm, uint64_t va, pte_t *entry, uint64_t n)
{
    for (uint64_t i = 0, run; i < n; i += run ? run : 1) {
        uint64_t at = va + i * PAGE_BYTES;

        run = count_text_at_home(vm, at, entry + i, n - i);
        if (run)
            entries_move(entry + i, run, ncu_text(vm_home_of(vm, at), run * PAGE_BYTES));
    }
}

static void drop_moved_entries(struct vm *vm, uint64_t va, pte_t *entry, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (entry[i] & PTE_V && entry[i] & PTE_MOVED) {
            page_free(MEM_PROCESS, vm_home_of(vm, va + i * PAGE_BYTES), 1);
            entry[i] = 0;
        }
}

static void for_each_table_of_text(struct vm *vm, void (*act)(struct vm *vm, uint64_t va, pte_t *entry, uint64_t n))
{
    uint64_t high = PAGE_ROUND_UP(vm->text_high);

    for (uint64_t va = USER_TEXT_VA, n; va < high; va += n * PAGE_BYTES) {
        pte_t *entry = vm_walk(vm, va, false);

        n = vm_entries_in_table(va, high);
        if (entry)
            act(vm, va, entry, n);
    }
}

void vm_move_text(struct vm *vm)
{
    for_each_table_of_text(vm, move_entries_of_text);
}

void vm_drop_moved_text(struct vm *vm)
{
    for_each_table_of_text(vm, drop_moved_entries);
}

/* ---- Copies of a whole space ---- */

static int copy_page(struct vm *vm, uint64_t va, const struct vm *space, pte_t from)
{
    pte_t *entry = vm_walk(vm, va, true);

    if (!entry)
        return -N_ENOMEM;
    if (from & PTE_SHARED) {
        *entry = from;
        return 0;
    }
    if (!*entry && !page_promise(1))
        return -N_ENOMEM;
    if (from & PTE_V) {
        void *page = page_take_promised(vm_home_of(vm, va));

        copy_bytes(page, vm_own_page(space, va, from), PAGE_BYTES);
        vm_entry_set_page(entry, page, from & PTE_RIGHTS);
    } else {
        *entry = from;
    }
    return 0;
}

static int copy_leaf(struct vm *vm, uint64_t va, const struct vm *from, const pte_t *leaf)
{
    int error = 0;

    for (unsigned i = 0; i < VM_TABLE_ENTRIES && !error; i++, va += PAGE_BYTES)
        if (leaf[i])
            error = copy_page(vm, va, from, leaf[i]);
    return error;
}

int vm_copy(struct vm *vm, const struct vm *from)
{
    int error = 0;

    for (uint64_t va = 0; va < USER_STACK_TOP && !error; va += VM_MIDDLE_BYTES) {
        const pte_t *middle = from->root[VM_INDEX(va, 2)] ? vm_table_of(from->root[VM_INDEX(va, 2)]) : NULL;

        if (middle && middle[VM_INDEX(va, 1)])
            error = copy_leaf(vm, va, from, vm_table_of(middle[VM_INDEX(va, 1)]));
    }
    vm->text_high = from->text_high;
    vm->break_low = from->break_low;
    vm->break_now = from->break_now;
    return error;
}
