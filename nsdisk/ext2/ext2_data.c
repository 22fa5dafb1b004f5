/*
 * The contents of files: which blocks a read or a write concerns, which ones a write takes for a hole, and where a file
 * ends. How the bytes come and go depends on the volume (struct ext2_way).
 *
 * Bytes behind the end of a file in its last block mean nothing; they are cleared when the file grows over them.
 */
#include "nsdisk/ext2/ext2.h"

#include <string.h>

#include "nsdisk/ext2/disk_bytes.h"
#include "vertex/contract/errors.h"

/* ---- Reading ---- */

/* Reads as much as one run gives; small: one block. Returns bytes. */
static int64_t read_step(struct ext2_inode *inode, uint64_t offset, uint8_t *buf, uint32_t bytes, bool small)
{
    struct ext2 *fs = inode->fs;
    struct ext2_run run;
    uint32_t in_block = ext2_block_offset(fs, offset);
    uint32_t most = small ? CACHE_GATHER_BYTES >> fs->block_shift : ext2_blocks_of(fs, in_block, bytes);

    if (small)
        bytes = ext2_smaller(bytes, fs->block_bytes - in_block);
    int error = ext2_map_run(inode, offset >> fs->block_shift, most, &run);
    if (error < 0)
        return error;
    bytes = ext2_smaller(bytes, ((uint64_t)run.count << fs->block_shift) - in_block);
    if (run.first == 0) {
        memset(buf, 0, bytes);
        return bytes;
    }
    error = fs->way->read(inode, offset >> fs->block_shift, (struct ext2_span){run.first, in_block, bytes, run.count},
                          buf, small);
    return error < 0 ? error : (int64_t)bytes;
}

int64_t ext2_read(struct ext2_inode *inode, uint64_t offset, void *buf, uint32_t bytes)
{
    if (offset >= inode->size_bytes)
        return 0;
    bytes = ext2_smaller(bytes, inode->size_bytes - offset);
    bool small = bytes < inode->fs->way->small_bytes && offset == inode->read_next;
    uint32_t done = 0;
    while (done < bytes) {
        int64_t n = read_step(inode, offset + done, (uint8_t *)buf + done, bytes - done, small);

        if (n < 0)
            return done == 0 ? n : done;
        done += (uint32_t)n;
    }
    inode->read_next = offset + bytes;
    return bytes;
}

/* ---- Writing ---- */

/* Where the next block of a file should be. */
static int write_goal(struct ext2_inode *inode, uint64_t file_block, uint32_t *goal)
{
    struct ext2_run run = {0};

    *goal = inode->goal;
    if (*goal != 0 && inode->write_next == file_block)
        return 0;
    if (file_block > 0) {
        int error = ext2_map_run(inode, file_block - 1, 1, &run);

        if (error < 0)
            return error;
    }
    *goal = run.first != 0 ? run.first + 1 : ext2_group_goal(inode->fs, ext2_group_of_ino(inode->fs, inode->ino));
    return 0;
}

static void note_written(struct ext2_inode *inode, uint64_t file_block, const struct ext2_span *s)
{
    uint32_t count = ext2_blocks_of(inode->fs, s->offset, s->bytes);

    inode->write_next = file_block + count;
    inode->goal = s->block + count;
}

/* Takes up to `count` blocks for a hole, close to the goal, and makes the indirect blocks that will point to them.
 * Returns their number. */
static int take_for_hole(struct ext2_inode *inode, uint64_t file_block, uint32_t count, uint32_t goal, uint32_t *first)
{
    int result = ext2_map_prepare(inode, file_block, count, goal + count);

    return result > 0 ? ext2_alloc_blocks(inode->fs, goal, (uint32_t)result, first) : result;
}

/* Writes into a hole of `count` blocks: indirect blocks, then data, then pointers. Returns bytes. */
static int64_t write_hole(struct ext2_inode *inode, uint64_t file_block, uint32_t count, struct ext2_span *s,
                          const uint8_t *buf)
{
    struct ext2 *fs = inode->fs;
    uint32_t goal;
    int result = write_goal(inode, file_block, &goal);

    if (result == 0)
        result = take_for_hole(inode, file_block, count, goal, &s->block);
    if (result < 0)
        return result;
    uint32_t got = (uint32_t)result;
    s->old = 0;
    s->bytes = ext2_smaller(s->bytes, ((uint64_t)got << fs->block_shift) - s->offset);
    int error = fs->way->write(inode, file_block, *s, buf);
    if (error < 0) {
        ext2_free_blocks(fs, s->block, got);
        return error;
    }
    error = ext2_map_set(inode, file_block, s->block, got);
    if (error < 0)
        return error;
    note_written(inode, file_block, s);
    return s->bytes;
}

/* Writes a span that ends with its file's blocks, and what follows it in the hole behind, by one command if the new
 * blocks lie behind the old ones on the disk. Returns bytes; 0: they do not, and nothing was written. */
static int64_t write_with_hole(struct ext2_inode *inode, uint64_t file_block, const struct ext2_span *old,
                               uint32_t bytes, const uint8_t *buf)
{
    struct ext2 *fs = inode->fs;
    struct ext2_run hole;
    uint64_t behind = file_block + old->old;
    uint32_t first, goal = old->block + old->old, want = ext2_blocks_of(fs, old->offset, bytes) - old->old;
    int result = ext2_map_run(inode, behind, want, &hole);

    if (result < 0 || hole.first != 0 || !ext2_is_block_free(fs, goal))
        return result;
    result = take_for_hole(inode, behind, hole.count, goal, &first);
    if (result < 0)
        return 0; /* what there is room for is written without it */
    uint32_t got = (uint32_t)result;
    struct ext2_span s = *old;
    s.bytes = ext2_smaller(bytes, ((uint64_t)(old->old + got) << fs->block_shift) - s.offset);
    result = first == goal ? fs->way->write(inode, file_block, s, buf) : -N_EAGAIN;
    if (result < 0) {
        ext2_free_blocks(fs, first, got);
        return 0;
    }
    result = ext2_map_set(inode, behind, first, got);
    if (result < 0)
        return result;
    note_written(inode, file_block, &s);
    return s.bytes;
}

