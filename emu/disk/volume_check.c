/*
 * Images that must not be written to (volume_check.h): bitmaps are made anew from descriptors and inodes, as by e2fsck,
 * and compared with those of the image.
 */
#include "emu/disk/volume_check.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "emu/base/memory.h"

struct check {
    ext2_filsys fs;
    ext2fs_block_bitmap blocks; /* in use, by what has been seen so far */
    ext2fs_inode_bitmap inodes;
    ext2_ino_t inode; /* whose blocks are being claimed */
    bool damaged;     /* `why` is filled in */
    char *why;
    size_t why_bytes;
};

/* Keeps the first reason. Returns false, for tests that have failed. */
static bool find_fault(struct check *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool find_fault(struct check *c, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    if (!c->damaged)
        vsnprintf(c->why, c->why_bytes, format, list);
    va_end(list);
    c->damaged = true;
    return false;
}

/* Whether a call of libext2fs has succeeded. */
static bool done(struct check *c, const char *what, errcode_t code)
{
    return code == 0 || find_fault(c, "its %s: %s", what, error_message(code));
}

/* ---- What uses blocks ---- */

/* Marks the superblocks, descriptors, bitmaps and tables of inodes. */
static bool claim_metadata(struct check *c)
{
    ext2_filsys fs = c->fs;

    if (ext2fs_check_desc(fs) != 0)
        return find_fault(c, "a group's descriptor is damaged");
    for (dgrp_t g = 0; g < fs->group_desc_count; g++) {
        if (ext2fs_bg_flags_test(fs, g, EXT2_BG_INODE_UNINIT | EXT2_BG_BLOCK_UNINIT)) /* a feature has them */
            return find_fault(c, "the flags of group %u are damaged", g);
        ext2fs_reserve_super_and_bgd(fs, g, c->blocks);
        ext2fs_mark_block_bitmap2(c->blocks, ext2fs_block_bitmap_loc(fs, g));
        ext2fs_mark_block_bitmap2(c->blocks, ext2fs_inode_bitmap_loc(fs, g));
        ext2fs_mark_block_bitmap_range2(c->blocks, ext2fs_inode_table_loc(fs, g), fs->inode_blocks_per_group);
    }
    return true;
}

static int claim_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t index, blk64_t parent, int offset, void *ctx)
{
    struct check *c = ctx;

    (void)index, (void)parent, (void)offset;
    if (*block < fs->super->s_first_data_block || *block >= ext2fs_blocks_count(fs->super)) {
        find_fault(c, "inode %u uses block %" PRIu64 ", which is not there", c->inode, (uint64_t)*block);
        return BLOCK_ABORT;
    }
    /* The blocks that wait for more descriptors belong to an inode and to the file system. */
    if (ext2fs_mark_block_bitmap2(c->blocks, *block) && c->inode != EXT2_RESIZE_INO) {
        find_fault(c, "inode %u uses block %" PRIu64 ", which is used twice", c->inode, (uint64_t)*block);
        return BLOCK_ABORT;
    }
    return 0;
}

static bool claim_inode(struct check *c, struct ext2_inode *inode)
{
    blk64_t attributes = ext2fs_file_acl_block(c->fs, inode); /* inodes may share it */

    ext2fs_mark_inode_bitmap2(c->inodes, c->inode);
    if (attributes >= ext2fs_blocks_count(c->fs->super))
        return find_fault(c, "inode %u uses block %" PRIu64 ", which is not there", c->inode, (uint64_t)attributes);
    if (attributes != 0)
        ext2fs_mark_block_bitmap2(c->blocks, attributes);
    if (!ext2fs_inode_has_valid_blocks2(c->fs, inode))
        return true;
    errcode_t code = ext2fs_block_iterate3(c->fs, c->inode, BLOCK_FLAG_READ_ONLY, NULL, claim_block, c);
    return !c->damaged && (code == 0 || find_fault(c, "inode %u: %s", c->inode, error_message(code)));
}

