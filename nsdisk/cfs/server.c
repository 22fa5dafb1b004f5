/*
 * The family of the Concurrent File System: from a message to the function that carries it out, and its answer (cfs.h).
 *
 *   take -> record -> the volume's fiber: run -> invoke -> reply
 *                                              `-> waits (N_CGROW): answered when the growth is free
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

#define OWN 0 /* type of the server's own records; their op: */
enum { OWN_SYNC, OWN_END };

/* ---- On the fiber ---- */

static cfs_invoke *const operation[] = {
    [N_CNAME - N_CNAME] = cfs_invoke_name,   [N_CHEADER - N_CNAME] = cfs_invoke_header,
    [N_CREAD - N_CNAME] = cfs_invoke_block,  [N_CWRITE - N_CNAME] = cfs_invoke_block,
    [N_CSIZE - N_CNAME] = cfs_invoke_size,   [N_CPOINTER - N_CNAME] = cfs_invoke_pointer,
    [N_CSYNC - N_CNAME] = cfs_invoke_sync,   [N_CGROW - N_CNAME] = cfs_invoke_grow,
    [N_CALLOC - N_CNAME] = cfs_invoke_alloc, [N_CFREE - N_CNAME] = cfs_invoke_free,
    [N_CSTAT - N_CNAME] = cfs_invoke_stat,   [N_CDROP - N_CNAME] = cfs_invoke_drop,
    [N_CPLACE - N_CNAME] = cfs_invoke_place,
};
_Static_assert(sizeof operation / sizeof operation[0] == CFS_OPERATIONS, "every request is in the table");

/* A volume of a CFS disk. */
static bool can_be_disk(const struct ext2 *fs)
{
    return fs->block_bytes == CFS_BLOCK_BYTES && fs->data;
}

static void run_own(struct cfs_call *c)
{
    struct cfs_part *p;

    cfs_disk_sync(c); /* an error comes again when the volume is unmounted */
    TAILQ_FOREACH(p, &c->disk->parts, next)
        if (c->r->op == OWN_END)
            cfs_part_leave(p);
}

static void run(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct cfs_record *record = (struct cfs_record *)work;
    struct file_reply *reply = (struct file_reply *)area->bytes;
    struct cfs_call c = {.cfs = record->cfs,
                         .fs = fs,
                         .disk = &record->cfs->disk[record->r.disk],
                         .r = &record->r,
                         .record = record,
                         .data = record->data,
                         .n = record->n,
                         .reply = area->bytes + sizeof *reply};

    if (record->type == OWN) {
        run_own(&c);
        cfs_record_free(record);
        return;
    }
    int64_t status = can_be_disk(fs) ? operation[record->type - (int)N_CNAME](&c) : -N_EPROTO;
    if (c.waits)
        return;
    *reply = (struct file_reply){record->r.seq, (int32_t)status};
    if (!record->gone)
        family_reply(record->cfs->loop, record->from, record->type, reply,
                     sizeof *reply + (status < 0 ? 0 : c.reply_bytes));
    cfs_record_free(record);
}

/* ---- Taking ---- */

/* The request's lengths and bounds, n bytes being behind it. */
static bool is_well_formed(int type, const struct cfs_request *r, size_t n)
{
    switch (type) {
    case N_CNAME:
        return n == (size_t)r->bytes + r->offset && r->bytes > 0 && r->bytes <= FILE_NAME_MAX_BYTES &&
               r->offset <= FILE_NAME_MAX_BYTES;
    case N_CREAD:
        return n == 0 && r->bytes > 0 && r->offset + r->bytes <= (int)CFS_BLOCK_BYTES;
    case N_CWRITE:
        return n == r->bytes && n > 0 && r->offset + n <= CFS_BLOCK_BYTES;
    case N_CPOINTER:
        return r->op == 0 ? n == 0 : n == r->bytes && n % 4 == 0 && r->offset + n / 4 <= CFS_PAGE_POINTERS;
    default:
        return n == 0;
    }
}

/* n: bytes of data. A write has room for its whole block. */
static struct cfs_record *new_record(struct cfs *cfs, const struct cfs_request *r, int from, int type, size_t n)
{
    struct cfs_record *record = malloc(sizeof *record + (type == (int)N_CWRITE ? CFS_BLOCK_BYTES : n));

    if (!record)
        return NULL;
    memset(record, 0, sizeof *record);
    record->work.run = run;
    record->cfs = cfs;
    record->r = *r;
    record->from = from;
    record->type = type;
    record->n = n;
    STAILQ_INIT(&record->followers);
    LIST_INSERT_HEAD(&cfs->records, record, all);
    return record;
}

