/* Attachments to the parts of an open file (clf_client.h). */
#include <stdlib.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/servers/server_calls.h"
#include "vertex/contract/errors.h"

struct clf_question clf_part_question(const struct clf_open *f, uint32_t p, int type)
{
    const struct clf_layout *l = f->layout;

    return (struct clf_question){
        .volume = l->volume[l->part[p].volume], .type = type, .r = {.attachment = f->part[p].attachment}};
}

struct clf_question clf_attach_question(const struct clf_open *f, uint32_t p, struct clf_attached *to)
{
    const struct clf_part_place *place = &f->layout->part[p];
    struct clf_question q = clf_part_question(f, p, N_CLF_ATTACH);

    q.r.handle = f->handle;
    q.r.part = CLF_PART(place->subfile, place->stripes > 1 ? place->volume : CLF_WHOLE);
    q.r.view = (uint16_t)(f->manages ? server_calls.node() + 1 : 0);
    q.head = to;
    q.head_bytes = sizeof *to;
    if (f->managers) {
        q.r.offset = (uint64_t)f->managers->block;
        q.r.second = (uint16_t)f->managers->n;
        q.data = f->managers->data;
        q.bytes = f->managers->bytes;
        q.r.bytes = (uint32_t)q.bytes;
    }
    return q;
}

/* Nothing is asked of servers that are not needed: those that a view does not meet never hear of the file. */
int clf_parts_attach(struct clf_open *f)
{
    const uint32_t parts = f->layout->parts;
    uint32_t n = 0, *which = malloc(parts * sizeof *which);
    struct clf_question *q = calloc(parts, sizeof *q);
    struct clf_attached *a = calloc(parts, sizeof *a);
    int error = which && q && a ? 0 : -N_ENOMEM;

    for (uint32_t p = 0; p < parts && error == 0; p++)
        if (f->part[p].wanted && f->part[p].attachment == 0) {
            q[n] = clf_attach_question(f, p, &a[n]);
            which[n++] = p;
        }
    if (n > 0)
        error = clf_ask(q, n);
    for (uint32_t i = 0; i < n; i++)
        if (q[i].result >= 0) {
            f->part[which[i]].attachment = a[i].attachment;
            f->part[which[i]].io_bytes = a[i].io_bytes;
            f->part[which[i]].size_bytes = a[i].size_bytes;
        }
    free(which);
    free(q);
    free(a);
    return error;
}
