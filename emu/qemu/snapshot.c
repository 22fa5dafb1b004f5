/* Only pages that the memfd has are copied: a page that comes later makes the states differ, even if it is zero. */
#include "emu/qemu/snapshot.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"

struct extent {
    uint64_t begin, end; /* in the memfd */
};

struct snapshot {
    const struct cabinet *cabinet;
    uint64_t window, window_end; /* in the memfd */
    struct extent *extent;
    size_t extents, room;
    uint8_t *bytes; /* of all extents */
    uint64_t registers[SLOT_REGISTERS];
};

/* Returns the next part of the window that the memfd has, from `at` on. An empty one is behind the last. */
static struct extent next_extent(const struct snapshot *s, uint64_t at)
{
    off_t begin = lseek(s->cabinet->ram_fd, (off_t)at, SEEK_DATA);

    if (begin < 0 || (uint64_t)begin >= s->window_end)
        return (struct extent){s->window_end, s->window_end};
    off_t end = lseek(s->cabinet->ram_fd, begin, SEEK_HOLE);
    return (struct extent){(uint64_t)begin, end < 0 || (uint64_t)end > s->window_end ? s->window_end : (uint64_t)end};
}

static void copy_memory(struct snapshot *s)
{
    size_t bytes = 0, at = 0;

    for (uint64_t from = s->window; from < s->window_end;) {
        struct extent e = next_extent(s, from);

        if (s->extents == s->room)
            s->extent = memory_grow(s->extent, &s->room, s->extents + 1, sizeof *s->extent);
        s->extent[s->extents++] = e;
        bytes += e.end - e.begin;
        from = e.end;
    }
    s->bytes = memory_new(bytes + 1, 1);
    for (size_t k = 0; k < s->extents; k++) {
        memcpy(s->bytes + at, s->cabinet->ram + s->extent[k].begin, s->extent[k].end - s->extent[k].begin);
        at += s->extent[k].end - s->extent[k].begin;
    }
}

struct snapshot *snapshot_take(const struct cabinet *c, uint32_t hart, const struct slot *slot)
{
    struct snapshot *s = memory_new(1, sizeof *s);
    uint64_t window = (uint64_t)(cabinet_window(c, hart) - c->ram);

    *s = (struct snapshot){.cabinet = c, .window = window, .window_end = window + c->ram_bytes};
    memcpy(s->registers, slot->registers, sizeof s->registers);
    copy_memory(s);
    return s;
}

bool snapshot_matches(const struct snapshot *s, const struct slot *slot)
{
    size_t at = 0;

    if (memcmp(s->registers, slot->registers, sizeof s->registers) != 0)
        return false;
    for (size_t k = 0; k < s->extents; k++) {
        struct extent e = next_extent(s, k > 0 ? s->extent[k - 1].end : s->window);

        if (e.begin != s->extent[k].begin || e.end != s->extent[k].end ||
            memcmp(s->bytes + at, s->cabinet->ram + e.begin, e.end - e.begin) != 0)
            return false;
        at += e.end - e.begin;
    }
    return true;
}

void snapshot_free(struct snapshot *s)
{
    if (!s)
        return;
    free(s->extent);
    free(s->bytes);
    free(s);
}
