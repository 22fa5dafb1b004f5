/*
 * The copies of inodes in memory, and their places in the inode tables on the disk; for ext2_inode.c, which holds and
 * checks them, and ext2_sync.c. A copy has its number and its references from the caller:
 *
 *   ext2_copy_make -> ext2_copy_load, or fields set by the caller -> ext2_inode_store -> ext2_copy_drop
 */
#pragma once

#include "nsdisk/ext2/ext2.h"

#define EXT2_UNNAMED_MAX 256u

/* The copy of an inode, or NULL. It is not counted as another reference. */
struct ext2_inode *ext2_copy_find(struct ext2 *fs, uint32_t ino);
/* Makes the copy of an inode that has none: all zeros, one reference. NULL: no memory. */
struct ext2_inode *ext2_copy_make(struct ext2 *fs, uint32_t ino);
void ext2_copy_drop(struct ext2_inode *inode);
/* Fills the copy from the disk, unchecked. */
int ext2_copy_load(struct ext2_inode *inode);
/* Prepares the place of an inode without a copy for a new one: all zeros but the generation, which goes on from the
 * last user's; the new inode's is stored in *generation. -N_EBUSY: a file is there. */
int ext2_place_clear(struct ext2 *fs, uint32_t ino, uint32_t *generation);

/* Adds a new inode to the unnamed ones, of which there are fewer than EXT2_UNNAMED_MAX. */
void ext2_unnamed_add(struct ext2_inode *inode);
/* Removes it if it is one. */
void ext2_unnamed_remove(struct ext2_inode *inode);
/* After a flush has brought their names to the disk: gives the unnamed inodes their links. */
int ext2_publish_unnamed(struct ext2 *fs);
