/*
 * The journal of one transaction: see ext2_journal.h. Its records, with numbers of the other endianness than ext2's,
 * one file block each, from 0 on:
 *
 *   | superblock | descriptor: where the blocks go | blocks ... | commit | zeros |
 *
 * The zeros end it: what its blocks held before, perhaps other records, is not believed.
 *
 * e2fsck wants 1024 blocks, and looks at no more than that each is one of the volume's. So in a journal that nsdisk
 * makes, all file blocks behind OWN_BLOCKS are one block. Only as long as the superblock says that there is a journal
 * to recover does e2fsck see it: the superblock is the last of the transaction's blocks.
 */
#include "nsdisk/ext2/ext2_journal.h"

#include <string.h>

#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"

#define JOURNAL_MAGIC  0xc03b3998u
#define JOURNAL_BLOCKS 1024u /* the least that e2fsck takes for a journal */
#define OWN_BLOCKS     32u   /* of which so many are there in one that nsdisk makes */
#define FRAME_BLOCKS   4u    /* superblock, descriptor, commit, zeros */
#define MAP_BLOCKS     5u    /* most, that point to JOURNAL_BLOCKS */
#define CHANGE_BLOCKS  4u    /* most, by which a directory grows */
#define TAGS_MAX       100u  /* that one descriptor of 1 KB holds */

enum { RECORD_DESCRIPTOR = 1, RECORD_COMMIT = 2, RECORD_SUPERBLOCK = 4 };

enum { /* offsets in the journal's superblock, behind the header of every record */
       J_BLOCK_BYTES = 12,
       J_BLOCKS = 16,
       J_FIRST = 20,
       J_SEQUENCE = 24,
       J_START = 28,
       J_USERS = 64,
};

enum { /* a descriptor's tags; a UUID follows the first */
       TAG_FIRST = 12,
       TAG_BYTES = 8,
       TAG_FLAGS = 4,
       UUID_BYTES = 16,
};

enum { TAG_ESCAPED = 1, TAG_SAME_UUID = 2, TAG_LAST = 8 };

static void put_big32(uint8_t *at, uint32_t value)
{
    disk_put32(at, __builtin_bswap32(value));
}

/* ---- Records ---- */

static int flush_records(struct ext2_journal *j)
{
    struct ext2 *fs = j->inode->fs;
    uint32_t count = j->gathered;

    j->gathered = 0;
    return count == 0 ? 0 : cache_write_data(fs->cache, j->first, count, fs->bounce);
}

/* Room for the next record in the bounce buffer, all zeros. */
static int next_record(struct ext2_journal *j, uint8_t **record)
{
    struct ext2 *fs = j->inode->fs;
    struct ext2_run run;
    int error = ext2_map_run(j->inode, j->next++, 1, &run);

    if (error == 0 && run.first == 0)
        error = ext2_corrupt(fs, "inode %u: the journal has a hole", j->inode->ino);
    bool follows = j->gathered != 0 && run.first == j->first + j->gathered &&
                   (j->gathered + 1) << fs->block_shift <= CACHE_GATHER_BYTES;
    if (error == 0 && !follows) {
        error = flush_records(j);
        j->first = run.first;
    }
    *record = fs->bounce + ((size_t)j->gathered << fs->block_shift);
    if (error == 0) {
        memset(*record, 0, fs->block_bytes);
        j->gathered++;
    }
    return error;
}

static int next_headed(struct ext2_journal *j, uint32_t kind, uint8_t **record)
{
    int error = next_record(j, record);

    if (error < 0)
        return error;
    put_big32(*record, JOURNAL_MAGIC);
    put_big32(*record + 4, kind);
    put_big32(*record + 8, kind == RECORD_SUPERBLOCK ? 0 : j->sequence);
    return 0;
}

/* start: the file block of the transaction, or 0 when there is none. */
static int put_superblock(struct ext2_journal *j, uint32_t start)
{
    uint8_t *record;

    j->next = 0;
    int error = next_headed(j, RECORD_SUPERBLOCK, &record);
    if (error < 0)
        return error;
    put_big32(record + J_BLOCK_BYTES, j->inode->fs->block_bytes);
    put_big32(record + J_BLOCKS, j->blocks);
    put_big32(record + J_FIRST, 1);
    put_big32(record + J_SEQUENCE, j->sequence + (start == 0)); /* the next one's */
    put_big32(record + J_START, start);
    put_big32(record + J_USERS, 1);
    return 0;
}

