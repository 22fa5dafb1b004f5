/* Reads and writes of a part, plain or by a view [P3 section 6.3.3]; its views, its size (clf_server.h). */
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "nsdisk/serve/merge.h"
#include "vertex/contract/errors.h"

static struct clf_part *part_of(const struct clf_call *c)
{
    return c->record->attachment->part;
}

/* ---- Views ---- */

struct view *clf_view_of(const struct clf_record *record)
{
    return record->r.view <= CLF_VIEWS ? record->attachment->view[record->r.view - 1] : NULL;
}

/* The memory of a drive for its views: it is there since the first was made. */
static struct merge *merge_of(const struct clf_call *c)
{
    return serve_merge(family_server(c->clf->loop), c->r->drive);
}

/* A view takes the place of one with its number. */
int64_t clf_invoke_view(struct clf_call *c)
{
    const struct clf_record *record = c->record;

    if (c->r->view == 0 || c->r->view > CLF_VIEWS)
        return -N_EINVAL;
    if (record->n > FILE_VIEW_MAX_BYTES)
        return -N_E2BIG;
    if (!merge_of(c))
        return -N_ENOMEM;
    return view_replace(server_views(family_server(c->clf->loop)), &record->attachment->view[c->r->view - 1],
                        record->data, record->n);
}

/* ---- Lists ---- */

/* Their bytes are those of the request, and none lies beyond what a file may have. */
static bool list_is_sound(const struct clf_record *record)
{
    struct clf_list_place place;
    uint64_t bytes = 0;

    if (record->r.second == 0 || record->r.second > CLF_LIST_PLACES)
        return false;
    for (uint32_t i = 0; i < record->r.second; i++) {
        memcpy(&place, record->data + i * sizeof place, sizeof place);
        bytes += place.bytes;
        if (place.high > INT32_MAX)
            return false;
    }
    return bytes == record->r.bytes;
}

/* Place by place, until one comes short. data: all places' bytes, one after the other. */
static int64_t move_list(const struct clf_record *record, struct ext2_inode *inode, uint8_t *data)
{
    struct clf_list_place place;
    int64_t moved = 0;

    for (uint32_t i = 0; i < record->r.second; i++) {
        memcpy(&place, record->data + i * sizeof place, sizeof place);
        const uint64_t at = (uint64_t)place.high << 32 | place.low;
        const int64_t n = record->type == (int)N_CLF_WRITE ? ext2_write(inode, at, data + moved, place.bytes)
                                                           : ext2_read(inode, at, data + moved, place.bytes);

        if (n < 0)
            return moved > 0 ? moved : n;
        moved += n;
        if (n < place.bytes)
            break;
    }
    return moved;
}

/* ---- Data ---- */

int64_t clf_invoke_read(struct clf_call *c)
{
    struct clf_part *part = part_of(c);
    const bool lists = c->r->view == CLF_VIEW_LIST;
    int64_t n = clf_part_open(c, part, false);

    if (n < 0)
        return n;
    if (c->r->bytes > c->room)
        return -N_EPROTO;
    if (lists && !list_is_sound(c->record))
        return -N_EINVAL;
    if (c->r->view != 0 && !lists && !clf_view_of(c->record))
        return -N_EINVAL;
    if (part->inode && lists)
        n = move_list(c->record, part->inode, c->reply);
    else if (part->inode && c->r->view == 0)
        n = ext2_read(part->inode, c->r->offset, c->reply, c->r->bytes);
    else if (part->inode)
        n = view_read(clf_view_of(c->record), merge_of(c)->sieve, part->inode, c->r->offset, c->reply, c->r->bytes);
    c->reply_bytes = n > 0 ? (size_t)n : 0;
    return n;
}

int64_t clf_invoke_write(struct clf_call *c)
{
    struct clf_part *part = part_of(c);
    const bool lists = c->r->view == CLF_VIEW_LIST;

    if (lists && !list_is_sound(c->record))
        return -N_EINVAL;
    if (c->r->view != 0 && !lists && !clf_view_of(c->record))
        return -N_EINVAL;
    if (c->fs->read_only)
        return -N_EROFS;
    int error = clf_part_open(c, part, true);
    if (error < 0)
        return error;
    if (lists)
        return move_list(c->record, part->inode, c->record->data + c->r->second * sizeof(struct clf_list_place));
    if (c->r->view == 0)
        return ext2_write(part->inode, c->r->offset, c->record->data, c->r->bytes);
    return merge_write_view(merge_of(c), clf_view_of(c->record), part->inode, c->r->offset, c->record->data,
                            c->r->bytes);
}

/* ---- Size and sync ---- */

int64_t clf_invoke_size(struct clf_call *c)
{
    struct clf_part *part = part_of(c);
    const bool sets = c->r->op == 1;
    int error = c->r->op > 1 ? -N_EINVAL : sets && c->fs->read_only ? -N_EROFS : 0;

    if (error == 0)
        error = clf_part_open(c, part, sets && c->r->offset > 0);
    if (error == 0 && sets && part->inode && part->inode->size_bytes != c->r->offset)
        error = c->r->offset > c->fs->file_max_bytes ? -N_EFBIG : ext2_set_size(part->inode, c->r->offset);
    if (error < 0)
        return error;
    const uint64_t bytes = part->inode ? part->inode->size_bytes : 0;
    memcpy(c->reply, &bytes, sizeof bytes);
    c->reply_bytes = sizeof bytes;
    return 0;
}

int64_t clf_invoke_sync(struct clf_call *c)
{
    const struct clf_part *part = part_of(c);
    int error = c->fs->read_only ? 0 : ext2_sync(c->fs);

    return error < 0 || !part->inode ? error : ext2_write_error(part->inode);
}
