/*
 * Files of the Concurrent File System [P2 section 3.0] on the images of a machine (docs/cfs.md, On the disks): a text
 * on disk 0, the pointers on the home disk, the blocks on all.
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES).
 */
#pragma once

#include "emu/disk/pio_image.h"

struct cfs_image_file;

struct cfs_image_counts {
    uint64_t files, blocks;
    uint64_t pieces; /* runs of blocks that lie one behind the other on a disk */
};

/* Opens the file `path` for reading; *bytes: its size. Each of its pointers must lead to a block of the file's part on
 * that disk, in the order of the part; the file ends before the first that does not, as when a program opens it after a
 * machine that ended without a shutdown. The caller closes it. */
int cfs_image_open(struct pio_volumes *v, const char *path, struct cfs_image_file **f, uint64_t *bytes, char *error);
/* Reads n bytes at an offset of the file. */
int cfs_image_read(struct cfs_image_file *f, uint64_t offset, void *buf, size_t n, char *error);
/* NULL is allowed. */
int cfs_image_close(struct cfs_image_file *f, int result, char *error);

/* Checks all files of the system whose disk 0 is volume `disk`, as above: a file that ends before its pointers do is
 * an error that names it. */
int cfs_image_check(struct pio_volumes *v, uint32_t disk, struct cfs_image_counts *counts, char *error);