static bool is_escaped(const struct cache_block *block)
{
    return disk_get32(block->bytes) == __builtin_bswap32(JOURNAL_MAGIC);
}

static int put_descriptor(struct ext2_journal *j, struct cache_block *const *blocks, uint32_t count)
{
    uint8_t *record;
    int error = next_headed(j, RECORD_DESCRIPTOR, &record);
    uint8_t *tag = record + TAG_FIRST;

    for (uint32_t i = 0; error == 0 && i < count; i++) {
        uint32_t flags =
            (is_escaped(blocks[i]) ? TAG_ESCAPED : 0) | (i == 0 ? 0 : TAG_SAME_UUID) | (i + 1 == count ? TAG_LAST : 0);

        put_big32(tag, blocks[i]->at.number);
        put_big32(tag + TAG_FLAGS, flags);
        tag += TAG_BYTES + (i == 0 ? UUID_BYTES : 0);
    }
    return error;
}

static int put_block(struct ext2_journal *j, const struct cache_block *block)
{
    uint8_t *record;
    int error = next_record(j, &record);

    if (error < 0)
        return error;
    memcpy(record, block->bytes, j->inode->fs->block_bytes);
    if (is_escaped(block))
        disk_put32(record, 0);
    return 0;
}

static int put_transaction(struct ext2_journal *j, struct cache_block *const *blocks, uint32_t count)
{
    uint8_t *record;
    int error = put_superblock(j, j->own ? 1 : 0);

    if (error == 0)
        error = put_descriptor(j, blocks, count);
    for (uint32_t i = 0; error == 0 && i < count; i++)
        error = put_block(j, blocks[i]);
    if (error == 0)
        error = next_headed(j, RECORD_COMMIT, &record);
    if (error == 0)
        error = next_record(j, &record);
    return error < 0 ? error : flush_records(j);
}

/* ---- Opening and closing ---- */

/* Gives the journal its first blocks. */
static int take_blocks(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;
    uint32_t goal = ext2_group_goal(fs, 0), first;

    for (uint32_t done = 0; done < OWN_BLOCKS;) {
        int got = ext2_begin(fs);

        if (got == 0)
            got = ext2_map_prepare(inode, done, 1, goal);
        if (got > 0)
            got = ext2_alloc_blocks(fs, goal, OWN_BLOCKS - done, &first);
        if (got < 0)
            return got;
        int prepared = ext2_map_prepare(inode, done, (uint32_t)got, first + (uint32_t)got);
        if (prepared > 0)
            got = ext2_map_set(inode, done, first, (uint32_t)prepared) < 0 ? -N_EIO : prepared;
        else
            got = prepared;
        if (got < 0)
            return got;
        done += (uint32_t)got;
        goal = first + (uint32_t)got;
    }
    return 0;
}

/* Points all file blocks behind the first ones at one block, or nowhere (0). They count as none. */
static int point_rest(struct ext2_inode *inode, uint32_t block)
{
    uint32_t blocks_512 = inode->blocks_512;
    int error = 0;

    for (uint32_t i = OWN_BLOCKS; error == 0 && i < JOURNAL_BLOCKS; i++)
        error = ext2_map_set(inode, i, block, 1);
    inode->blocks_512 = blocks_512;
    return error;
}

/* The block that ends the transaction is also all that follow. */
static int repeat_last(struct ext2_inode *inode)
{
    struct ext2_run last;
    int error = ext2_map_run(inode, OWN_BLOCKS - 1, 1, &last);
    int prepared = error < 0 ? error : ext2_map_prepare(inode, OWN_BLOCKS, JOURNAL_BLOCKS - OWN_BLOCKS, last.first);

    if (prepared >= 0 && prepared < (int)(JOURNAL_BLOCKS - OWN_BLOCKS))
        return -N_ENOSPC;
    error = prepared < 0 ? prepared : point_rest(inode, last.first);
    return error < 0 ? error : ext2_inode_store(inode);
}

static int make_own(struct ext2_journal *j)
{
    int error = take_blocks(j->inode);

    if (error == 0)
        error = repeat_last(j->inode);
    j->repeats = error == 0;
    return error;
}

static uint32_t get_big32(const uint8_t *at)
{
    return __builtin_bswap32(disk_get32(at));
}

