/*
 * The extents that are freed, but that something on the disk may still point to: they wait for the next sync.
 */
#pragma once

#include "nsdisk/ext2/ext2.h"

#define EXT2_FREED_MAX 1024u

/* Notes that nothing in memory points to these blocks or inodes any more. A full list syncs, and its error is returned;
 * after one from a list that was full already, nothing is noted. */
int ext2_note_freed(struct ext2 *fs, uint32_t first, uint32_t count, bool inodes);
/* True if the block waits for a sync. */
bool ext2_is_freed(const struct ext2 *fs, uint32_t block);
