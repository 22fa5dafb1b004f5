/* Which parts of an image a copy of it needs. */
#pragma once

#include <stddef.h>

#include "emu/base/file_extent.h"

/* Finds the extents of an open image of `bytes` bytes that the host keeps and that the file system uses: all but free
 * blocks. Of an image that was not unmounted, whose bitmaps may be wrong, those that the host keeps. Returns them in
 * ascending order, for the caller to free, and their number. */
struct file_extent *used_blocks(int fd, uint64_t bytes, size_t *n);
