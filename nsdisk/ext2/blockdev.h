/*
 * A disk is two functions and a size, so that the file system runs alike on a drive behind traps, on an image
 * file and on RAM, and a test can count or cut its transfers.
 */
#ifndef NSDISK_BLOCKDEV_H
#define NSDISK_BLOCKDEV_H

#include <stdint.h>

#define BLOCKDEV_SECTOR_BYTES 512u

struct blockdev {
    /* 0 or a negative n_error. A write returns when the sectors are on the medium. */
    int (*read)(void *ctx, uint64_t sector, void *buf, uint32_t sectors);
    int (*write)(void *ctx, uint64_t sector, const void *buf, uint32_t sectors);
    uint64_t sectors;
    void *ctx;
};

#endif
