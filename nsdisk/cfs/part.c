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
#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define FOLDER "/.cfs"

static const char *const kinds[] = {".h", ".w", ""}; /* what a file may have on a disk */

struct ext2_path cfs_path(char text[CFS_PATH_BYTES], uint32_t number, const char *kind)
{
    return (struct ext2_path){text, (uint32_t)text_print(text, CFS_PATH_BYTES, FOLDER "/%u%s", number, kind)};
}

static size_t bytes_of_bits(uint32_t blocks)
{
    return ((size_t)blocks + 7) / 8;
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

/* Opens one of the part's files. 1, and *inode is to be put; 0: there is none. */
static int open_file(struct ext2 *fs, const struct cfs_part *p, const char *kind, struct ext2_inode **inode)
{
    char path[CFS_PATH_BYTES];
    int error = ext2_lookup(fs, cfs_path(path, p->number, kind), false, inode);

    if (error < 0)
        return error == -N_ENOENT ? 0 : error;
    if ((*inode)->flags & EXT2_PRIVATE && ext2_is_file(*inode))
        return 1;
    ext2_inode_put(*inode);
    return -N_EPROTO;
}

/* Adds the blocks that the inode has, and drops bits of blocks that it has not. */
static int load_runs(struct cfs_part *p)
{
    uint64_t blocks = p->data->size_bytes / CFS_BLOCK_BYTES;

    if (blocks > p->data->fs->blocks)
        return ext2_corrupt(p->data->fs, FOLDER "/%u: %lu blocks", p->number, (unsigned long)blocks);
    while (p->blocks < blocks) {
        struct ext2_run run;
        int error = ext2_map_run(p->data, p->blocks, (uint32_t)blocks - p->blocks, &run);

        if (error == 0 && run.first == 0)
            error = ext2_corrupt(p->data->fs, FOLDER "/%u: block %u is missing", p->number, p->blocks);
        if (error == 0)
            error = cfs_part_append(p, run.first, run.count);
        if (error < 0)
            return error;
    }
    return 0;
}

static int load_written(struct ext2 *fs, struct cfs_part *p)
{
    struct ext2_inode *inode;
    struct head h;
    int result = open_file(fs, p, ".w", &inode);

    if (result <= 0)
        return result;
    result = head_unpack(inode, CFS_HEAD_WRITTEN, p, &h);
    if (result == 0 && p->blocks > 0) {
        int64_t n = ext2_read(inode, CFS_HEAD_BYTES, p->written, (uint32_t)bytes_of_bits(p->blocks));

        result = n < 0 ? (int)n : 0;
        if (p->blocks % 8 != 0)
            p->written[p->blocks / 8] &= (uint8_t)((1u << p->blocks % 8) - 1);
    }
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
    }
    ext2_inode_put(inode);
    return result < 0 ? result : 1;
}

/* Returns how many of its files there are. Blocks without N.w have bits of 0: it was never written. */
static int load(struct ext2 *fs, struct cfs_part *p)
{
    int header = load_header(fs, p);
    int data = header < 0 ? header : open_file(fs, p, "", &p->data);

    if (data > 0) {
        int error = load_runs(p);

        data = error < 0 ? error : data;
    }
    int written = data < 0 ? data : load_written(fs, p);
    if (written < 0)
        return written;
    return written == 0 && data > 0 ? ext2_corrupt(fs, FOLDER "/%u has no %u.w", p->number, p->number)
                                    : header + data + written;
}

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
    free(p->run);
    free(p->written);
    free(p);
}

static struct cfs_part *least_recently_used(const struct cfs_disk *disk)
{
    struct cfs_part *p, *oldest = NULL;