/* Writes as much as one run takes, or a run and the hole behind it. Returns bytes. */
static int64_t write_step(struct ext2_inode *inode, uint64_t offset, const uint8_t *buf, uint32_t bytes)
{
    struct ext2 *fs = inode->fs;
    struct ext2_run run;
    uint64_t file_block = offset >> fs->block_shift;
    struct ext2_span s = {0, ext2_block_offset(fs, offset), bytes, 0};
    int error = ext2_begin(fs);

    if (error == 0)
        error = ext2_map_run(inode, file_block, ext2_blocks_of(fs, s.offset, bytes), &run);
    if (error < 0)
        return error;
    s.bytes = ext2_smaller(bytes, ((uint64_t)run.count << fs->block_shift) - s.offset);
    if (run.first == 0)
        return write_hole(inode, file_block, run.count, &s, buf);
    s.block = run.first;
    s.old = run.count;
    int64_t n = s.bytes < bytes && fs->way->mixes ? write_with_hole(inode, file_block, &s, bytes, buf) : 0;
    if (n != 0)
        return n;
    error = fs->way->write(inode, file_block, s, buf);
    if (error < 0)
        return error;
    note_written(inode, file_block, &s);
    return s.bytes;
}

/* Clears the last block behind the end of the file, which is about to grow. */
static int clear_tail(struct ext2_inode *inode)
{
    struct ext2 *fs = inode->fs;
    struct ext2_run run;
    uint32_t tail = ext2_block_offset(fs, inode->size_bytes);

    if (tail == 0)
        return 0;
    int error = ext2_map_run(inode, inode->size_bytes >> fs->block_shift, 1, &run);
    return error < 0 || run.first == 0 ? error : fs->way->clear_tail(inode, run.first, tail);
}

int64_t ext2_write(struct ext2_inode *inode, uint64_t offset, const void *buf, uint32_t bytes)
{
    struct ext2 *fs = inode->fs;
    int64_t n = 0;
    uint32_t done = 0;

    if (offset > fs->file_max_bytes || (offset == fs->file_max_bytes && bytes != 0))
        return -N_EFBIG;
    if (bytes > fs->file_max_bytes - offset)
        bytes = (uint32_t)(fs->file_max_bytes - offset);
    if (bytes == 0)
        return fs->read_only ? -N_EROFS : 0;
    if (offset > inode->size_bytes && (n = ext2_begin(fs)) == 0)
        n = clear_tail(inode);
    while (n >= 0 && done < bytes) {
        n = write_step(inode, offset + done, (const uint8_t *)buf + done, bytes - done);
        if (n > 0)
            done += (uint32_t)n;
    }
    if (done != 0) {
        if (offset + done > inode->size_bytes)
            inode->size_bytes = offset + done;
        inode->mtime_s = inode->ctime_s = ext2_now(fs);
    }
    int error = fs->read_only ? -N_EROFS : ext2_inode_store(inode); /* also blocks_512, when it failed */
    if (error < 0)
        return error;
    return done == 0 ? n : done;
}

int ext2_set_size(struct ext2_inode *inode, uint64_t size_bytes)
{
    struct ext2 *fs = inode->fs;

    if (size_bytes > fs->file_max_bytes)
        return -N_EFBIG;
    int error = ext2_begin(fs);
    if (error == 0 && size_bytes > inode->size_bytes)
        error = clear_tail(inode);
    if (error < 0)
        return error;
    bool shrinks = size_bytes < inode->size_bytes;
    inode->size_bytes = size_bytes;
    inode->mtime_s = inode->ctime_s = ext2_now(fs);
    if (shrinks)
        return ext2_map_truncate(inode, (size_bytes + fs->block_bytes - 1) >> fs->block_shift);
    return ext2_inode_store(inode);
}

/* ---- Symbolic links ---- */

int ext2_write_symlink(struct ext2_inode *inode, struct ext2_path text)
{
    uint8_t packed[4 * EXT2_POINTERS] = {0};

    if (text.bytes >= EXT2_SHORT_SYMLINK_BYTES) {
        int64_t n = ext2_write(inode, 0, text.text, text.bytes);

        return n < 0 ? (int)n : n < text.bytes ? -N_ENOSPC : 0;
    }
    memcpy(packed, text.text, text.bytes);
    for (uint32_t i = 0; i < EXT2_POINTERS; i++)
        inode->block[i] = disk_get32(packed + 4 * i);
    inode->size_bytes = text.bytes;
    return 0;
}

int ext2_read_symlink(struct ext2_inode *inode, char *text, uint32_t bytes)
{
    uint8_t packed[4 * EXT2_POINTERS] __attribute__((aligned(4)));

    if (inode->size_bytes == 0 || inode->size_bytes > inode->fs->block_bytes)
        return ext2_corrupt(inode->fs, "symbolic link inode %u: %lu bytes", inode->ino,
                            (unsigned long)inode->size_bytes);
    if (inode->size_bytes > bytes)
        return -N_ENAMETOOLONG;
    if (ext2_inode_has_blocks(inode))
        return (int)ext2_read(inode, 0, text, (uint32_t)inode->size_bytes);
    for (uint32_t i = 0; i < EXT2_POINTERS; i++)
        disk_put32(packed + 4 * i, inode->block[i]);
    memcpy(text, packed, inode->size_bytes);
    return (int)inode->size_bytes;
}
