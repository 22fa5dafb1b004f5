/* The nodes as a debugger sees them (target.h). Virtual addresses are translated as the hart does it: by the page table
 * (Sv39) whose address its satp has. */
#include "emu/debug/target.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/debug/page_table.h"
#include "vertex/contract/machine.h"

/* ---- Registers ---- */

static struct debug_hart *hart_of(const struct target *t, uint32_t node)
{
    uint32_t slot = node < t->ops->nodes(t->ctx) ? t->ops->slot(t->ctx, node) : TARGET_NO_SLOT;

    return slot == TARGET_NO_SLOT ? NULL : &t->area->hart[slot];
}

bool target_is_alive(const struct target *t, uint32_t node)
{
    return hart_of(t, node) != NULL;
}

static bool shows_kernel(const struct target *t, const struct debug_hart *d)
{
    return !d->in_user && (t->kernel || !d->has_program || d->in_kernel_for_user);
}

const struct debug_registers *target_registers(const struct target *t, uint32_t node)
{
    const struct trail_point *p = trail_viewed(&t->trail, node);
    const struct debug_hart *d = hart_of(t, node);

    return p ? &p->registers : d->in_user || shows_kernel(t, d) ? &d->now : &d->program;
}

const struct debug_registers *target_program_registers(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = hart_of(t, node);

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
static void set_attention(struct target *t)
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

static bool has_break(const struct debug_area *a, uint64_t pc)
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
    set_attention(t);
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
    set_attention(t);
}

void target_watch_faults(struct target *t, uint64_t fault_pc)
{
    t->area->fault_pc = fault_pc;
    set_attention(t);
}

void target_copy_breaks(struct target *t, const struct debug_area *from)
{
    memcpy(t->area->break_pc, from->break_pc, sizeof from->break_pc);
    memcpy(t->area->watch, from->watch, sizeof from->watch);
    t->area->breaks = from->breaks;
    t->area->watches = from->watches;
    make_bloom(t->area);
    set_attention(t);
}

/* ---- Places and seeking ---- */

bool target_is_before(const struct target_place *a, const struct target_place *b)
{
    return a->cycles != b->cycles ? a->cycles < b->cycles : a->node < b->node;
}

struct target_place target_place(const struct target *t, uint32_t node)
{
    const struct trail_point *viewed = trail_viewed(&t->trail, node);
    const struct debug_hart *d = hart_of(t, node);
    bool in_front = d && d->in_user && !d->in_front; /* of the instruction that it has looked at */

    if (viewed)
        return (struct target_place){viewed->cycles, node};
    return (struct target_place){!d ? 0 : in_front ? d->at : d->at + 1, node};
}

struct target_place target_shown_place(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = hart_of(t, node);
    struct target_place p = target_place(t, node);

    p.cycles -= d && !d->in_user && p.cycles == d->at + 1;
    return p;
}

/* A node in the kernel shows its program in front of the instruction with which it was left. */
bool target_place_before(const struct target *t, uint32_t node, struct target_place *p)
{
    const struct trail_point *viewed = trail_viewed(&t->trail, node);
    const struct debug_hart *d = hart_of(t, node);
    bool in_front = d && d->in_user && d->in_front;

    *p = viewed ? (struct target_place){viewed->before, node}
                : (struct target_place){!d         ? 0
                                        : in_front ? d->at
                                                   : d->before,
                                        node};
    return p->cycles > 0;
}

bool target_has_place(const struct target *t, uint32_t node)
{
    const struct debug_hart *d = hart_of(t, node);

    return d && d->at > 0;
}

bool target_knows_places(const struct target *t, uint32_t node)
{
    const struct trail_point *viewed = trail_viewed(&t->trail, node);
    const struct debug_hart *d = hart_of(t, node);
    struct target_place before;

    return !d || ((viewed || d->at > 0) && target_place_before(t, node, &before));
}

void target_look_closely(struct target *t, bool closely)
{
    t->area->closely = closely;
}

