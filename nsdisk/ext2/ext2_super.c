/*
 * Mounting and unmounting of a volume; its superblock.
 *
 * The superblock is written at mount and at unmount only, because e2fsck knows its counts from the bitmaps. Its counts
 * are written at unmount only, and only where nothing was wrong: otherwise they may be the better ones.
 *
 * The clean mark is cleared at mount and set at unmount, unless it was not set before or corruption was found:
 * then only e2fsck may set it. A volume that was not shut down cleanly is mounted, with a warning, because the order
 * of writing (cache.h) keeps its bitmaps safe.
 */
#include "nsdisk/ext2/ext2.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/ext2/disk_bytes.h"
#include "nsdisk/ext2/ext2_itable.h"
#include "nsdisk/ext2/ext2_sync.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/ext2_features.h"
#include "vertex/shared/text.h"

#define SUPER_OFFSET 1024u
#define SUPER_BYTES  1024u
#define SUPER_MAGIC  0xef53u

enum { /* offsets in the superblock */
       S_INODES = 0,
       S_BLOCKS = 4,
       S_FREE_BLOCKS = 12,
       S_FREE_INODES = 16,
       S_FIRST_DATA_BLOCK = 20,
       S_LOG_BLOCK_SIZE = 24,
       S_BLOCKS_PER_GROUP = 32,
       S_INODES_PER_GROUP = 40,
       S_MOUNT_TIME = 44,
       S_WRITE_TIME = 48,
       S_MOUNT_COUNT = 52,
       S_MAGIC = 56,
       S_STATE = 58,
       S_REVISION = 76,
       S_FIRST_INO = 84,
       S_INODE_SIZE = 88,
       S_COMPATIBLE = 92,
       S_INCOMPATIBLE = 96,
       S_READ_ONLY_COMPATIBLE = 100,
       S_PREALLOCATE_FOLDERS = 205, /* blocks for new folders; nobody uses it without the feature dir_prealloc */
       S_JOURNAL_INO = 224,
       S_LAST_ORPHAN = 232,
};

#define PRIVATE_MARK 0xcfu /* there */

enum { STATE_CLEAN = 1, STATE_ERRORS = 2 };

enum { COMPATIBLE_JOURNAL = 0x4, INCOMPATIBLE_FILETYPE = 0x2, INCOMPATIBLE_RECOVER = 0x4, RO_LARGE_FILE = 0x2 };

/* What ext2_mount needs to know besides struct ext2. */
struct super {
    uint8_t bytes[SUPER_BYTES] __attribute__((aligned(8)));
    uint32_t revision, incompatible, ro_compatible, state, last_orphan;
    char *error;
    size_t error_bytes;
};

/* ---- Checking the superblock ---- */

static int refuse(struct super *s, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));
static int refuse(struct super *s, int error, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    text_print_list(s->error, s->error_bytes, format, list);
    va_end(list);
    return error;
}

static int super_read(struct ext2 *fs, struct super *s)
{
    if (fs->dev.sectors < (SUPER_OFFSET + SUPER_BYTES) / BLOCKDEV_SECTOR_BYTES)
        return refuse(s, -N_EINVAL, "not ext2: the drive has only %lu sectors", (unsigned long)fs->dev.sectors);
    int error =
        fs->dev.read(fs->dev.ctx, SUPER_OFFSET / BLOCKDEV_SECTOR_BYTES, s->bytes, SUPER_BYTES / BLOCKDEV_SECTOR_BYTES);
    if (error < 0)
        return refuse(s, -N_ENODEV, "the drive failed to read the superblock");
    return 0;
}

