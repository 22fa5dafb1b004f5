/* The calls of <cfs.h>, on descriptors that the driver has. A program with one of them has the driver. */
#include "libpio/cfs/cfs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/cfs/cfs_calls.h"
#include "libpio/cfs/cfs_client.h"
#include "libpio/cfs/cfs_device.h"
#include "vertex/contract/machine.h"

__attribute__((constructor)) static void add_driver(void)
{
    ndevice_add(&ndevice_cfs);
}

/* ---- Reading and writing ---- */

long _cread(int fd, void *buf, unsigned n)
{
    int error;

    return cfs_call_file(fd, &error) ? cfs_call_result(ndevice_cfs.read(ndevice_slot(fd)->state, buf, n))
                                     : cfs_call_result(error);
}

long _cwrite(int fd, const void *buf, unsigned n)
{
    int error;

    return cfs_call_file(fd, &error) ? cfs_call_result(ndevice_cfs.write(ndevice_slot(fd)->state, buf, n))
                                     : cfs_call_result(error);
}

void cread(int fd, void *buf, unsigned n)
{
    const long moved = _cread(fd, buf, n);

    if (moved < (long)n)
        cfs_call_moves_less("cread", fd, moved, "the file ends before that");
}

void cwrite(int fd, const void *buf, unsigned n)
{
    const long moved = _cwrite(fd, buf, n);

    if (moved < (long)n)
        cfs_call_moves_less("cwrite", fd, moved, strerror(ENOSPC));
}

/* ---- Asynchronous calls ---- */

static struct asked { /* by id */
    int fd;
    uint64_t n;
} asked[CFS_MOVES_MAX + 1];

/* The pointer moves by what will be moved, if nothing fails. */
static long start(int fd, bool write, void *buf, unsigned n)
{
    int error;
    uint64_t at, expected;
    struct cfs_open *f = cfs_call_file(fd, &error);

    if (f)
        error = cfs_device_take(f, write, n, &at);
    if (error < 0)
        return cfs_call_result(error);
    long id = cfs_move_start(f, write, buf, n, at, &expected);
    if (id < 0)
        return cfs_call_result(id);
    if (!f->mode)
        f->at = at + expected;
    asked[id] = (struct asked){fd, n};
    return id;
}

long _iread(int fd, void *buf, unsigned n)
{
    return start(fd, false, buf, n);
}

long _iwrite(int fd, const void *buf, unsigned n)
{
    return start(fd, true, (void *)buf, n);
}

long iread(int fd, void *buf, unsigned n)
{
    return cfs_call_must("iread", fd, _iread(fd, buf, n));
}

long iwrite(int fd, const void *buf, unsigned n)
{
    return cfs_call_must("iwrite", fd, _iwrite(fd, buf, n));
}

long _iowait(long id)
{
    return cfs_call_result(cfs_move_end(id));
}

void iowait(long id)
{
    const bool may_be = id >= 1 && id <= (long)CFS_MOVES_MAX;
    const long moved = _iowait(id);

    if (!may_be || (moved < 0 && errno == EINVAL))
        cfs_call_must("iowait", may_be ? asked[id].fd : -1, moved);
    else if (moved < (long)asked[id].n)
        cfs_call_moves_less("iowait", asked[id].fd, moved, "fewer bytes than were asked for");
}

/* An error is that of the move. */
long _iodone(long id)
{
    int ended = cfs_move_test(id);

    if (ended == 1 && _iowait(id) < 0)
        return -1;
    return cfs_call_result(ended);
}

long iodone(long id)
{
    int ended = cfs_move_test(id);

    if (ended == 1)
        iowait(id);
    else
        cfs_call_must("iodone", -1, cfs_call_result(ended));
    return ended;
}

/* ---- Sizes ---- */