void target_forget_places(struct target *t, const struct target_go *go)
{
    bool looks = go && (t->area->breaks > 0 || t->area->watches > 0);

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx) && !looks; node++) {
        struct debug_hart *d = hart_of(t, node);

        if (d && (!go || go[node].how == TARGET_RUN))
            d->at = d->before = d->at_pc = 0;
    }
}

/* Also of a node that has ended, or has not begun. */
static struct debug_hart *home_of(const struct target *t, uint32_t node)
{
    return &t->area->hart[t->ops->home(t->ctx, node)];
}

static void seek(struct debug_hart *d, uint64_t cycles, enum debug_seek stops)
{
    d->hits = d->hit_breaks = d->first_hit = 0;
    d->seek_stops = stops;
    __atomic_store_n(&d->seek, cycles, __ATOMIC_SEQ_CST);
}

static void seek_each(struct target *t, const struct target_place *p, enum debug_seek stops)
{
    uint32_t nodes = t->ops->nodes(t->ctx);

    for (uint32_t node = 0; node < nodes; node++)
        seek(home_of(t, node), node < p->node ? p->cycles + 1 : p->cycles, stops);
    set_attention(t);
}

void target_seek(struct target *t, const struct target_place *p, uint64_t early_cycles)
{
    seek_each(t, p, SEEK_PASSES);
    seek(home_of(t, p->node), p->cycles > early_cycles ? p->cycles - early_cycles : 1, SEEK_STOPS);
}

void target_seek_all(struct target *t, const struct target_place *p, bool faults)
{
    seek_each(t, p, faults ? SEEK_FAULTS : SEEK_STOPS);
}

void target_scan(struct target *t, const struct target_place *p)
{
    t->area->placed = 1;
    seek_each(t, p, SEEK_PASSES);
}

void target_seek_on(struct target *t)
{
    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        home_of(t, node)->seek_stops = SEEK_STOPS;
}

/* What is about to be overwritten. Text that cannot be read is no store. */
static void find_old(const struct target *t, uint32_t node, struct trail_point *p)
{
    uint32_t instruction = 0;

    target_read(t, node, p->registers.x[0], &instruction, sizeof instruction);
    p->bytes = trail_find_store(instruction, &p->registers, &p->va);
    p->bytes = (uint8_t)target_read(t, node, p->va, p->old, p->bytes);
}

void target_add_to_trail(struct target *t, uint32_t node)
{
    const struct debug_hart *d = hart_of(t, node);
    struct trail_point p = {.registers = d->now, .cycles = d->at, .before = d->before};

    if (t->trail.node != node || t->trail.traps != d->traps)
        trail_clear(&t->trail);
    t->trail.node = node;
    t->trail.traps = d->traps;
    find_old(t, node, &p);
    trail_add(&t->trail, &p);
}

void target_end_seek(struct target *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        __atomic_store_n(&t->area->hart[i].seek, 0, __ATOMIC_SEQ_CST);
    set_attention(t);
}

static int compare_hits(const void *a, const void *b)
{
    const struct target_place *x = &((const struct target_hit *)a)->place, *y = &((const struct target_hit *)b)->place;

    return target_is_before(x, y) ? -1 : target_is_before(y, x);
}

/* Of several accesses of one instruction, the last one counts. */
static size_t take_hits(const struct debug_hart *d, uint32_t node, struct target_hit *list)
{
    uint64_t kept = d->hits < DEBUG_HITS ? d->hits : DEBUG_HITS;
    size_t n = 0;

    for (uint64_t i = d->hits - kept; i < d->hits; i++) {
        const struct debug_hit *h = &d->hit[i % DEBUG_HITS];

        n -= n > 0 && list[n - 1].place.cycles == h->cycles;
        list[n++] = (struct target_hit){{h->cycles, node}, (enum debug_why)h->why, h->watch, h->pc};
    }
    return n;
}

size_t target_hits(const struct target *t, struct target_hit **list, struct target_place *lost)
{
    size_t n = 0;

    *list = memory_new(t->slots * (size_t)DEBUG_HITS + 1, sizeof **list);
    *lost = (struct target_place){0, 0};
    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++) {
        const struct debug_hart *d = home_of(t, node);
        struct target_hit *first = *list + n;

        n += take_hits(d, node, first);
        if (d->hits > DEBUG_HITS && target_is_before(lost, &first->place))
            *lost = first->place;
    }
    qsort(*list, n, sizeof **list, compare_hits);
    return n;
}

