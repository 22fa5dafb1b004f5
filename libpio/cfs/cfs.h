/*
 * The Concurrent File System of the iPSC/860, by its own calls [P2 section 3.0]. A file whose name begins with /cfs/ is
 * spread over the machine's CFS disks (`cfs` of the machine file), block by block of 4 KB. A program that names one of
 * these calls may use open, close, read, write, lseek, fstat, stat, unlink, rename, mkdir, rmdir and stdio on such
 * names. docs/cfs.md; manual page cfs(3n).
 *
 * Calls without a result end the program on an error, with one line and status 1. Their forms with an underscore return
 * -1 and set errno.
 */
#ifndef _CFS_H
#define _CFS_H

#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Read and write n bytes at the file's pointer, one block after the other. Fewer bytes than n are an error of cread. */
void cread(int fd, void *buf, unsigned n);
void cwrite(int fd, const void *buf, unsigned n);
long _cread(int fd, void *buf, unsigned n); /* bytes; 0: the end */
long _cwrite(int fd, const void *buf, unsigned n);

/* Begin the same, with as many requests under way as the machine file's `async` says; buf is the call's until it has
 * ended. The pointer moves at once. Return an id. At most 32 are begun and not ended: EAGAIN. */
long iread(int fd, void *buf, unsigned n);
long iwrite(int fd, const void *buf, unsigned n);
long _iread(int fd, void *buf, unsigned n);
long _iwrite(int fd, const void *buf, unsigned n);
/* Wait until it has ended; the id is free. EINVAL: no such id. */
void iowait(long id);
long _iowait(long id); /* bytes */
/* 1: it has ended, and the id is free; 0: not yet. */
long iodone(long id);
long _iodone(long id);

/* 1: the pointer is at the end or behind it; 0. */
long iseof(int fd);
long _iseof(int fd);

#define SIZE_SET 0
#define SIZE_CUR 1
#define SIZE_END 2
/* Reserves space, so that the file has offset bytes (SIZE_SET), or as many from the pointer (SIZE_CUR) or from its end
 * (SIZE_END) on. The size never becomes less. Returns it. ENOSPC: nothing has changed. */
off_t lsize(int fd, off_t offset, int whence);
off_t _lsize(int fd, off_t offset, int whence);

/* Limits a file, before anything of it is allocated, to n disks. EBUSY: something is. EINVAL: no such disk. */
long restrictvol(int fd, int n, int *disks);
long _restrictvol(int fd, int n, int *disks);

/* I/O modes of an open file, which all nodes of the program set alike, in a call of all of them; the pointers are then
 * at 0. Reads and writes are
 *
 *   0   at the node's own pointer;
 *   1   at a common pointer, first come, first served;
 *   2   at a common pointer, in the order of nodes, each of its own length: calls of all nodes;
 *   3   the same with equal lengths, without a message: record k of node i is record k N + i.
 *
 * In modes 1 to 3 lseek fails with EINVAL, and close is a call of all nodes, which fails with EINVAL if lengths in mode
 * 3 were not equal. */
void setiomode(int fd, int mode);
long _setiomode(int fd, int mode);
long iomode(int fd);
long _iomode(int fd);
/* All nodes open a file in a mode: node 0 does, and tells the others. */
int gopen(const char *path, int flags, int mode, mode_t permissions);
int _gopen(const char *path, int flags, int mode, mode_t permissions);

/* Our own: the number of CFS disks, 0 where the machine has none; and what a disk has counted. */
int cfs_disks(void);

struct cfs_stat {
    uint64_t blocks, blocks_free;    /* of 4 KB */
    uint64_t requests, hits, misses; /* of blocks, since the machine's start */
    uint64_t prefetched, unused;     /* blocks that came along, and those of them that went unused */
    uint64_t reads[6], writes[6];    /* commands of 1, 2 to 3, 4 to 7, 8 to 15, 16 to 31, 32 and more blocks */
    uint64_t waits, wait_us, waiting_most;
};
int cfs_stat(int disk, struct cfs_stat *st);
/* Writes back what a disk's cache has, and empties it: what follows is measured from there. */
int cfs_drop(int disk);

#ifdef __cplusplus
}
#endif

#endif