static void super_unpack(struct ext2 *fs, struct super *s)
{
    const uint8_t *b = s->bytes;

    s->revision = disk_get32(b + S_REVISION);
    s->state = disk_get16(b + S_STATE);
    s->incompatible = s->revision == 0 ? 0 : disk_get32(b + S_INCOMPATIBLE);
    s->ro_compatible = s->revision == 0 ? 0 : disk_get32(b + S_READ_ONLY_COMPATIBLE);
    s->last_orphan = disk_get32(b + S_LAST_ORPHAN);
    fs->blocks = disk_get32(b + S_BLOCKS);
    fs->inodes = disk_get32(b + S_INODES);
    fs->free_blocks = disk_get32(b + S_FREE_BLOCKS);
    fs->free_inodes = disk_get32(b + S_FREE_INODES);
    fs->first_data_block = disk_get32(b + S_FIRST_DATA_BLOCK);
    fs->blocks_per_group = disk_get32(b + S_BLOCKS_PER_GROUP);
    fs->inodes_per_group = disk_get32(b + S_INODES_PER_GROUP);
    fs->first_ino = s->revision == 0 ? 11 : disk_get32(b + S_FIRST_INO);
    fs->inode_bytes = s->revision == 0 ? 128 : disk_get16(b + S_INODE_SIZE);
    bool journal = s->revision != 0 && (disk_get32(b + S_COMPATIBLE) & COMPATIBLE_JOURNAL) != 0;
    fs->has_journal = journal && disk_get32(b + S_JOURNAL_INO) == EXT2_JOURNAL_INO;
    fs->may_have_journal = s->revision != 0 && fs->first_ino > EXT2_JOURNAL_INO && journal == fs->has_journal;
    fs->filetype = (s->incompatible & INCOMPATIBLE_FILETYPE) != 0;
    fs->has_private = b[S_PREALLOCATE_FOLDERS] == PRIVATE_MARK;
}

static int check_format(struct super *s)
{
    if (disk_get16(s->bytes + S_MAGIC) != SUPER_MAGIC)
        return refuse(s, -N_EINVAL, "not ext2: magic 0x%x, expected 0xef53", disk_get16(s->bytes + S_MAGIC));
    if (s->revision > 1)
        return refuse(s, -N_ENOTSUP, "ext2 revision %u, expected 0 or 1", s->revision);
    if (s->incompatible & INCOMPATIBLE_RECOVER)
        return refuse(s, -N_ENOTSUP,
                      "its journal must be replayed (needs_recovery): "
                      "run e2fsck -p IMAGE");
    const char *other = ext2_incompatible_name(s->incompatible);
    if (other && other[0])
        return refuse(s, -N_ENOTSUP,
                      "has the feature %s, which nsdisk does not support; copy its files to an "
                      "image made by mke2fs -t ext2",
                      other);
    if (other)
        return refuse(s, -N_ENOTSUP, "has unknown incompatible features 0x%x",
                      s->incompatible & ~EXT2_INCOMPATIBLE_WRITTEN);
    return 0;
}

static int check_blocks(struct ext2 *fs, struct super *s)
{
    uint32_t shift = disk_get32(s->bytes + S_LOG_BLOCK_SIZE);

    if (shift > 2)
        return refuse(s, -N_ENOTSUP, "block size 1024 << %u, expected 1024, 2048 or 4096", shift);
    fs->block_shift = 10 + shift;
    fs->block_bytes = 1u << fs->block_shift;
    fs->pointers_shift = fs->block_shift - 2;
    uint64_t device_blocks = fs->dev.sectors / (fs->block_bytes / BLOCKDEV_SECTOR_BYTES);
    if (fs->blocks > device_blocks)
        return refuse(s, -N_EINVAL, "%u blocks, but the drive has room for %lu", fs->blocks,
                      (unsigned long)device_blocks);
    if (fs->first_data_block != (shift == 0 ? 1 : 0) || fs->blocks <= fs->first_data_block + 3)
        return refuse(s, -N_EINVAL, "first data block %u of %u blocks", fs->first_data_block, fs->blocks);
    return 0;
}

