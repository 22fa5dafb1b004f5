/* The server counts in its own memory, and N_MOUNTED has told where (vertex/contract/system.h). */
#include "emu/state/caches.h"

#include <string.h>

#include "emu/qemu/page_table.h"
#include "emu/state/unread.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/system.h"

struct window {
    const struct machine *machine;
    uint32_t node;
    uint8_t *ram;
    uint64_t pa, bytes;
};

static uint8_t *window_at(const void *ctx, uint64_t pa, size_t *bytes)
{
    const struct window *w = ctx;

    if (pa < w->pa || pa - w->pa >= w->bytes)
        return NULL;
    *bytes = w->bytes - (pa - w->pa);
    if (machine_bring_page(w->machine, w->node, pa - CABINET_RAM_BASE))
        *bytes = NODE_PAGE_BYTES - pa % NODE_PAGE_BYTES;
    return w->ram + (pa - w->pa);
}

/* Reads the memory of the program on a node, whose page table begins at `root`. False: some of it is not there. */
static bool read_program(const struct window *w, uint64_t root, uint64_t va, void *to, size_t bytes)
{
    const struct page_memory memory = {window_at, w};

    for (size_t done = 0; done < bytes;) {
        uint64_t entry, span;
        size_t there = 0;
        int level = page_table_find(&memory, root, va + done, &entry);

        if (level < 0 || (entry & PTE_VALID) == 0)
            return false;
        const uint8_t *at = window_at(w, page_table_address(entry, level, va + done, &span), &there);
        size_t piece = bytes - done < span ? bytes - done : span;
        if (!at)
            return false;
        piece = piece < there ? piece : there;
        memcpy((uint8_t *)to + done, at, piece);
        done += piece;
    }
    return true;
}

static bool read_counts(struct machine *m, uint32_t node, uint32_t va, struct drive_cache_counts *counts)
{
    const struct cabinet *c = &m->cabinet[machine_cabinet_of(m, node)];
    uint32_t hart = machine_hart_of(m, node);
    const struct window w = {m, node, cabinet_window(c, hart), CABINET_WINDOW(hart, m->config.topo.ram_bytes),
                             m->config.topo.ram_bytes};
    uint64_t root, process = unread_process(m, node);

    return process != 0 && unread_read(m, node, process + PROC_ROOT_OFFSET, &root, sizeof root) &&
           read_program(&w, root - VERTEX_WINDOW_VA + w.pa, va, counts, sizeof *counts) &&
           counts->drive == DRIVE_CACHE_COUNTING;
}

bool caches_count(void *machine, uint32_t index, uint32_t drive, struct drive_cache_counts *counts)
{
    struct machine *m = machine;
    const struct drive_cache_counts *told = front_cache_counts(m->front, index, drive);
    uint32_t va = front_counts_va(m->front, index, drive);

    if (told)
        *counts = *told;
    return told || (va != 0 && read_counts(m, (1u << m->config.topo.dim) + index, va, counts));
}
