/*
 * How full a volume is.
 */
#ifndef _SYS_STATFS_H
#define _SYS_STATFS_H

struct statfs {
    long f_bsize; /* bytes of a block */
    long f_blocks;
    long f_bfree;
    long f_files; /* inodes */
    long f_ffree;
};

/* Both return 0, or -1 with errno: as open. statfs takes the name of an existing file or
 * directory of the volume. */
int statfs(const char *path, struct statfs *st);
int fstatfs(int fd, struct statfs *st);

#endif
