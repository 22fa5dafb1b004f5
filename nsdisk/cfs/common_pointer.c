/*
 * Common pointers of a file (I/O mode 1): all nodes of a program read and write at one, first come, first served. The
 * home disk's server has it, and moves it on by what a node is about to read or write.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

#define PLACES_MAX 64u /* of a file */

static int64_t make(struct cfs_call *c, struct cfs_part *p)
{
    struct cfs_place *place, *other;
    uint32_t count = 0;

    LIST_FOREACH(other, &p->places, next)
        count++;
    if (count >= PLACES_MAX)
        return -N_EAGAIN;
    place = calloc(1, sizeof *place);
    if (!place)
        return -N_ENOMEM;
    c->cfs->last_place = c->cfs->last_place == INT32_MAX ? 1 : c->cfs->last_place + 1;
    place->number = c->cfs->last_place;
    place->owner = c->record->from;
    LIST_INSERT_HEAD(&p->places, place, next);
    return place->number;
}

/* By n bytes, or for a read by those that there are. */
static void move_on(const struct cfs_part *p, struct cfs_place *place, uint64_t n, bool read)
{
    const uint64_t left = p->size_bytes > place->at ? p->size_bytes - place->at : 0;

    n = read && n > left ? left : n;
    place->at = n > UINT64_MAX - place->at ? UINT64_MAX : place->at + n;
}

int64_t cfs_invoke_place(struct cfs_call *c)
{
    struct cfs_place *place = NULL;
    struct cfs_part *p;
    int error = c->r->op > 3 ? -N_EINVAL : cfs_part_get(c, c->r->handle, false, &p);

    if (error == 0 && !p->has_head)
        error = -N_ESTALE;
    if (error < 0)
        return error;
    if (c->r->op == 0)
        return make(c, p);
    LIST_FOREACH(place, &p->places, next)
        if (place->number == c->r->block)
            break;
    if (!place)
        return -N_EINVAL;
    if (c->r->op == 3) {
        cfs_place_drop(place);
        return 0;
    }
    memcpy(c->reply, &place->at, sizeof place->at);
    c->reply_bytes = sizeof place->at;
    move_on(p, place, c->r->arg, c->r->op == 2);
    return 0;
}
