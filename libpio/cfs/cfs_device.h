/* What the calls of <cfs.h> need of the driver. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct cfs_open;
struct ndevice;

extern const struct ndevice ndevice_cfs;

/* Where a read or write at the file's pointer is to be. -EBADF: not opened for it; -EISDIR. */
int cfs_device_place(struct cfs_open *f, bool write, uint64_t *at);
/* The same for n bytes, which move the pointer on in I/O modes 1 to 3. */
int cfs_device_take(struct cfs_open *f, bool write, uint64_t n, uint64_t *at);
/* Makes the file at least so long, with blocks for all of it; -ENOSPC: nothing has changed. */
int cfs_device_size(struct cfs_open *f, uint64_t size);
