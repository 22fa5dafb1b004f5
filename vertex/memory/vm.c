/*
 * Address spaces: the tables of Sv39, promised pages, faults, and copies to and from programs (vm.h).
 */
#include "vertex/memory/vm.h"

#include <stdbool.h>

#include "vertex/base/addr.h"
#include "vertex/base/attr.h"
#include "vertex/base/csr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"

#define PTE_RIGHTS        (PTE_R | PTE_W | PTE_X)
#define PTE_USER          (PTE_U | PTE_A | PTE_D)
#define PTE_NEXT_PAGE     PTE_FROM_MACHINE(PAGE_BYTES) /* difference of the entries for two adjacent pages */
#define ROOT_USER_ENTRIES VM_INDEX(VM_USER_END, 2)

/* Filled pages to the next fence for the host's sake (vm.h), and between the last two; a new space begins anew. */
#define FENCE_FILLS 192u /* three quarters of QEMU's first TLB */
static uint32_t fills_left, fills_apart;

uint64_t addr_window;
const pte_t *vm_active_root; /* of satp */

__attribute__((aligned(PAGE_BYTES))) pte_t vm_kernel_root[VM_TABLE_ENTRIES], vm_kernel_middle[VM_TABLE_ENTRIES],
    vm_kernel_leaf[VM_TABLE_ENTRIES];

/* ---- Tables ---- */

static pte_t *table_new(void)
{
    pte_t *table = page_alloc(MEM_PROCESS, 1);

    if (table)
        copy_zero(table, PAGE_BYTES);
    return table;
}

static pte_t *table_of(pte_t pte)
{
    return addr_from_machine(PTE_TO_MACHINE(pte));
}

/* Returns the table that an entry points to. If it points to none, allocates one with `create`, else returns NULL. */
static pte_t *table_below(pte_t *entry, bool create)
{
    if (!*entry) {
        pte_t *table = create ? table_new() : NULL;

        if (!table)
            return NULL;
        *entry = PTE_FROM_MACHINE(addr_to_machine(table)) | PTE_V;
    }
    return table_of(*entry);
}

/* Returns the last-level entry of a user address; NULL if it has no table, or there is no memory for one. */
static pte_t *walk(const struct vm *vm, uint64_t va, bool create)
{
    if (va >= VM_USER_END)
        return NULL;
    pte_t *middle = table_below(&vm->root[VM_INDEX(va, 2)], create);
    pte_t *leaf = middle ? table_below(&middle[VM_INDEX(va, 1)], create) : NULL;
    return leaf ? &leaf[VM_INDEX(va, 0)] : NULL;
}

static void fence(void)
{
    asm volatile("sfence.vma" : : : "memory");
}

int vm_init(struct vm *vm)
{
    uint64_t pages;
    char *run = page_longest_run(&pages);

    *vm = (struct vm){.root = table_new()};
    fills_left = fills_apart = FENCE_FILLS;
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
    fence();
}

/* ---- Single pages ---- */

static void entry_set_page(pte_t *entry, void *page, pte_t rights)
{
    *entry = PTE_FROM_MACHINE(addr_to_machine(page)) | rights | PTE_USER | PTE_V;
}

static void *entry_page(pte_t entry)
{
    return addr_from_machine(PTE_TO_MACHINE(entry));
}

static void *home_of(const struct vm *vm, uint64_t va)
{
    return PAGE_ROUND_DOWN(va) < vm->stack_low ? vm->home + (PAGE_ROUND_DOWN(va) - USER_TEXT_VA)
                                               : vm->home_top - (USER_STACK_TOP - PAGE_ROUND_DOWN(va));
}

/* The page of a space's own that a valid entry maps, or stands for: moved text is executed elsewhere. Vertex never
 * follows such an entry, so that its cycles do not depend on where that is. */
static void *own_page(const struct vm *vm, uint64_t va, pte_t entry)
{
    return entry & PTE_MOVED ? vm->home + (PAGE_ROUND_DOWN(va) - USER_TEXT_VA) : entry_page(entry);
}

static void fence_for_host(void)
{
    fence();
    fills_apart *= 2;
    fills_left = fills_apart;
}

/* Allocates a promised page, of zeros. */
static void entry_fill(const struct vm *vm, uint64_t va, pte_t *entry)
{
    void *page = page_take_promised(home_of(vm, va));

    copy_zero(page, PAGE_BYTES);
    entry_set_page(entry, page, *entry & PTE_RIGHTS);
    if (--fills_left == 0)
        fence_for_host();
}

static void entry_drop(pte_t *entry)
{
    if (*entry & PTE_V) {
        if (!(*entry & PTE_SHARED))
            page_free(MEM_PROCESS, entry_page(*entry), 1);
    } else if (*entry & PTE_DEMAND) {
        page_release(1);
    }
    *entry = 0;
}

/* Returns the kernel address of the byte at va, after filling a promised page; NULL: the program lacks the right. */
static void *resolve(struct vm *vm, uint64_t va, pte_t right)
{
    pte_t *entry = walk(vm, va, false);

    if (!entry || !(*entry & right))
        return NULL;
    if (!(*entry & PTE_V))
        entry_fill(vm, va, entry);
    return (char *)own_page(vm, va, *entry) + va % PAGE_BYTES;
}

