/*
 * A program's address space: Sv39, user pages below 0x80000000, Vertex's own mappings above.
 *
 *   0x0000_0000  +----------------+  never mapped
 *   0x0001_0000  | text, rodata   |  R, X    written by Vertex through its own mapping
 *                | data, bss      |  R, W
 *                | heap           |  R, W    grows by vm_move_break
 *                +----------------+
 *                | guard, stack   |  R, W
 *   0x7000_0000  +----------------+
 *   0x7800_0000  | message buffers|  R, W    mapped by ngetp and nreadp
 *   0x8000_0000  | Vertex's text  |  supervisor: one 1 GB entry of the root, the same in every root
 *   0xc0000000   | the window     |  supervisor
 *                +----------------+
 *
 * The page table is the only record. An entry is one of
 *   0                      nothing there
 *   PTE_DEMAND | rights    not valid: a page of zeros is promised (page.h) and comes at the first access
 *   PTE_V | rights         a page that belongs to the space, or, with PTE_SHARED, to the built-in program
 *   PTE_V | PTE_MOVED, R X text: the page of the space lies at home; the same bytes are executed where the entry says
 * Tables for promised pages are there from the start, so that a first access cannot fail.
 *
 * No sfence.vma when an entry becomes valid: a hart that still holds the old one faults again, and vm_fault fences
 * then.
 */
#ifndef VERTEX_VM_H
#define VERTEX_VM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vertex/memory/page.h"

typedef uint64_t pte_t;

#define VM_USER_END    0x80000000ull
#define VM_SHORT_BYTES 128u

#define PTE_V      0x001ull
#define PTE_R      0x002ull
#define PTE_W      0x004ull
#define PTE_X      0x008ull
#define PTE_U      0x010ull
#define PTE_G      0x020ull
#define PTE_A      0x040ull
#define PTE_D      0x080ull
#define PTE_SHARED 0x100ull /* for software: the page is not this space's to free */
#define PTE_DEMAND 0x200ull /* for software: with PTE_V clear, a promised page */
#define PTE_MOVED  0x200ull /* for software: with PTE_V set, the page of the space is not the one that is mapped */

#define PTE_FROM_MACHINE(pa) ((uint64_t)(pa) >> 12 << 10)
#define PTE_TO_MACHINE(pte)  ((pte) >> 10 << 12)
#define VM_INDEX(va, level)  (((uint64_t)(va) >> (12 + 9 * (level))) & 511)
#define VM_MIDDLE_BYTES      (1ull << 21) /* an entry of a level 1 table covers 2 MB */
#define VM_TABLE_ENTRIES     512
#define VM_GUARD_BYTES       0x10000ull /* never mapped, between heap and stack */

/* The root and tables that start.c builds. Every space's root has their entries for Vertex. */
extern pte_t vm_kernel_root[VM_TABLE_ENTRIES], vm_kernel_middle[VM_TABLE_ENTRIES], vm_kernel_leaf[VM_TABLE_ENTRIES];

/* Homes. So that a program's buffers lie in one piece, the page for address va is, if it is free,
 *
 *     home + (va - USER_TEXT_VA)             text, data, heap: upwards in the longest run of free memory
 *     home_top - (USER_STACK_TOP - va)       stack: downwards from that run's end
 *
 * The run's first VM_HOME_SKIP-th is left to the kernel, which takes the lowest free pages first.
 */
#define VM_HOME_SKIP 8u

#define USER_BUFFER_VA 0x78000000ull /* message buffers given to the program: USER_BUFFER_VA + node address */

struct vm {
    pte_t *root;
    char *home, *home_top;
    uint64_t heap_bytes; /* most */
    uint64_t break_low;  /* where the heap starts */
    uint64_t break_now;
    uint64_t stack_low;
    uint64_t text_high; /* no text lies above */
};

/* Functions that return int give 0 or a negative n_error. */

int vm_init(struct vm *vm); /* N_ENOMEM */
void vm_free(struct vm *vm);
void vm_activate(const struct vm *vm); /* NULL: Vertex's own table */

/* Promises pages of zeros for all of [low, high) that is not there yet. N_ENOMEM changes nothing. */
int vm_add_zero(struct vm *vm, uint64_t low, uint64_t high, pte_t rights);
/* Bytes of a program, copied by stores (DMA never writes what is executed). Rights add up in a page that two
 * parts share. N_ENOMEM. */
