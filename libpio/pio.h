/*
 * libpio: user-level parallel file I/O. The only public header.
 *
 * A PIO file is one logical file whose blocks lie on D volumes [P0 section 3]: block b on volume b mod D, at
 * subfile offset (b / D) * B. B bytes per block; C blocks in flight per volume.
 * Functions return -1 and set errno on failure.
 */
#ifndef NCUBE_PIO_H
#define NCUBE_PIO_H

#include <sys/stat.h>
#include <sys/types.h>

struct pio_layout { /* 0 or NULL: the default */
    int disks;                  /* D: number of volumes */
    int block_size;             /* B: bytes per block */
    int buffers;                /* C: blocks in flight per volume */
    const char *const *volumes; /* D names, without slashes; default df00, df01, ... */
};

int pio_open(const char *name, int flags, ... /* mode_t mode when O_CREAT */);
int pio_open_layout(const char *name, int flags, mode_t mode, const struct pio_layout *layout);
ssize_t pio_read(int pfd, void *buf, size_t n);
ssize_t pio_write(int pfd, const void *buf, size_t n);
off_t pio_lseek(int pfd, off_t offset, int whence);
int pio_close(int pfd);
int pio_fstat(int pfd, struct stat *st);
int pio_ftruncate(int pfd, off_t size);
int pio_fsync(int pfd);
int pio_unlink(const char *name);

#endif