int vm_fault(struct vm *vm, uint64_t va, pte_t right)
{
    pte_t *entry = walk(vm, va, false);

    if (!entry || !(*entry & right))
        return -N_EFAULT;
    if (*entry & PTE_V)
        fence();
    else
        entry_fill(vm, va, entry);
    return 0;
}

/* ---- Ranges ---- */

/* Returns the number of pages from va to `high` or to the end of va's table. */
static uint64_t entries_in_table(uint64_t va, uint64_t high)
{
    uint64_t table_end = (va / VM_MIDDLE_BYTES + 1) * VM_MIDDLE_BYTES;

    return ((high < table_end ? high : table_end) - va) / PAGE_BYTES;
}

/* Returns the number of entries of [low, high) that are 0, those of missing tables included. */
static uint64_t count_missing(const struct vm *vm, uint64_t low, uint64_t high)
{
    uint64_t missing = 0;

    for (uint64_t va = low, n; va < high; va += n * PAGE_BYTES) {
        const pte_t *entry = walk(vm, va, false);

        n = entries_in_table(va, high);
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
        pte_t *middle = table_below(&vm->root[VM_INDEX(va, 2)], false);
        pte_t *entry = middle ? &middle[VM_INDEX(va, 1)] : NULL;
        if (entry && *entry && is_empty(table_of(*entry))) {
            page_free(MEM_PROCESS, table_of(*entry), 1);
            *entry = 0;
        }
    }
}

static int make_tables(struct vm *vm, uint64_t low, uint64_t high)
{
    for (uint64_t va = low; va < high; va += entries_in_table(va, high) * PAGE_BYTES)
        if (!walk(vm, va, true)) {
            remove_empty_tables(vm, low, high);
            return -N_ENOMEM;
        }
    return 0;
}

static void promise_missing(struct vm *vm, uint64_t low, uint64_t high, pte_t rights)
{
    for (uint64_t va = low, n; va < high; va += n * PAGE_BYTES) {
        pte_t *entry = walk(vm, va, false);

        n = entries_in_table(va, high);
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
        pte_t *entry = walk(vm, va, false);

        if (entry)
            entry_drop(entry);
    }
    fence();
}

/* Returns a page of which vm_load is about to write [from, to), and clears the rest if the page is new. */
static void *page_for_load(struct vm *vm, uint64_t va, uint64_t from, uint64_t to, pte_t rights)
{
    pte_t *entry = walk(vm, va, true);

    if (!entry)
        return NULL;
    if (*entry & PTE_V) {
        *entry |= rights;
    } else if (*entry & PTE_DEMAND) {
        *entry |= rights;
        entry_fill(vm, va, entry);
    } else {
        if (!page_promise(1))
            return NULL;
        char *page = page_take_promised(home_of(vm, va));
        copy_zero(page, from);
        copy_zero(page + to, PAGE_BYTES - to);
        entry_set_page(entry, page, rights);
    }
    return entry_page(*entry);
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

/* ---- Text that is executed elsewhere ---- */

/* Pages that are all at home are contiguous: returns how many of n entries, from va on, are text at home. */
static uint64_t count_text_at_home(const struct vm *vm, uint64_t va, const pte_t *entry, uint64_t n)
{
    pte_t first = PTE_FROM_MACHINE(addr_to_machine(home_of(vm, va))) | PTE_R | PTE_X | PTE_USER | PTE_V;
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
            entries_move(entry + i, run, ncu_text(home_of(vm, at), run * PAGE_BYTES));
    }
}

static void drop_moved_entries(struct vm *vm, uint64_t va, pte_t *entry, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (entry[i] & PTE_V && entry[i] & PTE_MOVED) {
            page_free(MEM_PROCESS, home_of(vm, va + i * PAGE_BYTES), 1);
            entry[i] = 0;
        }
}

static void for_each_table_of_text(struct vm *vm, void (*act)(struct vm *vm, uint64_t va, pte_t *entry, uint64_t n))
{
    uint64_t high = PAGE_ROUND_UP(vm->text_high);

    for (uint64_t va = USER_TEXT_VA, n; va < high; va += n * PAGE_BYTES) {
        pte_t *entry = walk(vm, va, false);

        n = entries_in_table(va, high);
        if (entry)
            act(vm, va, entry, n);
    }
}

void vm_move_text(struct vm *vm)
{
    for_each_table_of_text(vm, move_entries_of_text);
}

int vm_map_shared(struct vm *vm, uint64_t va, uint64_t machine, uint64_t bytes)
{
    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
        pte_t *entry = walk(vm, va + at, true);

        if (!entry)
            return -N_ENOMEM;
        *entry = PTE_FROM_MACHINE(machine + at) | PTE_R | PTE_X | PTE_USER | PTE_SHARED | PTE_V;
    }
    return 0;
}

/* ---- Copies of a whole space ---- */

