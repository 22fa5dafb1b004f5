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
 * The page table is the only record of a space. An entry is one of
 *   0                      unmapped
 *   PTE_DEMAND | rights    not valid: a page of zeros is promised (page.h) and allocated at the first access
 *   PTE_V | rights         a page that belongs to the space or, with PTE_SHARED, to the built-in program
 *   PTE_V | PTE_MOVED, R X text: the space's own page lies at its home; the entry maps another copy of its bytes
 * The tables for promised pages are allocated with the promise, so that a first access cannot fail.
 *
 * An entry that becomes valid needs no sfence.vma: a hart that has cached the old one faults again, and vm_fault then
 * fences. A few come nevertheless, for the host's sake: QEMU doubles a hart's TLB, at first of 256 pages, only if it is
 * flushed while more than 70 % of it is in use. So the node fences after 192 filled pages of a space, then after twice
 * as many more, and so on: the TLB is then large enough for all of them (docs/performance.md).
 */
#pragma once

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

/* The root and tables that boot/machine_mode.c builds. Every space's root contains the root's entries for Vertex. */
extern pte_t vm_kernel_root[VM_TABLE_ENTRIES], vm_kernel_middle[VM_TABLE_ENTRIES], vm_kernel_leaf[VM_TABLE_ENTRIES];

/* Homes. To keep a program's buffers contiguous for the NCU, the page for address va is, if that is free,
 *
 *     home + (va - USER_TEXT_VA)             text, data, heap: upwards in the longest run of free memory
 *     home_top - (USER_STACK_TOP - va)       stack: downwards from that run's end
 *
 * The first 1/VM_HOME_SKIP of the run is left to the kernel, which takes the lowest free pages first.
 */
#define VM_HOME_SKIP 8u

#define USER_BUFFER_VA 0x78000000ull /* message buffers given to the program: USER_BUFFER_VA + node address */

struct vm {
    pte_t *root;
    char *home, *home_top;
    uint64_t heap_bytes; /* limit */
    uint64_t break_low;  /* where the heap starts */
    uint64_t break_now;
    uint64_t stack_low;
    uint64_t text_high; /* no text lies above */
};

/* Functions that return int give 0 or a negative n_error. */

int vm_init(struct vm *vm); /* N_ENOMEM */
void vm_free(struct vm *vm);
void vm_activate(const struct vm *vm); /* NULL: Vertex's own table */

/* Promises pages of zeros for the unmapped pages of [low, high). N_ENOMEM, which changes nothing. */
int vm_add_zero(struct vm *vm, uint64_t low, uint64_t high, pte_t rights);
/* Copies bytes of a program into the space by stores, as DMA must never write executed memory. A page that two segments
 * share gets the rights of both. N_ENOMEM. */
int vm_load(struct vm *vm, uint64_t va, const void *bytes, uint64_t n, pte_t rights);
/* Maps the text where the NCU wants it executed (NCU_TEXT); called when all of it is loaded, before the space is
 * active. The space keeps the loaded pages, and the call costs the same wherever the text is executed. */
void vm_move_text(struct vm *vm);
/* Maps pages of the shared region, readable and executable. N_ENOMEM. */
int vm_map_shared(struct vm *vm, uint64_t va, uint64_t machine, uint64_t bytes);
/* Copies all of `from` except its shared pages into an empty space of the same layout; message buffers stay with
 * `from`. N_ENOMEM. */
int vm_copy(struct vm *vm, const struct vm *from);
/* Maps the pages of a message buffer, which still belong to the message. `pages` is page aligned here and in
 * vm_unmap_buffer. Returns their user address, or 0 if there is no memory for tables. */
uint64_t vm_map_buffer(struct vm *vm, void *pages, uint64_t bytes);
uint64_t vm_buffer_address(const void *pages); /* returns the user address of a mapped buffer */
void vm_unmap_buffer(struct vm *vm, void *pages, uint64_t bytes);
/* Moves the heap's end by `increment` bytes; new memory is zero. Returns the old end; N_ENOMEM, N_EINVAL (below the
 * heap's start). */
int64_t vm_move_break(struct vm *vm, int64_t increment);

/* Handles a page fault at va on an access of kind `right` (PTE_R, PTE_W or PTE_X). Returns 0 if the access can be
 * repeated, else N_EFAULT. */
int vm_fault(struct vm *vm, uint64_t va, pte_t right);

/* The root of the active page table; NULL: Vertex's own. */
extern const pte_t *vm_active_root;

/* Copies through the active page table; `to` or `from` is a program's address. Returns false, perhaps after a partial
 * copy, if a page is unmapped or lacks the right. touch_user (entry.S) preserves all registers not listed here. */
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
bool vm_touch_user(void *to, const void *from, uint64_t bytes); /* defined by a host test */
#endif

/* True if vm_touch_user may copy this, provided the page table is active. Longer copies are cheaper page by page. */
static inline bool vm_is_short(uint64_t va, uint64_t bytes)
{
    return bytes <= VM_SHORT_BYTES && va < VM_USER_END - VM_SHORT_BYTES;
}

static inline bool vm_is_short_here(const struct vm *vm, uint64_t va, uint64_t bytes)
{
    return vm_is_short(va, bytes) && vm->root == vm_active_root;
}

/* Copies between kernel memory and a program's at va: to the program if `right` is PTE_W, from it if it is PTE_R. The
 * program's pointer may be anything. N_EFAULT. vm_copy_by_pages needs no active page table. */
int vm_copy_by_pages(struct vm *vm, void *kernel, uint64_t va, uint64_t bytes, pte_t right);

static inline bool vm_touch(void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    return right == PTE_W ? vm_touch_user((void *)va, kernel, bytes) : vm_touch_user(kernel, (void *)va, bytes);
}

static inline int vm_copy_user(struct vm *vm, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    if (vm_is_short_here(vm, va, bytes) && vm_touch(kernel, va, bytes, right))
        return 0;
    return vm_copy_by_pages(vm, kernel, va, bytes, right);
}

static inline int vm_copy_in(struct vm *vm, void *to, uint64_t from, uint64_t bytes)
{
    return vm_copy_user(vm, to, from, bytes, PTE_R);
}

static inline int vm_copy_out(struct vm *vm, uint64_t to, const void *from, uint64_t bytes)
{
    return vm_copy_user(vm, (void *)from, to, bytes, PTE_W);
}

/* Copies a program's string of at most `size` bytes with its NUL. Returns its length; N_EFAULT, N_ENAMETOOLONG. */
int64_t vm_copy_string(struct vm *vm, char *to, uint64_t from, uint64_t size);
/* Returns 0 if an access of kind `right` to all these bytes would succeed, else N_EFAULT. */
int vm_check(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right);

/* Returns the kernel address of the bytes if DMA may access them: contiguous in this node's memory, aligned to 8, in
 * pages that have the right and are not executable. Else NULL. */
void *vm_contiguous(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right);
