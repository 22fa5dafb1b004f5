/*
 * A file's header on its home disk [P2 section 3.0]: its size, the pointers to its blocks in pages, and who makes it
 * longer. One client at a time does; it asks each disk for blocks, sets pointers, and says at last how many there are.
 */
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "nsdisk/serve/family_names.h"
#include "vertex/contract/errors.h"

/* The part with the header of a request's file. make: also if there is no header. */
static int get(struct cfs_call *c, bool make, struct cfs_part **p)
{
    int error = cfs_part_get(c, c->r->handle, make, p);

    if (error == 0 && !make && !(*p)->has_head)
        return -N_ESTALE;
    return error;
}

static void reply_header(struct cfs_call *c, const struct cfs_part *p)
{
    const struct cfs_header h = cfs_header_of(p);

    memcpy(c->reply, &h, sizeof h);
    c->reply_bytes = sizeof h;
}

/* Its head has its block from now on, so that a full disk does not keep it from being written. */
static int make_header(struct cfs_call *c, struct cfs_part *p)
{
    int error = c->fs->read_only ? -N_EROFS : cfs_part_store_header(c, p);

    p->has_head = error == 0;
    return error;
}

int64_t cfs_invoke_header(struct cfs_call *c)
{
    struct cfs_part *p;
    int error = c->r->op > 1 ? -N_EINVAL : get(c, c->r->op == 1, &p);

    if (error == 0 && !p->has_head)
        error = make_header(c, p);
    if (error == 0)
        reply_header(c, p);
    return error;
}

static int restrict_disks(const struct cfs_call *c, struct cfs_part *p)
{
    if (c->fs->read_only || p->head_blocks > 0 || c->r->arg == 0 || c->r->arg > UINT32_MAX)
        return c->fs->read_only ? -N_EROFS : p->head_blocks > 0 ? -N_EBUSY : -N_EINVAL;
    p->only_disks = (uint32_t)c->r->arg;
    p->head_changed = true;
    return 0;
}

int64_t cfs_invoke_size(struct cfs_call *c)
{
    struct cfs_part *p;
    int error = c->r->op > 2 ? -N_EINVAL : get(c, false, &p);

    if (error == 0 && c->r->op == 2)
        error = restrict_disks(c, p);
    if (error < 0)
        return error;
    if (c->r->op == 1 && c->r->arg > p->size_bytes) {
        if (c->fs->read_only || c->r->arg > (uint64_t)p->head_blocks * CFS_BLOCK_BYTES)
            return c->fs->read_only ? -N_EROFS : -N_EINVAL;
        p->size_bytes = c->r->arg;
        p->head_changed = true;
    }
    reply_header(c, p);
    return 0;
}

/* ---- Pointers ---- */

static int64_t read_page(struct cfs_call *c, struct ext2_inode *inode)
{
    int64_t n = ext2_read(inode, (uint64_t)(1 + c->r->block) * CFS_BLOCK_BYTES, c->reply, CFS_BLOCK_BYTES);

    if (n < 0)
        return n;
    memset(c->reply + n, 0, CFS_BLOCK_BYTES - (size_t)n);
    c->reply_bytes = CFS_BLOCK_BYTES;
    return CFS_BLOCK_BYTES;
}

static int64_t write_pointers(struct cfs_call *c, struct ext2_inode *inode)
{
    uint64_t at = (uint64_t)(1 + c->r->block) * CFS_BLOCK_BYTES + c->r->offset * 4u;
    int64_t n = ext2_write(inode, at, c->data, (uint32_t)c->n);

    return n >= 0 && n < (int64_t)c->n ? -N_ENOSPC : n;
}

int64_t cfs_invoke_pointer(struct cfs_call *c)
{
    struct cfs_part *p;
    struct ext2_inode *inode;
    char path[CFS_PATH_BYTES];
    int error = c->r->op > 1 || c->r->block >= CFS_PAGES_MAX ? -N_EINVAL : get(c, false, &p);

    if (error == 0 && c->r->op == 1 && (!p->held || p->holder != c->record->from))
        error = -N_EPERM;
    if (error == 0)
        error = family_lookup(c->fs, cfs_path(path, p->number, ".h"), false, &inode);
    if (error < 0)
        return error == -N_ENOENT ? -N_EIO : error;
    int64_t n = c->r->op == 0 ? read_page(c, inode) : write_pointers(c, inode);
    int put = ext2_inode_put(inode);
    return n >= 0 && put < 0 ? put : n;
}

/* ---- Growing ---- */

static int64_t hold(struct cfs_call *c, struct cfs_part *p)
{
    if (p->held && p->holder != c->record->from) {
        STAILQ_INSERT_TAIL(&p->waiting, c->record, next);
        c->waits = true;
        return 0;
    }
    p->held = !c->record->gone;
    p->holder = c->record->from;
    reply_header(c, p);
    return 0;
}

/* Cuts the pointers off, so that they are none when there are more again. */
static int cut_pointers(struct cfs_call *c, const struct cfs_part *p, uint32_t blocks)
{
    struct ext2_inode *inode;
    char path[CFS_PATH_BYTES];
    int error = ext2_lookup(c->fs, cfs_path(path, p->number, ".h"), false, &inode);

    if (error < 0)
        return error == -N_ENOENT ? -N_EIO : error;
    if (inode->size_bytes > CFS_BLOCK_BYTES + 4ull * blocks)
        error = ext2_set_size(inode, CFS_BLOCK_BYTES + 4ull * blocks);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

/* The holder's pointers count from now on, whether the file is longer or shorter by them. */
static int64_t count_blocks(struct cfs_call *c, struct cfs_part *p)
{
    if (!p->held || p->holder != c->record->from)
        return -N_EPERM;
    if (c->r->arg > (uint64_t)CFS_PAGES_MAX * CFS_PAGE_POINTERS)
        return -N_EINVAL;
    uint32_t blocks = (uint32_t)c->r->arg;
    int error = cut_pointers(c, p, blocks);
    if (error < 0)
        return error;
    p->head_changed |= p->head_blocks != blocks;
    p->head_blocks = blocks;
    if (p->size_bytes > (uint64_t)blocks * CFS_BLOCK_BYTES)
        p->size_bytes = (uint64_t)blocks * CFS_BLOCK_BYTES;
    if (c->r->op == 2)
        p->in_doubt = false;
    reply_header(c, p);
    if (c->r->op == 1)
        cfs_grow_free(p);
    return 0;
}

int64_t cfs_invoke_grow(struct cfs_call *c)
{
    struct cfs_part *p;
    int error = c->r->op > 2 ? -N_EINVAL : get(c, false, &p);

    if (error == 0 && c->fs->read_only)
        error = -N_EROFS;
    if (error < 0)
        return error;
    return c->r->op == 0 ? hold(c, p) : count_blocks(c, p);
}
