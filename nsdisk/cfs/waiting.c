/*
 * Requests that wait to grow a file, and what all records end with: an answer.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"

/* ---- Answers ---- */

void cfs_record_free(struct cfs_record *record)
{
    LIST_REMOVE(record, all);
    free(record);
}

void cfs_answer(struct cfs_record *record, int64_t status, const void *payload, size_t bytes)
{
    struct {
        struct file_reply head;
        struct cfs_header payload;
    } reply = {.head = {record->r.seq, (int32_t)status}};

    bytes = status < 0 || bytes > sizeof reply.payload ? 0 : bytes;
    if (bytes > 0)
        memcpy(&reply.payload, payload, bytes);
    if (!record->gone)
        family_reply(record->cfs->loop, record->from, record->type, &reply, sizeof reply.head + bytes);
    cfs_record_free(record);
}

void cfs_run(struct cfs_record *record)
{
    int error = family_run(record->cfs->loop, record->r.disk, &record->work, record->from, record->type);

    if (error < 0)
        cfs_answer(record, error, NULL, 0);
}

/* ---- Growing ---- */

void cfs_grow_free(struct cfs_part *p)
{
    struct cfs_record *next;

    p->held = false;
    while (!p->held && (next = STAILQ_FIRST(&p->waiting))) {
        const struct cfs_header h = cfs_header_of(p);

        STAILQ_REMOVE_HEAD(&p->waiting, next);
        p->held = !next->gone;
        p->holder = next->from;
        cfs_answer(next, 0, &h, sizeof h);
    }
}

void cfs_grow_forget(struct cfs_part *p, int from)
{
    if (!p->held || p->holder != from)
        return;
    p->in_doubt = true; /* parts may have blocks that it has set no pointers to */
    cfs_grow_free(p);
}

void cfs_grow_end(struct cfs_part *p, int error)
{
    struct cfs_record *record;

    while ((record = STAILQ_FIRST(&p->waiting))) {
        STAILQ_REMOVE_HEAD(&p->waiting, next);
        cfs_answer(record, error, NULL, 0);
    }
    p->held = false;
}

/* ---- Common pointers ---- */

void cfs_place_drop(struct cfs_place *place)
{
    LIST_REMOVE(place, next);
    free(place);
}

void cfs_places_forget(struct cfs_part *p, int owner)
{
    struct cfs_place *place, *next;

    for (place = LIST_FIRST(&p->places); place; place = next) {
        next = LIST_NEXT(place, next);
        if (owner == -1 || place->owner == owner)
            cfs_place_drop(place);
    }
}
