/*
 * The size and free space of a volume.
 */
#ifndef _SYS_STATFS_H
#define _SYS_STATFS_H

struct statfs {
    long f_bsize; /* bytes in a block, the unit of f_blocks and f_bfree */
    long f_blocks;
    long f_bfree;
    long f_files; /* inodes */
    long f_ffree;
};

/* Both fill *st and return 0, or -1 with errno as from open. statfs takes the name of any existing file or directory on
 * the volume. */
int statfs(const char *path, struct statfs *st);
int fstatfs(int fd, struct statfs *st);

#endif