/* What the volume's own journal says of itself. */
static int read_superblock(struct ext2_journal *j)
{
    struct ext2 *fs = j->inode->fs;
    struct ext2_run run;
    int error = ext2_map_run(j->inode, 0, 1, &run);

    if (error == 0)
        error = run.first == 0 ? -N_ENOTSUP : cache_read_data(fs->cache, run.first, 1, fs->bounce);
    if (error < 0)
        return error;
    j->sequence = get_big32(fs->bounce + J_SEQUENCE);
    j->blocks = get_big32(fs->bounce + J_BLOCKS);
    bool sound = get_big32(fs->bounce) == JOURNAL_MAGIC && get_big32(fs->bounce + J_START) == 0 &&
                 get_big32(fs->bounce + J_BLOCK_BYTES) == fs->block_bytes && j->blocks >= JOURNAL_BLOCKS &&
                 j->blocks <= j->inode->size_bytes >> fs->block_shift;
    return sound ? 0 : -N_ENOTSUP;
}

int ext2_journal_open(struct ext2 *fs, struct ext2_journal *j)
{
    *j = (struct ext2_journal){.own = !fs->has_journal, .sequence = 1, .blocks = JOURNAL_BLOCKS};
    if (!fs->may_have_journal)
        return -N_ENOTSUP;
    int error = ext2_sync(fs);
    if (error == 0 && j->own && fs->free_blocks < OWN_BLOCKS + MAP_BLOCKS + CHANGE_BLOCKS)
        error = -N_ENOSPC;
    if (error == 0)
        error = ext2_inode_get_journal(fs, (uint64_t)JOURNAL_BLOCKS << fs->block_shift, &j->inode);
    if (error < 0)
        return error;
    error = j->own ? make_own(j) : read_superblock(j);
    if (error == 0)
        error = ext2_sync(fs);
    if (error < 0)
        ext2_journal_close(j);
    return error;
}

/* What the blocks of the map say does not count from here on, but they must not give one block back many times. */
int ext2_journal_close(struct ext2_journal *j)
{
    int error = j->repeats && !j->inode->fs->read_only ? point_rest(j->inode, 0) : 0;
    int put = ext2_inode_put_journal(j->inode, j->own);

    return error < 0 ? error : put;
}

/* ---- Committing ---- */

static int write_superblock(struct ext2_journal *j, uint32_t start)
{
    int error = put_superblock(j, start);

    return error < 0 ? error : flush_records(j);
}

/* The volume says that its empty journal is to be recovered. From the first write here on there is
 * something in it; then that goes to its places; then the journal is empty again. */
static int apply(struct ext2_journal *j)
{
    struct ext2 *fs = j->inode->fs;
    int error = write_superblock(j, 1);

    if (error == 0)
        error = cache_flush(fs->cache);
    if (error == 0)
        error = write_superblock(j, 0);
    return error < 0 ? error : ext2_store_journal_mark(fs, false);
}

/* The journal has the transaction already, but the volume none until it says so. Once it does not, e2fsck takes inode 8
 * for nothing: also after it has written the transaction to its places, of which the superblock is one. */
static int apply_own(struct ext2_journal *j)
{
    int error = cache_flush(j->inode->fs->cache);

    return error < 0 ? error : ext2_store_journal_mark(j->inode->fs, false);
}

static int commit_blocks(struct ext2_journal *j, struct cache_block *const *blocks, uint32_t count)
{
    struct ext2 *fs = j->inode->fs;
    int error = put_transaction(j, blocks, count);

    if (error == 0)
        error = ext2_store_journal_mark(fs, true);
    if (error < 0)
        return error;
    error = j->own ? apply_own(j) : apply(j);
    if (error < 0) { /* what e2fsck writes from the journal must not be newer than what is there */
        ext2_corrupt(fs, "a change was not finished; read-only until e2fsck -p has finished it");
        fs->read_only = true;
    }
    return error;
}

int ext2_journal_commit(struct ext2_journal *j)
{
    struct ext2 *fs = j->inode->fs;
    struct cache_block *const *blocks;
    int error = j->own ? ext2_touch_super(fs) : 0;

    if (error < 0)
        return error;
    uint32_t count = cache_list_dirty(fs->cache, &blocks), most = j->own ? OWN_BLOCKS - FRAME_BLOCKS : TAGS_MAX;
    return count == 0 || count > most ? cache_flush(fs->cache) : commit_blocks(j, blocks, count);
}
