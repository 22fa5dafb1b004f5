/*
 * What is known of a file on one disk (cfs.h): read at the first request with its handle, written back by a sync, and
 * forgotten when CFS_PARTS_MAX others have been used since.
 *
 * Order. Data goes before the bits that say that it is there, so that a crash leaves zeros and never what another file
 * had: cfs_disk_sync remembers the bits, writes all data back, then those bits.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

static const char *const kinds[] = {".h", ".w", ""}; /* what a file may have on a disk */

/* ---- Parts in memory ---- */

void cfs_part_leave(struct cfs_part *p)
{
    ext2_inode_put(p->data);
    p->data = NULL;
    p->known = false;
}

void cfs_part_free(struct cfs_disk *disk, struct cfs_part *p)
{
    TAILQ_REMOVE(&disk->parts, p, next);
    disk->count--;
    cfs_part_leave(p);
    cfs_places_forget(p, -1);
    free(p->run);
    free(p->written);
    free(p);
}

static struct cfs_part *least_recently_used(const struct cfs_disk *disk)
{
    struct cfs_part *p, *oldest = NULL;

    TAILQ_FOREACH(p, &disk->parts, next)
        if (!p->held && STAILQ_EMPTY(&p->waiting) && LIST_EMPTY(&p->places) && p->asks == 0 &&
            (!oldest || p->used < oldest->used))
            oldest = p;
    return oldest;
}

/* Makes room for one more. While the disk is written, what was to go may be used again. */
static int evict(struct cfs_call *c)
{
    int error = 0;

    while (error == 0 && c->disk->count >= CFS_PARTS_MAX) {
        struct cfs_part *p = least_recently_used(c->disk);

        if (!p)
            return -N_ENFILE;
        if (p->written_changed || p->head_changed)
            error = cfs_disk_sync(c);
        else
            cfs_part_free(c->disk, p);
    }
    return error;
}

static int add(struct cfs_call *c, uint32_t number, uint32_t age, bool make, struct cfs_part **out)
{
    int error = evict(c);
    struct cfs_part *p = error < 0 ? NULL : calloc(1, sizeof *p);

    if (!p)
        return error < 0 ? error : -N_ENOMEM;
    p->number = number;
    p->age = age;
    STAILQ_INIT(&p->waiting);
    STAILQ_INIT(&p->freeing);
    LIST_INIT(&p->fresh);
    LIST_INIT(&p->places);
    p->used = ++c->cfs->uses;
    TAILQ_INSERT_HEAD(&c->disk->parts, p, next);
    c->disk->count++;
    int files = cfs_part_load(c->fs, p);
    if (files > 0 || (files == 0 && make)) {
        p->known = true;
        *out = p;
        return 0;
    }
    cfs_part_free(c->disk, p);
    return files < 0 ? files : -N_ESTALE;
}

int cfs_part_get(struct cfs_call *c, uint64_t handle, bool make, struct cfs_part **out)
{
    uint32_t number = CFS_HANDLE_NUMBER(handle), age = CFS_HANDLE_AGE(handle);
    struct cfs_part *p;

    if (number == 0)
        return -N_EBADF;
    TAILQ_FOREACH(p, &c->disk->parts, next)
        if (p->number == number)
            break;
    if (!p)
        return add(c, number, age, make, out);
    if (p->age != age)
        return -N_EPROTO;
    p->used = ++c->cfs->uses;
    *out = p;
    return 0;
}

struct cfs_part *cfs_part_known(const struct cfs_disk *disk, uint64_t handle)
{
    struct cfs_part *p;

    TAILQ_FOREACH(p, &disk->parts, next)
        if (p->number == CFS_HANDLE_NUMBER(handle))
            return p->known && p->age == CFS_HANDLE_AGE(handle) && p->data ? p : NULL;
    return NULL;
}

/* ---- Removing ---- */

int cfs_part_remove(struct cfs_call *c, struct cfs_part *p)
{
    char path[CFS_PATH_BYTES];
    uint32_t number = p->number;
    int result = 0;

    cfs_grow_end(p, -N_ESTALE);
    cfs_part_free(c->disk, p);
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0] && result == 0; i++) {
        result = ext2_drop_dead(c->fs, cfs_path(path, number, kinds[i]));
        result = result < 0 ? result : ext2_unlink(c->fs, cfs_path(path, number, kinds[i]));
        result = result == -N_ENOENT ? 0 : result;
    }
    return result;
}

/* ---- Writing back ---- */

/* Bits of now, after all data of now. */
static int sync_written(struct cfs_call *c, struct cfs_part *p)
{
    size_t n = cfs_bytes_of_bits(p->blocks);
    uint8_t *bits = malloc(n + 1);

    if (!bits)
        return -N_ENOMEM;
    memcpy(bits, p->written, n);
    p->written_changed = false;
    int error = data_cache_flush(c->fs->data);
    if (error == 0)
        error = cfs_part_store_written(c, p, bits);
    p->written_changed |= error < 0;
    free(bits);
    return error;
}

int cfs_disk_sync(struct cfs_call *c)
{
    struct cfs_part *p;
    int result = 0;

    TAILQ_FOREACH(p, &c->disk->parts, next) {
        int error = p->written_changed ? sync_written(c, p) : 0;

        if (error == 0 && p->head_changed) {
            p->head_changed = false;
            error = cfs_part_store_header(c, p);
            p->head_changed |= error < 0;
        }
        result = result < 0 ? result : error;
    }
    int synced = ext2_sync(c->fs);
    return result < 0 ? result : synced;
}

int64_t cfs_invoke_sync(struct cfs_call *c)
{
    struct cfs_part *p;
    int error = cfs_part_get(c, c->r->handle, false, &p);

    if (error == 0 && c->fs->read_only)
        return 0;
    if (error == 0)
        error = cfs_disk_sync(c);
    return error < 0 || !p->data ? error : ext2_write_error(p->data);
}

int64_t cfs_invoke_drop(struct cfs_call *c)
{
    int error = c->fs->read_only ? 0 : cfs_disk_sync(c);

    if (error == 0)
        data_cache_forget(c->fs->data, 0, c->fs->blocks);
    return error;
}