/* The disk's list, and the record for its end, which must not fail. */
static bool begin_disk(struct cfs *cfs, uint32_t drive)
{
    struct cfs_disk *disk = &cfs->disk[drive];
    const struct cfs_request end = {.disk = (uint16_t)drive, .op = OWN_END};

    if (disk->end)
        return true;
    disk->end = new_record(cfs, &end, -1, OWN, 0);
    if (!disk->opened)
        TAILQ_INIT(&disk->parts);
    disk->opened = true;
    return disk->end != NULL;
}

static int check(const struct cfs *cfs, const struct arrival *a, struct cfs_request *r)
{
    int error = family_head(a, N_CNAME, CFS_OPERATIONS, r, sizeof *r);

    if (error < 0)
        return error;
    if (!is_well_formed(a->type, r, a->n - sizeof *r))
        return -N_EPROTO;
    return server_volume_error(family_server(cfs->loop), r->disk);
}

static bool take(void *state, const struct arrival *a)
{
    struct cfs *cfs = state;
    struct cfs_request r;
    int error = check(cfs, a, &r);

    if (error < 0) {
        family_refuse(cfs->loop, a, error);
        return true;
    }
    struct cfs_record *record = begin_disk(cfs, r.disk) ? new_record(cfs, &r, a->from, a->type, a->n - sizeof r) : NULL;
    if (!record)
        return false;
    memcpy(record->data, a->bytes + sizeof r, record->n);
    if (a->type == (int)N_CREAD || a->type == (int)N_CWRITE)
        cfs_block_ask(record);
    else
        cfs_run(record);
    return true;
}

/* ---- Ends ---- */

/* The program's end writes back [P2 section 3.0]. */
static void sync_disk(struct cfs *cfs, uint32_t drive)
{
    const struct cfs_request r = {.disk = (uint16_t)drive, .op = OWN_SYNC};
    struct cfs_record *record = new_record(cfs, &r, -1, OWN, 0);

    if (record && family_run(cfs->loop, drive, &record->work, -1, (int)N_CSYNC) < 0)
        cfs_record_free(record);
}

static void client_ended(void *state, int from)
{
    struct cfs *cfs = state;
    struct cfs_record *record;
    struct cfs_part *p;

    LIST_FOREACH(record, &cfs->records, all)
        record->gone |= record->type != OWN && record->from == from;
    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++) {
        if (!cfs->disk[drive].end)
            continue;
        TAILQ_FOREACH(p, &cfs->disk[drive].parts, next)
            cfs_grow_forget(p, from), cfs_places_forget(p, from);
        sync_disk(cfs, drive);
    }
}

/* Blocks that have come are for those who wait for them. */
static void commands_ended(void *state)
{
    struct cfs *cfs = state;

    cfs_block_ask_loaded(cfs);
    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++) {
        struct ext2 *fs = cfs->disk[drive].end ? server_volume(family_server(cfs->loop), drive) : NULL;

        if (fs && fs->data)
            data_cache_reap(fs->data);
    }
}

static void shut_down(void *state)
{
    struct cfs *cfs = state;
    struct cfs_part *p;

    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++) {
        struct cfs_disk *disk = &cfs->disk[drive];

        if (!disk->end)
            continue;
        TAILQ_FOREACH(p, &disk->parts, next)
            cfs_grow_end(p, -N_EIO);
        if (family_run(cfs->loop, drive, &disk->end->work, -1, (int)N_CSYNC) < 0)
            cfs_record_free(disk->end);
        disk->end = NULL;
    }
}

static void *begin(struct loop *l)
{
    struct cfs *cfs = calloc(1, sizeof *cfs);

    if (cfs) {
        cfs->loop = l;
        STAILQ_INIT(&cfs->loaded);
    }
    return cfs;
}

static void end(void *state)
{
    struct cfs *cfs = state;
    struct cfs_record *record;
    struct cfs_part *p;

    while ((record = LIST_FIRST(&cfs->records)))
        cfs_record_free(record);
    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++)
        while (cfs->disk[drive].opened && (p = TAILQ_FIRST(&cfs->disk[drive].parts)))
            cfs_part_free(&cfs->disk[drive], p);
    free(cfs);
}

const struct family cfs_family = {TYPES_CFS, TYPES_CFS_LAST, begin, take, client_ended, commands_ended, shut_down, end};