void target_await_hits(struct target *t, uint64_t cycles)
{
    const struct target_place never = {UINT64_MAX, 0};

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        home_of(t, node)->awaited = cycles;
    t->area->placed = 1;
    seek_each(t, &never, SEEK_FAULTS);
}

uint64_t target_first_hit(const struct target *t)
{
    uint64_t first = 0;

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++) {
        uint64_t cycles = __atomic_load_n(&home_of(t, node)->first_hit, __ATOMIC_SEQ_CST);

        if (cycles > 0 && (first == 0 || cycles < first))
            first = cycles;
    }
    return first;
}

void target_pass(struct target *t, const struct target_place *p)
{
    seek_each(t, p, SEEK_PASSES);
}

uint64_t target_count_hits(const struct target *t, uint32_t watcher, bool only)
{
    uint64_t n = 0;

    for (uint32_t node = 0; node < t->ops->nodes(t->ctx); node++)
        n += node == watcher ? home_of(t, node)->hits : only ? 0 : home_of(t, node)->hit_breaks;
    return n;
}

/* ---- Stopping and going on ---- */

void target_choose_nodes(struct target *t, bool nobody)
{
    uint32_t nodes = nobody ? 0 : t->ops->nodes(t->ctx);

    for (uint32_t i = 0; i < t->slots; i++)
        t->area->hart[i].watched = 0;
    for (uint32_t node = 0; node < nodes; node++)
        if (target_is_alive(t, node))
            hart_of(t, node)->watched = 1;
}

void target_await_program(struct target *t)
{
    uint32_t nodes = t->ops->nodes(t->ctx);

    target_choose_nodes(t, true);
    for (uint32_t node = 0; node < nodes; node++)
        home_of(t, node)->watched = 1;
}

void target_hold_all(struct target *t)
{
    uint32_t nodes = t->ops->nodes(t->ctx);

    for (uint32_t node = 0; node < nodes; node++)
        if (target_is_alive(t, node))
            __atomic_store_n(&hart_of(t, node)->hold, 1, __ATOMIC_SEQ_CST);
    set_attention(t);
}

static bool is_stopped(const struct debug_hart *d)
{
    return __atomic_load_n(&d->stopped, __ATOMIC_SEQ_CST) != 0;
}

bool target_clock(const struct target *t, uint32_t node, uint64_t *cycles)
{
    const struct debug_hart *d = hart_of(t, node);

    if (!d || !is_stopped(d))
        return false;
    *cycles = d->cycles;
    return true;
}

uint32_t target_stopped(const struct target *t)
{
    return __atomic_load_n(&t->area->stopped, __ATOMIC_SEQ_CST);
}

static bool has_watch(const struct debug_area *a, uint64_t address)
{
    for (uint32_t k = 0; k < a->watches; k++)
        if (a->watch[k].low <= address && address < a->watch[k].high)
            return true;
    return false;
}

static bool still_stops(const struct target *t, const struct debug_hart *d, enum debug_why why)
{
    if (why == DEBUG_WATCH)
        return has_watch(t->area, d->watch);
    return why == DEBUG_BREAK && (has_break(t->area, d->now.x[0]) || has_break(t->area, d->now.x[0] | DEBUG_ALWAYS));
}

bool target_still_stops(const struct target *t, uint32_t node, enum debug_why why)
{
    const struct debug_hart *d = hart_of(t, node);

    return d && is_stopped(d) && still_stops(t, d, why);
}

/* Returns true if the hart has stopped for an event that has not been taken. One of a breakpoint or a watchpoint that
 * is gone is none any more. */
static bool has_event(const struct target *t, const struct debug_hart *d)
{
    if (!is_stopped(d) || d->why == DEBUG_HELD || d->why == DEBUG_NOT)
        return false;
    return (d->why != DEBUG_WATCH && d->why != DEBUG_BREAK) || still_stops(t, d, d->why);
}

