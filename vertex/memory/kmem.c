/*
 * Slabs for objects of up to KMEM_SMALL_MAX bytes; larger ones are runs of pages (kmem.h).
 */
#include "vertex/memory/kmem.h"

#include "vertex/base/panic.h"

struct cell {
    struct cell *next;
};

/* A slab: one page.
 *
 *   +--------+------+------+-- ... --+------+
 *   | header | cell | cell |         | cell |     cells from `fresh` on were never used and are not
 *   +--------+------+------+-- ... --+------+     in the list: a new slab costs no set-up
 */
struct slab {
    struct slab *next, *previous; /* slabs of the class that have free cells */
    struct cell *free;
    uint32_t used;
    uint32_t fresh; /* offset of the first cell never used */
    uint32_t class;
    uint32_t pad;
};

enum { HEADER_BYTES = 64 };
_Static_assert(sizeof(struct slab) <= HEADER_BYTES, "slab header");

static const uint16_t class_bytes[] = {80, 144, 256, 576, 1344, KMEM_SMALL_MAX};
enum { CLASSES = sizeof class_bytes / sizeof class_bytes[0] };

static struct slab *partial[CLASSES];
static uint64_t owned[MEM_OWNERS];

static uint32_t class_of(size_t bytes)
{
    uint32_t class = 0;

    while (class_bytes[class] < bytes)
        class ++;
    return class;
}

static uint32_t pages_of(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES;
}

static void list_add(struct slab *s)
{
    s->previous = NULL;
    s->next = partial[s->class];
    if (s->next)
        s->next->previous = s;
    partial[s->class] = s;
}

static void list_remove(struct slab *s)
{
    if (s->next)
        s->next->previous = s->previous;
    if (s->previous)
        s->previous->next = s->next;
    else
        partial[s->class] = s->next;
}

static int slab_is_full(const struct slab *s)
{
    return !s->free && s->fresh + class_bytes[s->class] > PAGE_BYTES;
}

static struct slab *slab_new(uint32_t class)
{
    struct slab *s = page_alloc(MEM_SLAB, 1);

    if (!s)
        return NULL;
    *s = (struct slab){.fresh = HEADER_BYTES, .class = class};
    list_add(s);
    return s;
}

static void *slab_take(struct slab *s)
{
    void *cell = s->free;

    if (cell) {
        s->free = s->free->next;
    } else {
        cell = (char *)s + s->fresh;
        s->fresh += class_bytes[s->class];
    }
    s->used++;
    if (slab_is_full(s))
        list_remove(s);
    return cell;
}

static void slab_give(struct slab *s, struct cell *cell)
{
    if (slab_is_full(s))
        list_add(s);
    cell->next = s->free;
    s->free = cell;
    if (--s->used == 0) {
        list_remove(s);
        page_free(MEM_SLAB, s, 1);
    }
}

static void *alloc_small(size_t bytes)
{
    uint32_t class = class_of(bytes);
    struct slab *s = partial[class];

    if (!s)
        s = slab_new(class);
    return s ? slab_take(s) : NULL;
}

static void free_small(void *object, size_t bytes)
{
    struct slab *s = (struct slab *)PAGE_ROUND_DOWN((uint64_t)object);

    if (s->class != class_of(bytes) || s->used == 0)
        panic("kmem_free: 0x%lx is not an object of %lu bytes", (uint64_t)object, (uint64_t)bytes);
    slab_give(s, object);
}

void *kmem_alloc(enum mem_owner owner, size_t bytes)
{
    void *object = bytes <= KMEM_SMALL_MAX ? alloc_small(bytes) : page_alloc(owner, pages_of(bytes));

    if (object)
        owned[owner] += bytes;
    return object;
}

void kmem_free(enum mem_owner owner, void *object, size_t bytes)
{
    if (owned[owner] < bytes)
        panic("kmem_free: owner %u has %lu bytes, not %lu", owner, owned[owner], (uint64_t)bytes);
    owned[owner] -= bytes;
    if (bytes <= KMEM_SMALL_MAX)
        free_small(object, bytes);
    else
        page_free(owner, object, pages_of(bytes));
}

uint64_t kmem_owned(enum mem_owner owner)
{
    return owned[owner];
}