/* Claims the blocks of all inodes that have a name, and counts directories. */
static bool claim_inodes(struct check *c, uint32_t *directories)
{
    ext2_inode_scan scan;
    struct ext2_inode inode;

    if (!done(c, "inodes", ext2fs_open_inode_scan(c->fs, 0, &scan)))
        return false;
    for (;;) {
        if (!done(c, "inodes", ext2fs_get_next_inode(scan, &c->inode, &inode)) || c->inode == 0)
            break;
        if (inode.i_links_count == 0 && c->inode >= EXT2_FIRST_INODE(c->fs->super))
            continue;
        directories[ext2fs_group_of_ino(c->fs, c->inode)] += LINUX_S_ISDIR(inode.i_mode);
        if (!claim_inode(c, &inode))
            break;
    }
    ext2fs_close_inode_scan(scan);
    return !c->damaged;
}

/* ---- Bitmaps and counts ---- */

static bool bitmaps_agree(struct check *c)
{
    ext2_filsys fs = c->fs;

    if (!done(c, "bitmaps", ext2fs_read_bitmaps(fs)))
        return false;
    if (ext2fs_compare_block_bitmap(c->blocks, fs->block_map) != 0)
        return find_fault(c, "its bitmaps of blocks are not what its files use");
    if (ext2fs_compare_inode_bitmap(c->inodes, fs->inode_map) != 0)
        return find_fault(c, "its bitmaps of inodes are not what its directories use");
    if (fs->flags & (EXT2_FLAG_BBITMAP_TAIL_PROBLEM | EXT2_FLAG_IBITMAP_TAIL_PROBLEM))
        return find_fault(c, "a bitmap is damaged behind its end");
    return true;
}

static bool counts_agree(struct check *c, const uint32_t *directories)
{
    ext2_filsys fs = c->fs;
    uint64_t all_blocks = 0, all_inodes = 0;

    for (dgrp_t g = 0; g < fs->group_desc_count; g++) {
        uint32_t blocks = 0, inodes = 0;

        for (blk64_t b = ext2fs_group_first_block2(fs, g); b <= ext2fs_group_last_block2(fs, g); b++)
            blocks += !ext2fs_fast_test_block_bitmap2(c->blocks, b);
        for (ext2_ino_t i = 1; i <= fs->super->s_inodes_per_group; i++)
            inodes += !ext2fs_fast_test_inode_bitmap2(c->inodes, g * fs->super->s_inodes_per_group + i);
        if (blocks != ext2fs_bg_free_blocks_count(fs, g) || inodes != ext2fs_bg_free_inodes_count(fs, g) ||
            directories[g] != ext2fs_bg_used_dirs_count(fs, g))
            return find_fault(
                c, "group %u has %u free blocks, %u free inodes and %u directories, but counts %u, %u and %u", g,
                blocks, inodes, directories[g], ext2fs_bg_free_blocks_count(fs, g), ext2fs_bg_free_inodes_count(fs, g),
                ext2fs_bg_used_dirs_count(fs, g));
        all_blocks += blocks;
        all_inodes += inodes;
    }
    if (all_blocks != ext2fs_free_blocks_count(fs->super) || all_inodes != fs->super->s_free_inodes_count)
        return find_fault(
            c, "it has %" PRIu64 " free blocks and %" PRIu64 " free inodes, but counts %" PRIu64 " and %u", all_blocks,
            all_inodes, (uint64_t)ext2fs_free_blocks_count(fs->super), fs->super->s_free_inodes_count);
    return true;
}

int volume_check(ext2_filsys fs, uint64_t image_bytes, char *why, size_t why_bytes)
{
    struct check c = {.fs = fs, .why = why, .why_bytes = why_bytes};
    uint32_t *directories = memory_new(fs->group_desc_count, sizeof *directories);

    fs->default_bitmap_type = EXT2FS_BMAP64_BITARRAY;
    if (ext2fs_blocks_count(fs->super) > image_bytes / fs->blocksize)
        find_fault(&c, "it has %" PRIu64 " blocks, but the file is shorter", (uint64_t)ext2fs_blocks_count(fs->super));
    bool sound = !c.damaged && done(&c, "bitmaps", ext2fs_allocate_block_bitmap(fs, "blocks in use", &c.blocks)) &&
                 done(&c, "bitmaps", ext2fs_allocate_inode_bitmap(fs, "inodes in use", &c.inodes)) &&
                 claim_metadata(&c) && claim_inodes(&c, directories) && bitmaps_agree(&c) &&
                 counts_agree(&c, directories);
    if (c.blocks)
        ext2fs_free_block_bitmap(c.blocks);
    if (c.inodes)
        ext2fs_free_inode_bitmap(c.inodes);
    free(directories);
    return sound ? 0 : -1;
}