static int check_groups(struct ext2 *fs, struct super *s)
{
    uint32_t bits = fs->block_bytes * 8;

    if (fs->blocks_per_group < 8 || fs->blocks_per_group > bits || fs->blocks_per_group % 8 != 0)
        return refuse(s, -N_EINVAL, "%u blocks per group, expected 8 to %u", fs->blocks_per_group, bits);
    fs->groups = (fs->blocks - fs->first_data_block + fs->blocks_per_group - 1) / fs->blocks_per_group;
    if (fs->inodes_per_group == 0 || fs->inodes_per_group > bits ||
        (uint64_t)fs->inodes_per_group * fs->groups != fs->inodes)
        return refuse(s, -N_EINVAL, "%u inodes per group in %u groups, but %u inodes", fs->inodes_per_group, fs->groups,
                      fs->inodes);
    if (fs->inode_bytes < 128 || fs->inode_bytes > fs->block_bytes || (fs->inode_bytes & (fs->inode_bytes - 1)))
        return refuse(s, -N_EINVAL, "inodes of %u bytes, expected a power of two from 128 to %u", fs->inode_bytes,
                      fs->block_bytes);
    if (fs->first_ino < 3 || fs->first_ino > fs->inodes)
        return refuse(s, -N_EINVAL, "first inode %u of %u", fs->first_ino, fs->inodes);
    if (fs->free_blocks > fs->blocks || fs->free_inodes > fs->inodes)
        return refuse(s, -N_EINVAL, "%u free blocks of %u, %u free inodes of %u; e2fsck -p IMAGE corrects the counts",
                      fs->free_blocks, fs->blocks, fs->free_inodes, fs->inodes);
    return 0;
}

/* Decides between reading and writing, and how large a file may be. */
static void settle_features(struct ext2 *fs, const struct super *s)
{
    const char *other = ext2_ro_compatible_name(s->ro_compatible);
    char text[200];

    fs->clean_before = (s->state & STATE_CLEAN) != 0 && (s->state & STATE_ERRORS) == 0;
    fs->read_only = other || (s->state & STATE_ERRORS) != 0 || s->last_orphan != 0;
    if (other && other[0])
        text_print(text, sizeof text, "%s: read-only: has the feature %s, which nsdisk does not support", fs->volume,
                   other);
    else if (other)
        text_print(text, sizeof text, "%s: read-only: unknown features 0x%x", fs->volume,
                   s->ro_compatible & ~EXT2_RO_COMPATIBLE_WRITTEN);
    else if (s->state & STATE_ERRORS)
        text_print(text, sizeof text,
                   "%s: read-only: it is marked as having errors; e2fsck -p IMAGE, when the "
                   "machine is down, repairs what is safe to repair",
                   fs->volume);
    else if (s->last_orphan != 0)
        text_print(text, sizeof text,
                   "%s: read-only: another system left orphaned inode %u; e2fsck -p IMAGE, "
                   "when the machine is down, removes it",
                   fs->volume, s->last_orphan);
    else if (!fs->clean_before)
        text_print(text, sizeof text,
                   "%s: was not shut down cleanly; e2fsck -p IMAGE, when the machine is "
                   "down, recovers lost space",
                   fs->volume);
    if (fs->read_only || !fs->clean_before)
        fs->env.log.write(fs->env.log.ctx, text);
    uint64_t by_pointers = ext2_map_max_blocks(fs) << fs->block_shift;
    uint64_t by_count = (uint64_t)UINT32_MAX * 512; /* blocks_512 */
    fs->file_max_bytes = by_pointers < by_count ? by_pointers : by_count;
    if ((s->ro_compatible & RO_LARGE_FILE) == 0)
        fs->file_max_bytes = INT32_MAX;
}

/* ---- Writing the superblock ---- */

/* All in one sector of the superblock, so that it is one write. */
int ext2_store_journal_mark(struct ext2 *fs, bool to_recover)
{
    struct cache_block *block;
    int error = cache_get(fs->cache, SUPER_OFFSET >> fs->block_shift, BLOCK_SUPER, &block);

    if (error < 0)
        return error;
    uint8_t *b = block->bytes + (SUPER_OFFSET & (fs->block_bytes - 1));
    uint32_t compatible = disk_get32(b + S_COMPATIBLE) & ~(uint32_t)COMPATIBLE_JOURNAL;
    uint32_t incompatible = disk_get32(b + S_INCOMPATIBLE) & ~(uint32_t)INCOMPATIBLE_RECOVER;
    bool journal = to_recover || fs->has_journal;
    disk_put32(b + S_COMPATIBLE, compatible | (journal ? COMPATIBLE_JOURNAL : 0));
    disk_put32(b + S_INCOMPATIBLE, incompatible | (to_recover ? INCOMPATIBLE_RECOVER : 0));
    disk_put32(b + S_JOURNAL_INO, journal ? EXT2_JOURNAL_INO : 0);
    error = cache_write_now(fs->cache, block);
    cache_put(block);
    return error;
}

