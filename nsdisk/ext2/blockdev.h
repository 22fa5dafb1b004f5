/*
 * A disk is a few functions and a size, so that the file system runs alike on a drive behind traps, on an image
 * file and on RAM, and a test can count or cut its transfers.
 *
 * A command that is started runs while its caller goes on:
 *
 *     blockdev_start --> under way --> done = true   (by the device, while somebody waits, reads or writes)
 *                                  `-> blockdev_wait returns its result
 *
 * Commands of one disk are carried out one after the other in the order in which they were given, whether started, read
 * or written: a read that follows a started write of the same sectors finds its bytes, and a command that is done
 * proves that those before it are done.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BLOCKDEV_SECTOR_BYTES 512u

/* A command that was started. The caller's, and neither it nor the buffer may go before the command is done. */
struct blockdev_command {
    bool done;
    int status; /* when done: 0 or a negative n_error */
};

struct blockdev {
    /* 0 or a negative n_error. A write returns when the sectors are on the medium. */
    int (*read)(void *ctx, uint64_t sector, void *buf, uint32_t sectors);
    int (*write)(void *ctx, uint64_t sector, const void *buf, uint32_t sectors);
    uint64_t sectors;
    void *ctx;
    /* Both, or NULL both: blockdev_start then carries the command out at once. `start` waits while as many commands are
     * under way as the disk takes; `wait` returns when the command is done. */
    void (*start)(void *ctx, bool write, uint64_t sector, void *buf, uint32_t sectors, struct blockdev_command *c);
    void (*wait)(void *ctx, struct blockdev_command *c);
};

/* Starts a command; a buffer to be written is not changed. Every error is the command's status. */
static inline void blockdev_start(const struct blockdev *dev, bool write, uint64_t sector, void *buf, uint32_t sectors,
                                  struct blockdev_command *c)
{
    *c = (struct blockdev_command){.done = false};
    if (dev->start) {
        dev->start(dev->ctx, write, sector, buf, sectors, c);
        return;
    }
    c->status = write ? dev->write(dev->ctx, sector, buf, sectors) : dev->read(dev->ctx, sector, buf, sectors);
    c->done = true;
}

/* Waits for the end of a command that was started. Returns its status. */
static inline int blockdev_wait(const struct blockdev *dev, struct blockdev_command *c)
{
    if (!c->done)
        dev->wait(dev->ctx, c);
    return c->status;
}
