/* What of Clusterfile's servers is a cache manager's own: the files of parts (manager.h). */
#include "nsdisk/clusterfile/clf_server.h"
#include "nsdisk/managers/manager.h"
#include "nsdisk/managers/peers.h"
#include "vertex/contract/errors.h"

const uint32_t clf_attach_most_bytes = CLF_ATTACH_MOST;

static bool is_same(const struct cached_file *f, const struct cached_file *wanted)
{
    return f->element == wanted->element && f->managers == wanted->managers && f->block == wanted->block;
}

static void meet(const uint8_t *nodes, uint32_t n, uint32_t own)
{
    int32_t node[PEERS_MOST];

    if (n > PEERS_MOST)
        return;
    memcpy(node, nodes, n * sizeof *node);
    cached_meet(node, n, own);
}

/* The first attachment has the text of the file's layout; all name the blocks. */
int clf_part_open(struct clf_call *c, struct clf_part *part, bool make)
{
    const struct clf_record *record = c->record;

    (void)make;
    if (!record || record->type != (int)N_CLF_ATTACH)
        return part->inode ? 0 : -N_ESTALE;
    struct cached_file *f = (struct cached_file *)part->inode;
    const struct cached_file wanted = {.handle = part->handle,
                                       .element = CLF_PART_SUBFILE(part->number),
                                       .managers = record->r.second,
                                       .block = (int64_t)record->r.offset};
    if (f)
        return is_same(f, &wanted) ? 0 : -N_EINVAL;
    const size_t nodes_bytes = (size_t)wanted.managers * sizeof(int32_t);
    if (record->n <= nodes_bytes)
        return -N_EPROTO;
    int error = cached_open(&wanted, (const char *)record->data + nodes_bytes, record->n - nodes_bytes, &f);
    if (error == 0)
        meet(record->data, (uint32_t)wanted.managers, wanted.element);
    part->inode = error < 0 ? NULL : &f->inode;
    return error;
}

int64_t clf_invoke_free(struct clf_call *c)
{
    cached_drop(c->r->handle);
    return 0;
}

/* Names are the metadata manager's. */
int64_t clf_invoke_name(struct clf_call *c)
{
    (void)c;
    return -N_ENOSYS;
}

int64_t clf_invoke_manager(struct clf_call *c)
{
    const struct cached_file *f = (const struct cached_file *)c->record->attachment->part->inode;
    struct clf_manager told = {.presence = f ? f->presence_number : 0};

    told.counts = *cached_count();
    memcpy(c->reply, &told, sizeof told);
    c->reply_bytes = sizeof told;
    return 0;
}
