/*
 * A file's part as its disk has it (cfs.h): the blocks, the bits and the header, each a private file of the volume; how
 * they are made, read and written.
 *
 * A machine that ends without a shutdown leaves each of them as it was at some moment, between two syncs or within one.
 * Of one disk: bits may be of blocks that the part does not have yet, and the part may have a size before all of its
 * blocks have their pointers. What is read is then the blocks up to the first that is missing, and the bits of those;
 * before the part gets another block, cfs_part_settle makes the disk say the same. Of several disks: a header may point
 * to blocks that no part has. Its pointers are in doubt until a client has compared them (libpio/cfs/cfs_check.c).
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "nsdisk/ext2/disk_bytes.h"
#include "nsdisk/serve/private_files.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define FOLDER "/.cfs"

struct ext2_path cfs_path(char text[CFS_PATH_BYTES], uint32_t number, const char *kind)
{
    return (struct ext2_path){text, (uint32_t)text_print(text, CFS_PATH_BYTES, FOLDER "/%u%s", number, kind)};
}

/* ---- Heads on the disk ---- */

struct head {
    enum cfs_head_kind kind;
    uint32_t number, age, blocks;
    uint64_t size_bytes;
    uint32_t only_disks;
};

static void head_pack(const struct head *h, uint8_t bytes[CFS_HEAD_BYTES])
{
    memset(bytes, 0, CFS_HEAD_BYTES);
    disk_put32(bytes, CFS_HEAD_MAGIC);
    disk_put32(bytes + 4, h->kind);
    disk_put32(bytes + 8, h->number);
    disk_put32(bytes + 12, h->age);
    disk_put32(bytes + 16, (uint32_t)h->size_bytes);
    disk_put32(bytes + 20, (uint32_t)(h->size_bytes >> 32));
    disk_put32(bytes + 24, h->blocks);
    disk_put32(bytes + 28, h->only_disks);
}

/* -N_EIO: it is none of that kind; -N_EPROTO: it is another file's. */
static int head_unpack(struct ext2_inode *inode, enum cfs_head_kind kind, const struct cfs_part *p, struct head *h)
{
    uint8_t bytes[CFS_HEAD_BYTES];
    int64_t n = ext2_read(inode, 0, bytes, sizeof bytes);

    if (n < 0)
        return (int)n;
    if (n < (int)sizeof bytes || disk_get32(bytes) != CFS_HEAD_MAGIC || disk_get32(bytes + 4) != (uint32_t)kind ||
        disk_get32(bytes + 8) != p->number)
        return ext2_corrupt(inode->fs, FOLDER "/%u.%c: its head is damaged", p->number, kind);
    *h = (struct head){kind,
                       p->number,
                       disk_get32(bytes + 12),
                       disk_get32(bytes + 24),
                       disk_get64(bytes + 16),
                       disk_get32(bytes + 28)};
    return h->age == p->age ? 0 : -N_EPROTO;
}

/* ---- Reading a part ---- */

/* Opens one of the part's files. 1, and *inode is to be put; 0: there is none, or one that was being made when the
 * machine ended. */
static int open_file(struct ext2 *fs, const struct cfs_part *p, const char *kind, struct ext2_inode **inode)
{
    char path[CFS_PATH_BYTES];
    int found = private_file_find(fs, cfs_path(path, p->number, kind), inode);

    return found <= 0 || kind[0] == '\0' || (*inode)->size_bytes > 0 ? found : ext2_inode_put(*inode);
}

/* Adds the blocks that the inode has, up to the first that is missing. */
static int load_runs(struct cfs_part *p)
{
    uint64_t blocks = p->data->size_bytes / CFS_BLOCK_BYTES;

    if (blocks > p->data->fs->blocks)
        return ext2_corrupt(p->data->fs, FOLDER "/%u: %lu blocks", p->number, (unsigned long)blocks);
    while (p->blocks < blocks) {
        struct ext2_run run;
        int error = ext2_map_run(p->data, p->blocks, (uint32_t)blocks - p->blocks, &run);

        if (error == 0 && run.first == 0)
            break;
        if (error == 0)
            error = cfs_part_append(p, run.first, run.count);
        if (error < 0)
            return error;
    }
    p->unsettled = p->blocks < blocks;
    return 0;
}

/* Reads the bits. Those of blocks that the part does not have are dropped, and it is not settled. */
static int read_bits(struct ext2_inode *inode, struct cfs_part *p)
{
    const size_t n = cfs_bytes_of_bits(p->blocks);
    uint64_t size = inode->size_bytes > CFS_HEAD_BYTES ? inode->size_bytes - CFS_HEAD_BYTES : 0;
    int64_t got = n > 0 ? ext2_read(inode, CFS_HEAD_BYTES, p->written, (uint32_t)n) : 0;

    p->unsettled |= size > n;
    if (got > 0 && got == (int64_t)n && p->blocks % 8 != 0) {
        const uint8_t mask = (uint8_t)((1u << p->blocks % 8) - 1);

        p->unsettled |= (p->written[n - 1] & ~mask) != 0;
        p->written[n - 1] &= mask;
    }
    return got < 0 ? (int)got : 0;
}

