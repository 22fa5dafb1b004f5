/* The nodes as a debugger sees them (target.h). Virtual addresses are translated as the hart does it: by the page table
 * (Sv39) whose address its satp has. */
#include "emu/debug/target_parts.h"

#include <string.h>
#include <unistd.h>

#include "emu/debug/page_table.h"
#include "vertex/contract/machine.h"

/* ---- Registers ---- */

struct debug_hart *target_hart(const struct target *t, uint32_t node)
{
    uint32_t slot = node < t->ops->nodes(t->ctx) ? t->ops->slot(t->ctx, node) : TARGET_NO_SLOT;

    return slot == TARGET_NO_SLOT ? NULL : &t->area->hart[slot];
}

struct debug_hart *target_home_hart(const struct target *t, uint32_t node)
{
    return &t->area->hart[t->ops->home(t->ctx, node)];
}

bool target_is_alive(const struct target *t, uint32_t node)
{
    return target_hart(t, node) != NULL;
}

bool target_shows_kernel(const struct target *t, const struct debug_hart *d)
{
    return !d->in_user && (t->kernel || !d->has_program || d->in_kernel_for_user);
}

const struct debug_registers *target_registers(const struct target *t, uint32_t node)
{
    const struct trail_point *p = trail_viewed(&t->trail, node);
    const struct debug_hart *d = target_hart(t, node);

    return p ? &p->registers : d->in_user || target_shows_kernel(t, d) ? &d->now : &d->program;
}

const struct debug_registers *target_program_registers(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = target_hart(t, node);

    return d->in_user ? &d->now : &d->program;
}

/* ---- Memory ---- */

#define SATP_PPN      0xfffffffffffull
#define LOWEST_KERNEL CABINET_RAM_BASE

/* Returns the RAM at a QEMU-physical address, and how many bytes are there; NULL if none. */
static uint8_t *ram_at(const struct target *t, uint32_t node, uint64_t pa, size_t *n)
{
    size_t bytes;
    uint8_t *ram = t->ops->memory(t->ctx, node, &bytes);
    uint64_t at = pa - CABINET_RAM_BASE;

    if (pa < CABINET_RAM_BASE || at >= bytes)
        return NULL;
    *n = t->ops->bring && t->ops->bring(t->ctx, node, at) ? NODE_PAGE_BYTES - at % NODE_PAGE_BYTES : bytes - at;
    return ram + at;
}

/* The memory of a node's cabinet. */
struct node_memory {
    const struct target *t;
    uint32_t node;
};

static uint8_t *memory_at(const void *ctx, uint64_t pa, size_t *bytes)
{
    const struct node_memory *m = ctx;

    return ram_at(m->t, m->node, pa, bytes);
}

/* Finds the entry for an address. Returns its level, and stores it, or -1. */
static int find_entry(const struct target *t, uint32_t node, uint64_t satp, uint64_t va, uint64_t *entry)
{
    const struct node_memory memory = {t, node};

    return page_table_find(&(struct page_memory){memory_at, &memory}, (satp & SATP_PPN) * NODE_PAGE_BYTES, va, entry);
}

struct place {
    uint8_t *at; /* NULL: zeros */
    size_t bytes;
    bool writable, executable;
};

/* Finds where an address lies, and how many bytes from there on lie together. */
static bool find_place_in(const struct target *t, uint32_t node, uint64_t satp, uint64_t va, struct place *p)
{
    uint64_t entry;
    int level = find_entry(t, node, satp, va, &entry);

    if (level < 0)
        return false;
    uint64_t span, pa = page_table_address(entry, level, va, &span);
    *p = (struct place){.bytes = span, .writable = (entry & PTE_WRITE) != 0, .executable = (entry & PTE_EXECUTE) != 0};
    if (!(entry & PTE_VALID))
        return (entry & PTE_PROMISED) != 0 && va < LOWEST_KERNEL;
    size_t bytes = 0; /* the kernel's large page has more addresses than there is memory */
    p->at = ram_at(t, node, pa, &bytes);
    p->bytes = bytes < p->bytes ? bytes : p->bytes;
    return p->at != NULL;
}

static bool find_place(const struct target *t, uint32_t node, uint64_t va, struct place *p)
{
    return find_place_in(t, node, target_registers(t, node)->satp, va, p);
}

size_t target_read(const struct target *t, uint32_t node, uint64_t va, void *bytes, size_t n)
{
    n = target_read_in(t, node, target_registers(t, node)->satp, va, bytes, n);
    if (trail_viewed(&t->trail, node))
        trail_undo(&t->trail, va, bytes, n);
    return n;
}

size_t target_read_in(const struct target *t, uint32_t node, uint64_t satp, uint64_t va, void *bytes, size_t n)
{
    size_t done = 0;
    struct place p;

    while (done < n && find_place_in(t, node, satp, va + done, &p)) {
        size_t piece = n - done < p.bytes ? n - done : p.bytes;

        if (p.at)
            memcpy((uint8_t *)bytes + done, p.at, piece);
        else
            memset((uint8_t *)bytes + done, 0, piece);
        done += piece;
    }
    return done;
}

static bool is_writable(const struct target *t, uint32_t node, uint64_t va, size_t n)
{
    struct place p;

    for (size_t done = 0; done < n; done += p.bytes)
        if (!find_place(t, node, va + done, &p) || !p.writable || p.executable || !p.at)
            return false;
    return true;
}

