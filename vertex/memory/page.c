/*
 * The node's memory in pages: a list of free runs in ascending order, first fit, and the promised pages (page.h).
 */
#include "vertex/memory/page.h"

#include <stddef.h>

#include "vertex/base/panic.h"

struct run {          /* at the start of each run of free pages */
    struct run *next; /* at a higher address, not adjacent */
    uint64_t pages;
};

static struct {
    struct run *first;
    char *low, *high; /* the bounds of all memory, as page_init got them */
    uint32_t free;
    uint32_t promised;
    uint32_t keep;
    uint32_t owned[MEM_OWNERS];
} mem;

static char *run_end(const struct run *r)
{
    return (char *)r + r->pages * PAGE_BYTES;
}

/* Inserts a run between two neighbours of the list and joins adjacent runs. */
static void insert(struct run *before, struct run *after, void *at, uint64_t pages)
{
    struct run *r = at;

    if (before && run_end(before) == at) {
        before->pages += pages;
        r = before;
    } else {
        r->pages = pages;
        r->next = after;
        if (before)
            before->next = r;
        else
            mem.first = r;
    }
    if (after && run_end(r) == (char *)after) {
        r->pages += after->pages;
        r->next = after->next;
    }
}

/* Takes pages from the front of a run, so that successive allocations ascend. */
static void *take(struct run **link, uint32_t pages)
{
    struct run *r = *link, rest = {r->next, r->pages - pages};
    struct run *moved = (struct run *)((char *)r + (uint64_t)pages * PAGE_BYTES);

    if (rest.pages == 0) {
        *link = rest.next;
    } else {
        *moved = rest;
        *link = moved;
    }
    return r;
}

static void *find_and_take(enum mem_owner owner, uint32_t pages)
{
    for (struct run **link = &mem.first; *link; link = &(*link)->next)
        if ((*link)->pages >= pages) {
            mem.free -= pages;
            mem.owned[owner] += pages;
            return take(link, pages);
        }
    return NULL;
}

void page_init(void *low, void *high)
{
    mem = (typeof(mem)){.low = low, .high = high};
    mem.keep = PAGE_KEEP;
    mem.free = ((char *)high - (char *)low) / PAGE_BYTES;
    insert(NULL, NULL, low, mem.free);
}

void *page_alloc(enum mem_owner owner, uint32_t pages)
{
    if (pages == 0 || mem.free - mem.promised < pages)
        return NULL;
    return find_and_take(owner, pages);
}

void page_free(enum mem_owner owner, void *run, uint32_t pages)
{
    struct run *before = NULL, *after = mem.first;
    char *at = run, *end = at + (uint64_t)pages * PAGE_BYTES;

    while (after && (char *)after < at) {
        before = after;
        after = after->next;
    }
    if (at < mem.low || end > mem.high || (before && run_end(before) > at) || (after && end > (char *)after))
        panic("page_free: %u pages at 0x%lx are not in use", pages, (uint64_t)at);
    if (mem.owned[owner] < pages)
        panic("page_free: owner %u has %u pages, not %u", owner, mem.owned[owner], pages);
    insert(before, after, run, pages);
    mem.free += pages;
    mem.owned[owner] -= pages;
}

bool page_promise(uint32_t pages)
{
    if (mem.free - mem.promised < (uint64_t)pages + mem.keep)
        return false;
    mem.promised += pages;
    return true;
}

void page_release(uint32_t pages)
{
    if (pages > mem.promised)
        panic("page_release: %u of %u promised pages", pages, mem.promised);
    mem.promised -= pages;
}

/* Takes this page out of the free run that contains it. Returns false if it is not free. */
static bool take_page(char *page)
{
    struct run *r = mem.first, *before = NULL;

    while (r && run_end(r) <= page) {
        before = r;
        r = r->next;
    }
    if (!r || (char *)r > page)
        return false;
    struct run *rest = r->next;
    uint64_t low = (page - (char *)r) / PAGE_BYTES, high = r->pages - low - 1;
    if (high > 0) {
        rest = (struct run *)(page + PAGE_BYTES);
        *rest = (struct run){r->next, high};
    }
    if (low > 0)
        *r = (struct run){rest, low};
    else if (before)
        before->next = rest;
    else
        mem.first = rest;
    return true;
}

void *page_take_promised(void *wished)
{
    page_release(1);
    if (wished && take_page(wished)) {
        mem.free--;
        mem.owned[MEM_PROCESS]++;
        return wished;
    }
    void *page = find_and_take(MEM_PROCESS, 1);
    if (!page)
        panic("page_take_promised: %u free, %u promised", mem.free, mem.promised);
    return page;
}

void page_keep(uint64_t bytes)
{
    mem.keep = bytes ? PAGE_ROUND_UP(bytes) / PAGE_BYTES : PAGE_KEEP;
}

void *page_longest_run(uint64_t *pages)
{
    struct run *longest = mem.first;

    for (struct run *r = mem.first; r; r = r->next)
        if (r->pages > longest->pages)
            longest = r;
    *pages = longest ? longest->pages : 0;
    return longest;
}

uint32_t page_free_count(void)
{
    return mem.free;
}

uint32_t page_owned(enum mem_owner owner)
{
    return mem.owned[owner];
}
