/*
 * Whether an image that is marked clean is sound enough to be written to. A damaged descriptor or bitmap would make
 * libext2fs write over what files have.
 */
#ifndef NCUBE_VOLUME_CHECK_H
#define NCUBE_VOLUME_CHECK_H

#include <ext2fs/ext2fs.h>
#include <stddef.h>

/*
 * Checks, without a write: that the image has all its blocks; that bitmaps and tables of inodes lie where
 * the format allows; that the bitmaps mark exactly what the file system itself and its inodes use, and that no block is
 * used twice; and that all counts of free blocks, free inodes and directories are those of the bitmaps. Reads the
 * bitmaps, as ext2fs_read_bitmaps. Returns 0, or -1 with the reason in `why`. The cost is one reading of all inodes in
 * use and their indirect blocks.
 */
int volume_check(ext2_filsys fs, uint64_t image_bytes, char *why, size_t why_bytes);

#endif