int ext2_store_private_mark(struct ext2 *fs)
{
    struct cache_block *block;
    int error = cache_get(fs->cache, SUPER_OFFSET >> fs->block_shift, BLOCK_SUPER, &block);

    if (error < 0)
        return error;
    block->bytes[(SUPER_OFFSET & (fs->block_bytes - 1)) + S_PREALLOCATE_FOLDERS] = PRIVATE_MARK;
    error = cache_write_now(fs->cache, block);
    fs->has_private = error == 0;
    cache_put(block);
    return error;
}

int ext2_touch_super(struct ext2 *fs)
{
    struct cache_block *block;
    int error = cache_get(fs->cache, SUPER_OFFSET >> fs->block_shift, BLOCK_SUPER, &block);

    if (error < 0)
        return error;
    cache_mark_dirty(fs->cache, block);
    cache_put(block);
    return 0;
}

/* ---- Mounting ---- */

static void free_inodes(struct ext2_inode *inode)
{
    while (inode) {
        struct ext2_inode *next = inode->next;

        free(inode);
        inode = next;
    }
}

void ext2_abandon(struct ext2 *fs)
{
    free_inodes(fs->inode_idle);
    for (uint32_t i = 0; i < EXT2_HASH; i++)
        free_inodes(fs->inode_hash[i]);
    data_cache_free(fs->data);
    cache_free(fs->cache);
    free(fs->path);
    free(fs->bounce);
    free(fs->unnamed);
    free(fs->freed);
    free(fs->group);
    free(fs);
}

static int super_check(struct ext2 *fs, struct super *s)
{
    int error = super_read(fs, s);

    if (error < 0)
        return error;
    super_unpack(fs, s);
    error = check_format(s);
    if (error == 0)
        error = check_blocks(fs, s);
    if (error == 0)
        error = check_groups(fs, s);
    return error;
}

static int ext2_make_tables(struct ext2 *fs, size_t cache_bytes, struct super *s)
{
    fs->cache = cache_new(&fs->dev, fs->volume, fs->block_bytes, cache_bytes, fs->env.log);
    fs->group = calloc(fs->groups, sizeof *fs->group);
    fs->freed = calloc(EXT2_FREED_MAX, sizeof *fs->freed);
    fs->unnamed = calloc(EXT2_UNNAMED_MAX, sizeof *fs->unnamed);
    fs->bounce = malloc(CACHE_GATHER_BYTES);
    fs->path = malloc(EXT2_PATH_BYTES);
    if (!fs->cache || !fs->group || !fs->freed || !fs->unnamed || !fs->bounce || !fs->path)
        return refuse(s, -N_ENOMEM, "not enough memory for %u groups and a cache of %lu bytes", fs->groups,
                      (unsigned long)cache_bytes);
    for (uint32_t group = 0; group < fs->groups; group++)
        if (ext2_load_group(fs, group) < 0)
            return refuse(s, -N_EINVAL,
                          "descriptor of group %u is damaged; copy the image, then run "
                          "e2fsck IMAGE, which asks before each repair",
                          group);
    return 0;
}

static int make_data_cache(struct ext2 *fs, const struct drive_cache *set, struct super *s)
{
    const struct data_clock clock = {fs->env.now_cycles, fs->env.ctx};

    fs->data = data_cache_new(fs->cache, fs->volume, fs->block_bytes, set, fs->env.log, clock);
    if (!fs->data)
        return refuse(s, -N_ENOMEM, "not enough memory for a data cache of %u KB; give the drive a smaller cache_kb",
                      set->kb);
    fs->way = &ext2_cached;
    cache_attach_data(fs->cache, fs->data);
    return 0;
}

