/* Tables of handles (handles.h). */
#include "libpio/mpi/base/handles.h"

#include <stdlib.h>

enum { FIRST_PLACES = 64 };

/* Place 0 is never used, since `free` and `next` mean none by it. */
static int grow(struct handle_table *t)
{
    uint32_t places = t->places ? 2 * t->places : FIRST_PLACES;
    struct handle_place *place =
        places <= 0x800000 ? realloc(t->place, places * sizeof *place) : NULL; /* an index has 24 bits */

    if (!place)
        return -1;
    for (uint32_t i = places; i-- > (t->places ? t->places : 1);) {
        place[i] = (struct handle_place){NULL, t->free, t->begins};
        t->free = i;
    }
    if (t->places == 0)
        place[0] = (struct handle_place){0};
    t->place = place;
    t->places = places;
    return 0;
}

void *handle_new(struct handle_table *t, enum handle_kind kind, void *item)
{
    if (t->free == 0 && grow(t) != 0)
        return NULL;
    uint32_t index = t->free;
    struct handle_place *p = &t->place[index];

    t->free = p->next;
    p->item = item;
    t->used++;
    return HANDLE_OF(void *, kind, index + HANDLE_FIRST, p->nth);
}

void handle_free(struct handle_table *t, const void *handle)
{
    uint32_t index = (uint32_t)(HANDLE_INDEX(handle) - HANDLE_FIRST);
    struct handle_place *p = &t->place[index];

    *p = (struct handle_place){NULL, t->free, p->nth + 1};
    t->free = index;
    t->used--;
}

void handle_drop(struct handle_table *t)
{
    uint32_t begins = t->begins;

    for (uint32_t i = 1; i < t->places; i++)
        begins = t->place[i].nth >= begins ? t->place[i].nth + 1 : begins;
    free(t->place);
    *t = (struct handle_table){.begins = begins};
}
