/*
 * How full a volume is, as POSIX has it.
 */
#ifndef _SYS_STATVFS_H
#define _SYS_STATVFS_H

#include <sys/types.h>

#define ST_RDONLY 1
#define ST_NOSUID 2

struct statvfs {
    unsigned long f_bsize;  /* bytes of a block, */
    unsigned long f_frsize; /* and of the units that are counted: the same */
    unsigned long f_blocks, f_bfree, f_bavail;
    unsigned long f_files, f_ffree, f_favail;
    unsigned long f_fsid;
    unsigned long f_flag;
    unsigned long f_namemax;
};

/* Both return 0, or -1 with errno: as statfs. */
int statvfs(const char *path, struct statvfs *st);
int fstatvfs(int fd, struct statvfs *st);

#endif