long _iseof(int fd)
{
    int error;
    struct cfs_open *f = cfs_call_file(fd, &error);

    uint64_t at = f ? f->at : 0;
    if (f && f->mode)
        error = f->mode->place(f, &at);
    if (error == 0)
        error = cfs_file_header(f, N_CSIZE, 0, 0);
    return error < 0 ? cfs_call_result(error) : at >= f->header.size_bytes;
}

long iseof(int fd)
{
    return cfs_call_must("iseof", fd, _iseof(fd));
}

static int64_t set_size(struct cfs_open *f, off_t offset, int whence)
{
    uint64_t at;
    int error = cfs_device_place(f, true, &at);

    if (error == 0)
        error = whence == SIZE_END ? cfs_file_header(f, N_CSIZE, 0, 0) : 0;
    const uint64_t base = whence == SIZE_SET ? 0 : whence == SIZE_CUR ? at : f->header.size_bytes;
    if (error == 0 && (offset < 0 || whence < SIZE_SET || whence > SIZE_END))
        error = -EINVAL;
    if (error == 0 && base > (uint64_t)INT64_MAX - (uint64_t)offset)
        error = -EOVERFLOW;
    if (error == 0)
        error = cfs_device_size(f, base + (uint64_t)offset);
    return error < 0 ? error : (int64_t)f->header.size_bytes;
}

off_t _lsize(int fd, off_t offset, int whence)
{
    int error;
    struct cfs_open *f = cfs_call_file(fd, &error);

    return cfs_call_result(f ? set_size(f, offset, whence) : error);
}

off_t lsize(int fd, off_t offset, int whence)
{
    return cfs_call_must("lsize", fd, _lsize(fd, offset, whence));
}

/* ---- Disks ---- */

long _restrictvol(int fd, int n, int *disks)
{
    int error;
    struct cfs_open *f = cfs_call_file(fd, &error);
    uint32_t mask = 0;

    if (f && (n < 1 || (uint32_t)n > f->disks))
        error = -EINVAL;
    for (int i = 0; f && i < n && error == 0; i++) {
        uint32_t d = 0;

        while (d < f->disks && (int)f->disk[d] != disks[i])
            d++;
        if (d == f->disks)
            error = -EINVAL;
        else
            mask |= 1u << d;
    }
    return cfs_call_result(error < 0 ? error : cfs_file_header(f, N_CSIZE, 2, mask));
}

long restrictvol(int fd, int n, int *disks)
{
    return cfs_call_must("restrictvol", fd, _restrictvol(fd, n, disks));
}

int cfs_disks(void)
{
    return (int)cfs_machine()->n;
}

int cfs_stat(int disk, struct cfs_stat *st)
{
    struct cfs_counts c;
    const struct cfs_request r = {.op = 0};
    long status = disk < 0 ? -ENODEV : cfs_end(cfs_start((uint32_t)disk, N_CSTAT, r, NULL, 0), &c, sizeof c, NULL, 0);

    if (status < 0)
        return (int)cfs_call_result(status);
    *st = (struct cfs_stat){.blocks = c.blocks,
                            .blocks_free = c.blocks_free,
                            .requests = c.cache.requests,
                            .hits = c.cache.hits,
                            .misses = c.cache.misses,
                            .prefetched = c.cache.prefetched,
                            .unused = c.cache.unused,
                            .waits = c.cache.waits,
                            .wait_us = c.cache.wait_cycles / (CLOCK_HZ / 1000000),
                            .waiting_most = c.cache.waiting_most};
    for (uint32_t i = 0; i < DRIVE_CACHE_SIZES; i++) {
        st->reads[i] = c.cache.reads[i];
        st->writes[i] = c.cache.write_backs[i];
    }
    return 0;
}

int cfs_drop(int disk)
{
    const struct cfs_request r = {.op = 0};

    return (int)cfs_call_result(disk < 0 ? -ENODEV
                                         : cfs_end(cfs_start((uint32_t)disk, N_CDROP, r, NULL, 0), NULL, 0, NULL, 0));
}
