/* The nodes as a debugger sees them (target.h). Virtual addresses are translated as the hart does it: by the page table
 * (Sv39) whose address its satp has. */
#include "emu/debug/target_parts.h"

#include <string.h>
#include <unistd.h>

#include "emu/qemu/page_table.h"
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

bool target_register(const struct debug_registers *r, uint64_t number, uint64_t *value)
{
    const uint64_t csr[] = {r->floats.fflags, r->floats.frm, r->floats.fcsr};

    if (number >= TARGET_REGISTERS)
        return false;
    *value = number == 0                        ? 0
             : number < TARGET_REGISTERS_X      ? r->x[number % 32] /* 32: pc, in x[0] */
             : number < TARGET_REGISTERS_X + 32 ? r->floats.f[number - TARGET_REGISTERS_X]
                                                : csr[number - TARGET_REGISTERS_X - 32];
    return true;
}

/* ---- Memory ---- */

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

static struct page_memory memory_of(const struct node_memory *m)
{
    return (struct page_memory){memory_at, m};
}

static bool find_place(const struct target *t, uint32_t node, uint64_t va, struct page_place *p)
{
    const struct node_memory m = {t, node};
    const struct page_memory memory = memory_of(&m);

    return page_table_place(&memory, target_registers(t, node)->satp, va, p);
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
    const struct node_memory m = {t, node};
    const struct page_memory memory = memory_of(&m);

    return page_table_read(&memory, satp, va, bytes, n);
}

static bool is_writable(const struct target *t, uint32_t node, uint64_t va, size_t n)
{
    struct page_place p;

    for (size_t done = 0; done < n; done += p.bytes)
        if (!find_place(t, node, va + done, &p) || !p.writable || p.executable || !p.at)
            return false;
    return true;
}

bool target_write(const struct target *t, uint32_t node, uint64_t va, const void *bytes, size_t n)
{
    struct page_place p;

    if (trail_viewed(&t->trail, node) || !is_writable(t, node, va, n))
        return false;
    for (size_t done = 0; done < n && find_place(t, node, va + done, &p); done += p.bytes)
        memcpy(p.at, (const uint8_t *)bytes + done, n - done < p.bytes ? n - done : p.bytes);
    return true;
}

/* Returns where the page of an address ends, or the unmapped area that it lies in. */
static uint64_t area_end(const struct target *t, uint32_t node, uint64_t va)
{
    const struct node_memory m = {t, node};
    const struct page_memory memory = memory_of(&m);
    uint64_t entry;
    int level = page_table_find(&memory, page_table_root(target_registers(t, node)->satp), va, &entry);
    uint64_t span = (uint64_t)NODE_PAGE_BYTES << (9 * (level < 0 ? PAGE_TABLE_LEVELS - 1 : level));

    return (va & ~(span - 1)) + span;
}

bool target_find_run(const struct target *t, uint32_t node, uint64_t low, uint64_t high, struct target_run *run)
{
    struct page_place p;

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
    struct page_place p;
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
