/*
 * The tables and pages of a space, for vm.c, vm_text.c and vm_bytes.c only. Every page that a space gets is filled
 * here.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/base/addr.h"
#include "vertex/contract/abi.h"
#include "vertex/memory/vm.h"

#define PTE_RIGHTS (PTE_R | PTE_W | PTE_X)
#define PTE_USER   (PTE_U | PTE_A | PTE_D)

static inline void vm_fence(void)
{
    asm volatile("sfence.vma" : : : "memory");
}

static inline pte_t *vm_table_of(pte_t pte)
{
    return addr_from_machine(PTE_TO_MACHINE(pte));
}

/* Returns an empty table, or NULL. */
pte_t *vm_table_new(void);
/* Returns the table that an entry points to. If it points to none, allocates one with `create`, else returns NULL. */
pte_t *vm_table_below(pte_t *entry, bool create);
/* Returns the last-level entry of a user address; NULL if it has no table, or there is no memory for one. */
pte_t *vm_walk(const struct vm *vm, uint64_t va, bool create);

/* Returns the number of pages from va to `high` or to the end of va's table. */
static inline uint64_t vm_entries_in_table(uint64_t va, uint64_t high)
{
    uint64_t table_end = (va / VM_MIDDLE_BYTES + 1) * VM_MIDDLE_BYTES;

    return ((high < table_end ? high : table_end) - va) / PAGE_BYTES;
}

static inline void vm_entry_set_page(pte_t *entry, void *page, pte_t rights)
{
    *entry = PTE_FROM_MACHINE(addr_to_machine(page)) | rights | PTE_USER | PTE_V;
}

static inline void *vm_entry_page(pte_t entry)
{
    return addr_from_machine(PTE_TO_MACHINE(entry));
}

static inline void *vm_home_of(const struct vm *vm, uint64_t va)
{
    return PAGE_ROUND_DOWN(va) < vm->stack_low ? vm->home + (PAGE_ROUND_DOWN(va) - USER_TEXT_VA)
                                               : vm->home_top - (USER_STACK_TOP - PAGE_ROUND_DOWN(va));
}

/* The page of a space's own that a valid entry maps, or stands for: moved text is executed elsewhere. Vertex never
 * follows such an entry, so that its cycles do not depend on where that is. */
static inline void *vm_own_page(const struct vm *vm, uint64_t va, pte_t entry)
{
    return entry & PTE_MOVED ? vm->home + (PAGE_ROUND_DOWN(va) - USER_TEXT_VA) : vm_entry_page(entry);
}

/* Allocates a promised page, of zeros. */
void vm_entry_fill(const struct vm *vm, uint64_t va, pte_t *entry);
/* Clears the entry, and frees its page or takes the promise back. */
void vm_entry_drop(pte_t *entry);
/* Returns the kernel address of the byte at va, after filling a promised page; NULL: the program lacks the right. */
void *vm_resolve(struct vm *vm, uint64_t va, pte_t right);
/* A new space: fences for the host's sake (vm.h) begin anew. */
void vm_fills_begin(void);

/* ---- vm_text.c ---- */

/* Frees the pages of moved text, whose entries map other pages. */
void vm_drop_moved_text(struct vm *vm);
