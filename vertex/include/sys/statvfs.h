/*
 * The size and free space of a volume, as POSIX reports them.
 */
#ifndef _SYS_STATVFS_H
#define _SYS_STATVFS_H

#include <sys/types.h>

#define ST_RDONLY 1
#define ST_NOSUID 2

struct statvfs {
    unsigned long f_bsize;  /* bytes in a block */
    unsigned long f_frsize; /* the unit of f_blocks, f_bfree and f_bavail; equals f_bsize */
    unsigned long f_blocks, f_bfree, f_bavail;
    unsigned long f_files, f_ffree, f_favail;
    unsigned long f_fsid;
    unsigned long f_flag;
    unsigned long f_namemax;
};

/* Both fill *st and return 0, or -1 with errno as from statfs. */
int statvfs(const char *path, struct statvfs *st);
int fstatvfs(int fd, struct statvfs *st);

#endif