static int copy_page(struct vm *vm, uint64_t va, const struct vm *space, pte_t from)
{
    pte_t *entry = walk(vm, va, true);

    if (!entry)
        return -N_ENOMEM;
    if (from & PTE_SHARED) {
        *entry = from;
        return 0;
    }
    if (!*entry && !page_promise(1))
        return -N_ENOMEM;
    if (from & PTE_V) {
        void *page = page_take_promised(home_of(vm, va));

        copy_bytes(page, own_page(space, va, from), PAGE_BYTES);
        entry_set_page(entry, page, from & PTE_RIGHTS);
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
        const pte_t *middle = from->root[VM_INDEX(va, 2)] ? table_of(from->root[VM_INDEX(va, 2)]) : NULL;

        if (middle && middle[VM_INDEX(va, 1)])
            error = copy_leaf(vm, va, from, table_of(middle[VM_INDEX(va, 1)]));
    }
    vm->text_high = from->text_high;
    vm->break_low = from->break_low;
    vm->break_now = from->break_now;
    return error;
}

/* ---- Message buffers ---- */

uint64_t vm_buffer_address(const void *pages)
{
    return USER_BUFFER_VA + addr_to_node(pages);
}

void vm_unmap_buffer(struct vm *vm, void *pages, uint64_t bytes)
{
    uint64_t va = vm_buffer_address(pages);

    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
        pte_t *entry = walk(vm, va + at, false);

        if (entry)
            *entry = 0;
    }
    fence();
}

uint64_t vm_map_buffer(struct vm *vm, void *pages, uint64_t bytes)
{
    uint64_t va = vm_buffer_address(pages);

    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
        pte_t *entry = walk(vm, va + at, true);

        if (!entry) {
            vm_unmap_buffer(vm, pages, bytes);
            return 0;
        }
        entry_set_page(entry, (char *)pages + at, PTE_R | PTE_W | PTE_SHARED);
    }
    return va;
}

/* ---- The heap ---- */

/* Clears the part of the last page that the heap gives up, as the heap may grow into it again. */
static void clear_tail(struct vm *vm, uint64_t low, uint64_t old)
{
    const pte_t *entry = walk(vm, low, false);
    uint64_t page_end = PAGE_ROUND_UP(low), high = old < page_end ? old : page_end;

    if (entry && *entry & PTE_V && low < high)
        copy_zero((char *)entry_page(*entry) + low % PAGE_BYTES, high - low);
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

static void free_leaf(pte_t *leaf)
{
    for (unsigned i = 0; i < VM_TABLE_ENTRIES; i++)
        if (leaf[i])
            entry_drop(&leaf[i]);
    page_free(MEM_PROCESS, leaf, 1);
}

static void free_middle(pte_t *middle)
{
    for (unsigned i = 0; i < VM_TABLE_ENTRIES; i++)
        if (middle[i])
            free_leaf(table_of(middle[i]));
    page_free(MEM_PROCESS, middle, 1);
}

void vm_free(struct vm *vm)
{
    for_each_table_of_text(vm, drop_moved_entries);
    for (unsigned i = 0; i < ROOT_USER_ENTRIES; i++)
        if (vm->root[i])
            free_middle(table_of(vm->root[i]));
    page_free(MEM_PROCESS, vm->root, 1);
    vm->root = NULL;
}

/* ---- A program's bytes ---- */

static uint64_t left_in_page(uint64_t va, uint64_t bytes)
{
    uint64_t left = PAGE_BYTES - va % PAGE_BYTES;

    return left < bytes ? left : bytes;
}

RARE int vm_copy_by_pages(struct vm *vm, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    char *k = kernel;

    while (bytes > 0) {
        uint64_t n = left_in_page(va, bytes);
        void *user = resolve(vm, va, right);

        if (!user)
            return -N_EFAULT;
        if (right == PTE_W)
            copy_bytes(user, k, n);
        else
            copy_bytes(k, user, n);
        k += n, va += n, bytes -= n;
    }
    return 0;
}

int64_t vm_copy_string(struct vm *vm, char *to, uint64_t from, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        uint64_t n = left_in_page(from + done, size - done);
        const char *source = resolve(vm, from + done, PTE_R);

        if (!source)
            return -N_EFAULT;
        for (uint64_t i = 0; i < n; i++, done++)
            if ((to[done] = source[i]) == '\0')
                return done;
    }
    return -N_ENAMETOOLONG;
}

int vm_check(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right)
{
    while (bytes > 0) {
        uint64_t n = left_in_page(va, bytes);

        if (!resolve(vm, va, right))
            return -N_EFAULT;
        va += n, bytes -= n;
    }
    return 0;
}

static bool dma_allowed(const struct vm *vm, uint64_t va)
{
    pte_t entry = *walk(vm, va, false);

    return !(entry & (PTE_X | PTE_SHARED));
}

void *vm_contiguous(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right)
{
    char *first = resolve(vm, va, right);

    if (!first || va % 8)
        return NULL;
    for (uint64_t done = 0; done < bytes; done += left_in_page(va + done, bytes - done))
        if (resolve(vm, va + done, right) != first + done || !dma_allowed(vm, va + done))
            return NULL;
    return first;
}