bool target_write(const struct target *t, uint32_t node, uint64_t va, const void *bytes, size_t n)
{
    struct place p;

    if (trail_viewed(&t->trail, node) || !is_writable(t, node, va, n))
        return false;
    for (size_t done = 0; done < n && find_place(t, node, va + done, &p); done += p.bytes)
        memcpy(p.at, (const uint8_t *)bytes + done, n - done < p.bytes ? n - done : p.bytes);
    return true;
}

/* Returns where the page of an address ends, or the unmapped area that it lies in. */
static uint64_t area_end(const struct target *t, uint32_t node, uint64_t va)
{
    uint64_t entry;
    int level = find_entry(t, node, target_registers(t, node)->satp, va, &entry);
    uint64_t span = (uint64_t)NODE_PAGE_BYTES << (9 * (level < 0 ? PAGE_TABLE_LEVELS - 1 : level));

    return (va & ~(span - 1)) + span;
}

bool target_find_run(const struct target *t, uint32_t node, uint64_t low, uint64_t high, struct target_run *run)
{
    struct place p;

    while (low < high && !find_place(t, node, low, &p))
        low = area_end(t, node, low);
    if (low >= high)
        return false;
    *run = (struct target_run){.low = low, .writable = p.writable, .executable = p.executable};
    do
        run->bytes += p.bytes;
    while (low + run->bytes < high && find_place(t, node, low + run->bytes, &p) && p.writable == run->writable &&
           p.executable == run->executable);
    if (run->bytes > high - low)
        run->bytes = high - low;
    return true;
}

bool target_read_page(const struct target *t, uint32_t node, uint64_t va, uint8_t page[TARGET_PAGE_BYTES])
{
    struct place p;
    size_t bytes;
    int fd = t->ops->memory_fd(t->ctx, node);

    if (!find_place(t, node, va, &p) || !p.at || p.bytes < TARGET_PAGE_BYTES)
        return false;
    off_t at = p.at - t->ops->memory(t->ctx, node, &bytes);
    if (fd >= 0 && lseek(fd, at, SEEK_DATA) != at) /* reading a hole would make it memory of the host's */
        return false;
    memcpy(page, p.at, TARGET_PAGE_BYTES);
    return true;
}

/* ---- Breakpoints and watchpoints ---- */

/* Harts look closely only if there is something to look for. */
void target_set_attention(struct target *t)
{
    uint32_t any = t->area->breaks > 0 || t->area->watches > 0 || t->area->fault_pc != 0;

    for (uint32_t i = 0; i < t->slots && !any; i++)
        any = t->area->hart[i].hold || t->area->hart[i].step != DEBUG_GO;
    __atomic_store_n(&t->area->attention, any, __ATOMIC_SEQ_CST);
}

static void make_bloom(struct debug_area *a)
{
    memset(a->bloom, 0, sizeof a->bloom);
    for (uint32_t k = 0; k < a->breaks; k++) {
        uint64_t bit = debug_bloom_bit(a->break_pc[k]);

        a->bloom[bit / 64] |= 1ull << bit % 64;
    }
    __atomic_add_fetch(&a->changes, 1, __ATOMIC_SEQ_CST);
}

bool target_has_break(const struct debug_area *a, uint64_t pc)
{
    for (uint32_t k = 0; k < a->breaks; k++)
        if (a->break_pc[k] == pc)
            return true;
    return false;
}

/* Adds an element to a list, unless it is there: gdb may repeat a packet. Or removes it. Returns false if there is no
 * room for it, or none to remove. */
static bool change_list(struct target *t, void *list, uint32_t *n, uint32_t most, const void *element, size_t bytes,
                        bool add)
{
    char *array = list;
    uint32_t at = 0;

    while (at < *n && memcmp(array + at * bytes, element, bytes) != 0)
        at++;
    if (at == *n && (!add || *n == most))
        return false;
    if (add && at == *n)
        memcpy(array + (*n)++ * bytes, element, bytes);
    else if (!add)
        memmove(array + at * bytes, array + --*n * bytes, bytes);
    make_bloom(t->area);
    target_set_attention(t);
    return true;
}

bool target_change_break(struct target *t, uint64_t pc, bool add)
{
    return change_list(t, t->area->break_pc, &t->area->breaks, DEBUG_BREAKS, &pc, sizeof pc, add);
}

bool target_change_watch(struct target *t, const struct debug_watch *w, bool add)
{
    return change_list(t, t->area->watch, &t->area->watches, DEBUG_WATCHES, w, sizeof *w, add);
}

void target_clear(struct target *t)
{
    t->area->breaks = t->area->watches = 0;
    make_bloom(t->area);
    target_set_attention(t);
}

void target_watch_faults(struct target *t, uint64_t fault_pc)
{
    t->area->fault_pc = fault_pc;
    target_set_attention(t);
}

void target_copy_breaks(struct target *t, const struct debug_area *from)
{
    memcpy(t->area->break_pc, from->break_pc, sizeof from->break_pc);
    memcpy(t->area->watch, from->watch, sizeof from->watch);
    t->area->breaks = from->breaks;
    t->area->watches = from->watches;
    make_bloom(t->area);
    target_set_attention(t);
}