int vm_load(struct vm *vm, uint64_t va, const void *bytes, uint64_t n, pte_t rights);
/* When all of the text is there, and before the space is active: it is to be executed where the NCU says (NCU_TEXT).
 * The pages that were loaded stay the space's, as if they were used. Costs the same wherever that is. */
void vm_move_text(struct vm *vm);
/* Pages of the shared region, readable and executable. N_ENOMEM. */
int vm_map_shared(struct vm *vm, uint64_t va, uint64_t machine, uint64_t bytes);
/* All of `from`, shared pages excepted, copied into an empty space of the same layout. N_ENOMEM. */
int vm_copy(struct vm *vm, const struct vm *from);
/* Pages of a message buffer, which stay the message's; both take page aligned addresses. Returns where they are.
 * 0: no memory for tables. */
uint64_t vm_map_buffer(struct vm *vm, void *pages, uint64_t bytes);
uint64_t vm_buffer_address(const void *pages); /* of a mapped one */
void vm_unmap_buffer(struct vm *vm, void *pages, uint64_t bytes);
/* The heap's end moves by increment; what is new is zero. Returns the old one; N_ENOMEM, N_EINVAL (below the heap's
 * start). */
int64_t vm_move_break(struct vm *vm, int64_t increment);

/* A page fault at va for `right` (PTE_R, PTE_W or PTE_X): 0 if the access works now, else N_EFAULT. */
int vm_fault(struct vm *vm, uint64_t va, pte_t right);

/* The page table that is active; NULL: Vertex's own. */
extern const pte_t *vm_active_root;

/* A copy by the page table that is active, `to` or `from` being a program's; false if some page is not there, or not
 * for that: part of it may have been copied. touch_user (entry.S) leaves other registers alone. */
#ifdef __riscv
static inline bool vm_touch_user(void *to, const void *from, uint64_t bytes)
{
    register uint64_t a0 asm("a0") = (uint64_t)to;
    register uint64_t a1 asm("a1") = (uint64_t)from;
    register uint64_t a2 asm("a2") = bytes;

    asm volatile("call touch_user" : "+r"(a0), "+r"(a1), "+r"(a2) : : "ra", "t0", "t1", "t2", "memory");
    return a0 == 0;
}
#else
bool vm_touch_user(void *to, const void *from, uint64_t bytes); /* a host test's */
#endif

int vm_copy_in_by_pages(struct vm *vm, void *to, uint64_t from, uint64_t bytes);
int vm_copy_out_by_pages(struct vm *vm, uint64_t to, const void *from, uint64_t bytes);

/* May a copy go by vm_touch_user, if the page table is active? Longer ones are cheaper page by page. */
static inline bool vm_is_short(uint64_t va, uint64_t bytes)
{
    return bytes <= VM_SHORT_BYTES && va < VM_USER_END - VM_SHORT_BYTES;
}

static inline bool vm_is_short_here(const struct vm *vm, uint64_t va, uint64_t bytes)
{
    return vm_is_short(va, bytes) && vm->root == vm_active_root;
}

/* Between kernel memory and a program's, whatever pointer the program gave: N_EFAULT. */
static inline int vm_copy_in(struct vm *vm, void *to, uint64_t from, uint64_t bytes)
{
    if (vm_is_short_here(vm, from, bytes) && vm_touch_user(to, (const void *)from, bytes))
        return 0;
    return vm_copy_in_by_pages(vm, to, from, bytes);
}

static inline int vm_copy_out(struct vm *vm, uint64_t to, const void *from, uint64_t bytes)
{
    if (vm_is_short_here(vm, to, bytes) && vm_touch_user((void *)to, from, bytes))
        return 0;
    return vm_copy_out_by_pages(vm, to, from, bytes);
}

/* A string with its NUL in at most `size` bytes: its length, N_EFAULT, or N_ENAMETOOLONG. */
int64_t vm_copy_string(struct vm *vm, char *to, uint64_t from, uint64_t size);
/* 0 if a copy of that kind would succeed. */
int vm_check(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right);

/* Where the bytes lie, if they lie in one piece of this node's memory, aligned to 8, in pages that have the
 * right and are not executable; else NULL. For DMA. */
void *vm_contiguous(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right);

#endif