static void forget_steps(struct target *t)
{
    for (uint32_t i = 0; i < t->slots; i++)
        if (is_stopped(&t->area->hart[i]) &&
            (t->area->hart[i].why == DEBUG_STEP || t->area->hart[i].why == DEBUG_SOUGHT))
            t->area->hart[i].why = DEBUG_HELD;
}

bool target_take_event(struct target *t, struct target_event *e)
{
    uint32_t nodes = t->ops->nodes(t->ctx);
    struct debug_hart *first = NULL;

    for (uint32_t node = 0; node < nodes; node++) {
        struct debug_hart *d = hart_of(t, node);

        if (!d || d->hold || !has_event(t, d) || (first && first->cycles <= d->cycles))
            continue;
        first = d;
        *e = (struct target_event){.why = d->why, .node = node, .watch = d->watch, .scause = d->program.scause};
    }
    if (!first)
        return false;
    first->in_kernel_for_user = !first->in_user && (first->why == DEBUG_BREAK || first->why == DEBUG_STEP);
    first->why = DEBUG_HELD;
    forget_steps(t);
    return true;
}

static void release(struct target *t, struct debug_hart *d)
{
    d->in_kernel_for_user = 0;
    t->ops->release(t->ctx, (uint32_t)(d - t->area->hart));
}

/* Those that have been granted more than that stop in their slots. */
static void set_pace(struct target *t, bool ahead)
{
    for (uint32_t i = 0; i < t->slots && !ahead; i++)
        t->area->hart[i].recall |= t->ahead && is_stopped(&t->area->hart[i]);
    if (ahead != t->ahead)
        t->ops->run_ahead(t->ctx, ahead);
    t->ahead = ahead;
}

void target_pace(struct target *t, const struct target_go *go)
{
    bool ahead = go && t->area->breaks == 0 && t->area->watches == 0;

    for (uint32_t node = 0; ahead && node < t->ops->nodes(t->ctx); node++)
        ahead = go[node].how == TARGET_RUN;
    set_pace(t, ahead);
}

/* A step of a program that is in the kernel, as in a system call, ends in the program. A hart that waits in front of
 * its next instruction of user code in its slot, not in a debug stop, has not looked at it yet. */
static void set_step(const struct target *t, struct debug_hart *d, const struct target_go *go)
{
    d->step = go->how != TARGET_STEP ? DEBUG_GO : shows_kernel(t, d) ? DEBUG_STEP_ANY : DEBUG_STEP_USER;
    d->skip = d->in_user && !is_stopped(d);
    d->step_low = go->low;
    d->step_high = go->high;
}

void target_let_go(struct target *t, uint32_t node, const struct target_go *go)
{
    struct debug_hart *d = hart_of(t, node);

    if (!d)
        return;
    set_step(t, d, go);
    d->hold = go->how == TARGET_STAY;
    set_attention(t);
    if (go->how != TARGET_STAY && is_stopped(d) && !has_event(t, d))
        release(t, d);
}

bool target_release_ended(struct target *t)
{
    bool any = false;

    target_choose_nodes(t, false);
    for (uint32_t i = 0; i < t->slots; i++) {
        struct debug_hart *d = &t->area->hart[i];

        if (d->watched)
            continue;
        d->hold = 0;
        d->step = DEBUG_GO;
        any = any || is_stopped(d);
        if (is_stopped(d))
            release(t, d);
    }
    return any;
}

void target_release_all(struct target *t)
{
    t->area->fault_pc = 0;
    set_pace(t, true);
    target_clear(t);
    target_end_seek(t);
    for (uint32_t i = 0; i < t->slots; i++) {
        t->area->hart[i].hold = 0;
        t->area->hart[i].step = DEBUG_GO;
    }
    set_attention(t);
    for (uint32_t i = 0; i < t->slots; i++)
        if (is_stopped(&t->area->hart[i]))
            release(t, &t->area->hart[i]);
}

void target_reset(struct target *t)
{
    t->area->closely = t->area->placed = 0;
    for (uint32_t i = 0; i < t->slots; i++)
        t->area->hart[i].awaited = t->area->hart[i].returns = 0;
    target_release_all(t);
}
