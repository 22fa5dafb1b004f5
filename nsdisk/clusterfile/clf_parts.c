/* Parts, and clients' attachments to them (clf_server.h). */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "vertex/contract/errors.h"

/* ---- Parts ---- */

static struct clf_part *part_get(struct clf_call *c, uint64_t handle, uint32_t number)
{
    struct clf_part *part;

    LIST_FOREACH(part, &c->clf->parts, all)
        if (part->drive == c->r->drive && part->handle == handle && part->number == number)
            return part;
    part = calloc(1, sizeof *part);
    if (part) {
        part->clf = c->clf;
        part->drive = c->r->drive;
        part->handle = handle;
        part->number = number;
        LIST_INSERT_HEAD(&c->clf->parts, part, all);
    }
    return part;
}

static void leave(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct clf_part *part = (struct clf_part *)work;

    (void)fs;
    (void)area;
    part->leaving = false;
    ext2_inode_put(part->inode); /* an error comes again when the volume is unmounted */
    part->inode = NULL;
    if (part->refs > 0)
        return;
    LIST_REMOVE(part, all);
    free(part);
}

/* On a volume that is dead, nothing can be given back. */
static void have_leave(struct clf_part *part)
{
    if (part->leaving)
        return;
    part->leave.run = leave;
    part->leaving = family_run(part->clf->loop, part->drive, &part->leave, -1, (int)N_CLF_DETACH) == 0;
}

void clf_parts_leave(struct clf_server *clf)
{
    struct clf_part *part;

    LIST_FOREACH(part, &clf->parts, all)
        if (part->inode)
            have_leave(part);
}

void clf_parts_free(struct clf_server *clf)
{
    struct clf_part *part;

    for (uint32_t i = 0; i < clf->attachments; i++)
        if (clf->attachment[i]) {
            clf->attachment[i]->uses = 1;
            clf_attachment_put(clf, clf->attachment[i]);
        }
    free(clf->attachment);
    while ((part = LIST_FIRST(&clf->parts))) {
        LIST_REMOVE(part, all);
        free(part);
    }
}

/* ---- Attachments ---- */

struct clf_attachment *clf_attachment_find(const struct clf_server *clf, uint32_t id, int from)
{
    struct clf_attachment *a = clf->attachments > 0 ? clf->attachment[id & (clf->attachments - 1)] : NULL;

    return a && a->id == id && a->from == from ? a : NULL;
}

/* Makes room for one more. Ids keep their places, as the table only doubles. */
static int grow(struct clf_server *clf)
{
    const uint32_t n = clf->attachments > 0 ? 2 * clf->attachments : 16;

    if (clf->attached < clf->attachments / 2)
        return 0;
    if (clf->attached == CLF_ATTACHMENTS_MAX)
        return -N_ENFILE;
    if (n > 2 * CLF_ATTACHMENTS_MAX)
        return 0;
    struct clf_attachment **table = calloc(n, sizeof *table);
    if (!table)
        return -N_ENOMEM;
    for (uint32_t i = 0; i < clf->attachments; i++)
        if (clf->attachment[i])
            table[clf->attachment[i]->id & (n - 1)] = clf->attachment[i];
    free(clf->attachment);
    clf->attachment = table;
    clf->attachments = n;
    return 0;
}

static int attach(struct clf_call *c, struct clf_part *part, struct clf_attachment **out)
{
    struct clf_server *clf = c->clf;
    int error = grow(clf);
    struct clf_attachment *a = error < 0 ? NULL : calloc(1, sizeof *a);

    if (!a)
        return error < 0 ? error : -N_ENOMEM;
    do
        a->id = ++clf->ids;
    while (a->id == 0 || clf->attachment[a->id & (clf->attachments - 1)]);
    clf->attachment[a->id & (clf->attachments - 1)] = a;
    clf->attached++;
    a->part = part;
    a->from = c->record->from;
    a->uses = 1;
    a->manager = c->r->view;
    part->refs++;
    part->managers += a->manager > 0;
    *out = a;
    return 0;
}

void clf_attachment_put(struct clf_server *clf, struct clf_attachment *a)
{
    if (--a->uses > 0)
        return;
    a->from = -1;
    for (uint32_t i = 0; i < CLF_VIEWS; i++)
        view_replace(server_views(family_server(clf->loop)), &a->view[i], NULL, 0);
    a->part->managers -= a->manager > 0;
    if (--a->part->refs == 0)
        have_leave(a->part);
    clf->attachment[a->id & (clf->attachments - 1)] = NULL;
    clf->attached--;
    free(a);
}

/* ---- Requests ---- */

int64_t clf_invoke_attach(struct clf_call *c)
{
    struct clf_part *part = part_get(c, c->r->handle, c->r->part);
    struct clf_attachment *a = NULL;
    int error = part ? clf_part_open(c, part, false) : -N_ENOMEM;

    if (c->record->gone)
        error = -N_EIO; /* it would never be dropped */
    if (error == 0)
        error = attach(c, part, &a);
    if (error < 0) {
        if (part && part->refs == 0)
            have_leave(part);
        return error;
    }
    const struct clf_attached told = {part->inode ? part->inode->size_bytes : 0, a->id, arrival_io_bytes(c->area)};
    memcpy(c->reply, &told, sizeof told);
    c->reply_bytes = sizeof told;
    return 0;
}