static int load_written(struct ext2 *fs, struct cfs_part *p)
{
    struct ext2_inode *inode;
    struct head h;
    int result = open_file(fs, p, ".w", &inode);

    if (result <= 0)
        return result;
    result = head_unpack(inode, CFS_HEAD_WRITTEN, p, &h);
    if (result == 0)
        result = read_bits(inode, p);
    ext2_inode_put(inode);
    return result < 0 ? result : 1;
}

static int load_header(struct ext2 *fs, struct cfs_part *p)
{
    struct ext2_inode *inode;
    struct head h;
    int result = open_file(fs, p, ".h", &inode);

    if (result <= 0)
        return result;
    result = head_unpack(inode, CFS_HEAD_HEADER, p, &h);
    if (result == 0 &&
        (h.blocks > CFS_PAGES_MAX * CFS_PAGE_POINTERS || h.size_bytes > (uint64_t)h.blocks * CFS_BLOCK_BYTES))
        result =
            ext2_corrupt(fs, FOLDER "/%u.h: %lu bytes in %u blocks", p->number, (unsigned long)h.size_bytes, h.blocks);
    if (result == 0) {
        p->has_head = true;
        p->size_bytes = h.size_bytes;
        p->head_blocks = h.blocks;
        p->only_disks = h.only_disks;
        p->in_doubt = h.blocks > 0;
    }
    ext2_inode_put(inode);
    return result < 0 ? result : 1;
}

/* Blocks without N.w have bits of 0: nothing was ever written, or it was lost together with N.w. */
int cfs_part_load(struct ext2 *fs, struct cfs_part *p)
{
    const struct ext2_path folder = {FOLDER, sizeof FOLDER - 1};
    int error = ext2_drop_dead(fs, folder), header = error < 0 ? error : load_header(fs, p);
    int data = header < 0 ? header : open_file(fs, p, "", &p->data);

    if (data > 0) {
        error = load_runs(p);
        data = error < 0 ? error : data;
    }
    int written = data < 0 ? data : load_written(fs, p);
    p->unsettled |= written == 0 && data > 0;
    return written < 0 ? written : header + data + written;
}

/* ---- Making ---- */

static int make_file(struct cfs_call *c, struct ext2_path path, struct ext2_inode **out)
{
    const struct ext2_path folder = {FOLDER, sizeof FOLDER - 1};
    int error = private_folder(family_server(c->cfs->loop), c->r->disk, folder);

    return error < 0 ? error : private_file(c->fs, path, out);
}

int cfs_part_make_file(struct cfs_call *c, uint32_t number, const char *kind, struct ext2_inode **out)
{
    char path[CFS_PATH_BYTES];

    return make_file(c, cfs_path(path, number, kind), out);
}

int cfs_part_make_numbers(struct cfs_call *c, struct ext2_inode **out)
{
    static const char path[] = FOLDER "/next";

    return make_file(c, (struct ext2_path){path, sizeof path - 1}, out);
}

/* ---- Writing ---- */

static int write_all(struct ext2_inode *inode, uint64_t at, const uint8_t *bytes, size_t n)
{
    int64_t written = n > 0 ? ext2_write(inode, at, bytes, (uint32_t)n) : 0;

    return written < 0 ? (int)written : written < (int64_t)n ? -N_ENOSPC : 0;
}

static int write_head(struct ext2_inode *inode, const struct head *h)
{
    uint8_t bytes[CFS_HEAD_BYTES];

    head_pack(h, bytes);
    return write_all(inode, 0, bytes, sizeof bytes);
}

/* The file ends with the last bit, so that those of blocks that were cut off are gone. */
int cfs_part_store_written(struct cfs_call *c, const struct cfs_part *p, const uint8_t *bits)
{
    const struct head h = {CFS_HEAD_WRITTEN, p->number, p->age, p->blocks, 0, 0};
    const size_t n = cfs_bytes_of_bits(p->blocks);
    struct ext2_inode *inode;
    int error = cfs_part_make_file(c, p->number, ".w", &inode);

    if (error < 0)
        return error;
    error = write_head(inode, &h);
    if (error == 0)
        error = write_all(inode, CFS_HEAD_BYTES, bits, n);
    if (error == 0 && inode->size_bytes > CFS_HEAD_BYTES + n)
        error = ext2_set_size(inode, CFS_HEAD_BYTES + n);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

int cfs_part_store_header(struct cfs_call *c, const struct cfs_part *p)
{
    const struct head h = {CFS_HEAD_HEADER, p->number, p->age, p->head_blocks, p->size_bytes, p->only_disks};
    struct ext2_inode *inode;
    int error = cfs_part_make_file(c, p->number, ".h", &inode);

    if (error < 0)
        return error;
    error = write_head(inode, &h);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

int cfs_part_settle(struct cfs_call *c, struct cfs_part *p)
{
    if (!p->unsettled)
        return 0;
    int error = cfs_part_store_written(c, p, p->written);
    if (error == 0)
        error = ext2_sync(c->fs);
    if (error == 0 && p->data)
        error = ext2_set_size(p->data, (uint64_t)p->blocks * CFS_BLOCK_BYTES);
    p->unsettled = error < 0;
    return error;
}