    TAILQ_FOREACH(p, &disk->parts, next)
        if (!p->held && STAILQ_EMPTY(&p->waiting) && p->asks == 0 && (!oldest || p->used < oldest->used))
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
    p->used = ++c->cfs->uses;
    TAILQ_INSERT_HEAD(&c->disk->parts, p, next);
    c->disk->count++;
    int files = load(c->fs, p);
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

/* ---- Its blocks ---- */

/* How many runs begin at or before a block. */
static uint32_t runs_up_to(const struct cfs_part *p, uint32_t block)
{
    uint32_t low = 0, high = p->runs;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (p->run[middle].first <= block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct cfs_part_run *cfs_part_find(const struct cfs_part *p, uint32_t block)
{
    uint32_t n = runs_up_to(p, block);

    return n > 0 && block - p->run[n - 1].first < p->run[n - 1].count ? &p->run[n - 1] : NULL;
}

int cfs_part_append(struct cfs_part *p, uint32_t first, uint32_t count)
{
    uint32_t n = runs_up_to(p, first);
    size_t old = bytes_of_bits(p->blocks), new = bytes_of_bits(p->blocks + count);
    struct cfs_part_run *before = n > 0 ? &p->run[n - 1] : NULL;
    bool joins = before && before->first + before->count == first && before->at + before->count == p->blocks;
    uint8_t *written = realloc(p->written, new);
    if (!written)
        return -N_ENOMEM;
    memset(written + old, 0, new - old);
    p->written = written;
    if (!joins) {
        struct cfs_part_run *run = realloc(p->run, (p->runs + 1) * sizeof *run);

        if (!run)
            return -N_ENOMEM;
        memmove(run + n + 1, run + n, (p->runs - n) * sizeof *run);
        run[n] = (struct cfs_part_run){first, 0, p->blocks};
        p->run = run;
        p->runs++;
        before = &run[n];
    }
    before->count += count;
    p->blocks += count;
    return 0;
}

void cfs_part_cut(struct cfs_part *p, uint32_t blocks)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->runs; i++) {
        struct cfs_part_run run = p->run[i];

        if (run.at >= blocks)
            continue;
        run.count = run.count < blocks - run.at ? run.count : blocks - run.at;
        p->run[kept++] = run;
    }
    p->runs = kept;
    for (uint32_t i = blocks; i < p->blocks; i++)
        p->written[i >> 3] &= (uint8_t) ~(1u << (i & 7));
    p->written_changed |= blocks < p->blocks;
    p->blocks = blocks;
}

/* ---- Making and removing ---- */

/* The folder is private, too, so that no request moves it away. */
static int make_folder(struct cfs_call *c)
{
    const struct ext2_path folder = {FOLDER, sizeof FOLDER - 1};
    struct ext2_inode *inode;
    int error = server_has_private(family_server(c->cfs->loop), c->r->disk);

    if (error == 0)
        error = ext2_lookup(c->fs, folder, false, &inode);
    if (error == -N_ENOENT) {
        error = ext2_mkdir(c->fs, folder, 0700);
        if (error == 0)
            error = ext2_lookup(c->fs, folder, false, &inode);
    }
    if (error < 0)
        return error;
    if ((inode->flags & EXT2_PRIVATE) == 0) {
        inode->flags |= EXT2_PRIVATE;
        error = ext2_inode_store(inode);
    }
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

static int make_file(struct cfs_call *c, struct ext2_path path, struct ext2_inode **out)
{
    int error = make_folder(c);

    if (error == 0)
        error = ext2_create(c->fs, path, 0600, false, out);
    if (error < 0 || ((*out)->flags & EXT2_PRIVATE))
        return error;
    if ((*out)->size_bytes != 0 || !ext2_is_file(*out)) { /* somebody else's */
        ext2_inode_put(*out);
        return -N_EPROTO;
    }
    (*out)->flags |= EXT2_PRIVATE;
    error = ext2_inode_store(*out);
    if (error < 0)
        ext2_inode_put(*out);
    return error;
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

int cfs_part_remove(struct cfs_call *c, struct cfs_part *p)
{
    char path[CFS_PATH_BYTES];
    uint32_t number = p->number;
    int result = 0;

    cfs_grow_end(p, -N_ESTALE);
    cfs_part_free(c->disk, p);
    for (uint32_t i = 0; i < sizeof kinds / sizeof kinds[0] && result == 0; i++) {
        result = ext2_unlink(c->fs, cfs_path(path, number, kinds[i]));
        result = result == -N_ENOENT ? 0 : result;
    }
    return result;
}

/* ---- Writing back ---- */

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
    const size_t n = bytes_of_bits(p->blocks);
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

/* Bits of now, after all data of now. */
static int sync_written(struct cfs_call *c, struct cfs_part *p)
{
    size_t n = bytes_of_bits(p->blocks);
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
