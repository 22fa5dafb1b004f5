#include "emu/disk/used_blocks.h"

#include <ext2fs/ext2fs.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "emu/base/memory.h"

struct extents {
    struct file_extent *extent;
    size_t n, room;
};

static void add(struct extents *x, uint64_t offset, uint64_t bytes)
{
    struct file_extent *last = x->n > 0 ? &x->extent[x->n - 1] : NULL;

    if (last && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return;
    }
    x->extent = memory_grow(x->extent, &x->room, x->n + 1, sizeof *x->extent);
    x->extent[x->n++] = (struct file_extent){offset, bytes};
}

/* Opens the file system if its bitmaps can be relied upon; else returns NULL. */
static ext2_filsys open_clean(int fd)
{
    char name[40];
    ext2_filsys fs;

    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if (ext2fs_open(name, EXT2_FLAG_64BITS | EXT2_FLAG_SKIP_MMP, 0, 0, unix_io_manager, &fs) != 0)
        return NULL;
    bool clean = (fs->super->s_state & EXT2_VALID_FS) && !(fs->super->s_state & EXT2_ERROR_FS) &&
                 !ext2fs_has_feature_journal_needs_recovery(fs->super);
    if (clean && ext2fs_read_block_bitmap(fs) == 0)
        return fs;
    ext2fs_free(fs);
    return NULL;
}

/* The boot block and what lies behind the last block are in no bitmap. */
static bool is_used(ext2_filsys fs, blk64_t block)
{
    return block < fs->super->s_first_data_block || block >= ext2fs_blocks_count(fs->super) ||
           ext2fs_test_block_bitmap2(fs->block_map, block);
}

static void add_used(struct extents *x, ext2_filsys fs, uint64_t from, uint64_t to)
{
    for (uint64_t at = from, end; at < to; at = end) {
        blk64_t block = at / fs->blocksize;

        end = (block + 1) * fs->blocksize < to ? (block + 1) * fs->blocksize : to;
        if (is_used(fs, block))
            add(x, at, end - at);
    }
}

struct file_extent *used_blocks(int fd, uint64_t bytes, size_t *n)
{
    struct extents x = {0};
    ext2_filsys fs = open_clean(fd);

    for (uint64_t from = 0, to; from < bytes; from = to) {
        off_t data = lseek(fd, (off_t)from, SEEK_DATA);
        off_t hole = data < 0 ? -1 : lseek(fd, data, SEEK_HOLE);

        if (data < 0)
            break;
        to = hole < 0 || (uint64_t)hole > bytes ? bytes : (uint64_t)hole;
        if (fs)
            add_used(&x, fs, (uint64_t)data, to);
        else
            add(&x, (uint64_t)data, to - (uint64_t)data);
    }
    if (fs)
        ext2fs_free(fs);
    *n = x.n;
    return x.extent;
}