/* Packs the superblock's changing fields and writes it. */
static int super_write(struct ext2 *fs, uint32_t state, bool mounting)
{
    struct cache_block *block;
    int error = cache_get(fs->cache, SUPER_OFFSET >> fs->block_shift, BLOCK_SUPER, &block);

    if (error < 0)
        return error;
    uint8_t *b = block->bytes + (SUPER_OFFSET & (fs->block_bytes - 1));
    if (!mounting && (state & STATE_ERRORS) == 0) {
        disk_put32(b + S_FREE_BLOCKS, fs->free_blocks);
        disk_put32(b + S_FREE_INODES, fs->free_inodes);
    }
    disk_put32(b + S_WRITE_TIME, ext2_now(fs));
    disk_put16(b + S_STATE, state);
    if (mounting) {
        disk_put32(b + S_MOUNT_TIME, ext2_now(fs));
        disk_put16(b + S_MOUNT_COUNT, disk_get16(b + S_MOUNT_COUNT) + 1u);
    }
    cache_mark_dirty(fs->cache, block);
    cache_put(block);
    return cache_flush(fs->cache);
}

/* The groups' counts are nearer to the bitmaps than the superblock's, which a crash leaves old. After a clean end they
 * agree, or one of them is damaged. */
static void sum_group_counts(struct ext2 *fs)
{
    uint32_t blocks = fs->free_blocks, inodes = fs->free_inodes; /* the superblock's */

    fs->free_blocks = fs->free_inodes = 0;
    for (uint32_t group = 0; group < fs->groups; group++) {
        fs->free_blocks += fs->group[group].free_blocks;
        fs->free_inodes += fs->group[group].free_inodes;
    }
    if (fs->clean_before && (blocks != fs->free_blocks || inodes != fs->free_inodes))
        ext2_corrupt(fs, "its superblock counts %u free blocks and %u free inodes, its groups %u and %u", blocks,
                     inodes, fs->free_blocks, fs->free_inodes);
}

/* A volume whose root is no directory is damaged beyond use. */
static int check_root(struct ext2 *fs, struct super *s)
{
    struct ext2_inode *root;
    int error = ext2_inode_get(fs, EXT2_ROOT_INO, &root);

    if (error < 0)
        return refuse(s, error, "the root inode cannot be read");
    uint16_t mode = root->mode;
    bool sound = ext2_is_dir(root);
    ext2_inode_put(root);
    return sound ? 0 : refuse(s, -N_EINVAL, "the root inode is not a directory: mode 0x%x, expected 0x4000", mode);
}

int ext2_mount(struct ext2 **out, const struct blockdev *dev, const char *volume, size_t cache_bytes,
               const struct drive_cache *data, const struct ext2_env *env, char *error_text, size_t error_bytes)
{
    struct super s = {.error = error_text, .error_bytes = error_bytes};
    struct ext2 *fs = calloc(1, sizeof *fs);

    if (!fs)
        return refuse(&s, -N_ENOMEM, "not enough memory");
    text_print(fs->volume, sizeof fs->volume, "%s", volume);
    fs->dev = *dev;
    fs->env = *env;
    fs->way = &ext2_direct;
    int error = super_check(fs, &s);
    if (error == 0)
        error = ext2_make_tables(fs, cache_bytes, &s);
    if (error == 0 && data->kb != 0)
        error = make_data_cache(fs, data, &s);
    if (error == 0)
        error = check_root(fs, &s);
    if (error == 0) {
        settle_features(fs, &s);
        sum_group_counts(fs);
        if (!fs->read_only && super_write(fs, s.state & ~(uint32_t)STATE_CLEAN, true) < 0)
            error = refuse(&s, -N_EIO, "the drive failed to write the superblock");
    }
    if (error < 0)
        ext2_abandon(fs);
    else
        *out = fs;
    return error;
}

int ext2_unmount(struct ext2 *fs)
{
    int error = 0;

    if (!fs->read_only) {
        bool errors = fs->errors || cache_has_mismatch(fs->cache);
        uint32_t state = errors ? STATE_ERRORS : fs->clean_before ? STATE_CLEAN : 0;

        error = ext2_sync(fs);
        if (error == 0)
            error = cache_flush(fs->cache);
        if (error == 0)
            error = super_write(fs, state, false);
    }
    ext2_abandon(fs);
    return error;
}
