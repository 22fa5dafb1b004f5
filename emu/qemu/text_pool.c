#include "emu/qemu/text_pool.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>

#include "emu/base/memory.h"

struct text {
    SLIST_ENTRY(text) listed;
    uint64_t offset;
    size_t bytes;
    const uint8_t *first; /* the first copy, to compare with */
    bool placed[];        /* by cabinet: its pool has a copy */
};

struct text_pool {
    uint32_t cabinets;
    uint64_t bytes, used;
    uint8_t **memory;
    SLIST_HEAD(, text) texts; /* the newest first */
};

struct text_pool *text_pool_new(uint32_t cabinets, uint64_t bytes)
{
    struct text_pool *p = memory_new(1, sizeof *p);

    *p = (struct text_pool){.cabinets = cabinets, .bytes = bytes, .memory = memory_new(cabinets, sizeof *p->memory)};
    return p;
}

void text_pool_free(struct text_pool *p)
{
    for (struct text *t; (t = SLIST_FIRST(&p->texts));) {
        SLIST_REMOVE_HEAD(&p->texts, listed);
        free(t);
    }
    free(p->memory);
    free(p);
}

void text_pool_attach(struct text_pool *p, uint32_t cabinet, uint8_t *memory)
{
    p->memory[cabinet] = memory;
}

static struct text *find(const struct text_pool *p, const uint8_t *text, size_t bytes)
{
    struct text *t;

    SLIST_FOREACH(t, &p->texts, listed)
        if (t->bytes == bytes && memcmp(t->first, text, bytes) == 0)
            return t;
    return NULL;
}

static struct text *add(struct text_pool *p, const uint8_t *first, size_t bytes)
{
    struct text *t = memory_new(1, sizeof *t + p->cabinets * sizeof *t->placed);

    *t = (struct text){.offset = p->used, .bytes = bytes, .first = first};
    p->used += bytes;
    SLIST_INSERT_HEAD(&p->texts, t, listed);
    return t;
}

int64_t text_pool_share(struct text_pool *p, uint32_t cabinet, const uint8_t *text, size_t bytes)
{
    struct text *t = find(p, text, bytes);

    if (!t && bytes > p->bytes - p->used)
        return -1;
    if (!t)
        t = add(p, p->memory[cabinet] + p->used, bytes);
    if (!t->placed[cabinet])
        memcpy(p->memory[cabinet] + t->offset, text, bytes);
    t->placed[cabinet] = true;
    return (int64_t)t->offset;
}
