/*
 * The driver of the nDEVICES switch for names that begin with /cfs/: "/cfs/a" is "/a" in the tree of disk 0. A program
 * that names a call of <cfs.h> (cfs_calls.c) has it; every other one that has calls on paths has a copy of it in a
 * segment of its own, which is loaded where the machine has a CFS (images/program.ld).
 */
#include <errno.h>
#include <fcntl.h>
#include <ndevices.h>
#include <stdlib.h>
#include <unistd.h>

#include "libpio/cfs/cfs_client.h"
#include "libpio/cfs/cfs_device.h"
#include "libpio/servers/server_driver.h"

#define PREFIX "/cfs"

static int match(const char *path)
{
    return cfs_machine()->n > 0 && server_path_is(PREFIX, path);
}

static const char *name_of(const char *path)
{
    return server_path_name(PREFIX, path);
}

/* ---- Open files ---- */

static int device_open(const char *path, int flags, mode_t mode, void **state)
{
    struct cfs_open *f;
    int error = cfs_file_open(name_of(path), (uint32_t)flags, (uint32_t)mode & 0777, &f);

    if (error == 0)
        *state = f;
    return error;
}

/* What is under way ends first; its ids are then of nothing. */
static int device_close(void *state)
{
    struct cfs_open *f = state;

    if (f->end_moves)
        f->end_moves(f);
    int error = f->mode ? f->mode->close(f) : 0;
    cfs_file_free(f);
    return error;
}

static int check(const struct cfs_open *f, bool write)
{
    return server_may_move(f->folder != NULL, f->flags, write);
}

static ssize_t move_at(struct cfs_open *f, bool write, void *buf, size_t n, off_t at)
{
    int error = at < 0 ? -EINVAL : check(f, write);

    return error < 0 ? error : (ssize_t)cfs_move(f, write, buf, n, (uint64_t)at);
}

int cfs_device_place(struct cfs_open *f, bool write, uint64_t *at)
{
    int error = check(f, write);

    if (error == 0 && write && (f->flags & N_O_APPEND)) {
        error = cfs_file_header(f, N_CSIZE, 0, 0);
        f->at = f->header.size_bytes;
    }
    *at = f->at;
    return error;
}

int cfs_device_take(struct cfs_open *f, bool write, uint64_t n, uint64_t *at)
{
    if (!f->mode)
        return cfs_device_place(f, write, at);
    int error = check(f, write);
    return error < 0 ? error : f->mode->take(f, write, n, at);
}

static ssize_t move_on(struct cfs_open *f, bool write, void *buf, size_t n)
{
    uint64_t at;
    int error = cfs_device_take(f, write, n, &at);
    int64_t moved = error < 0 ? error : cfs_move(f, write, buf, n, at);

    if (moved > 0 && !f->mode)
        f->at = at + (uint64_t)moved;
    return (ssize_t)moved;
}

static ssize_t device_read(void *state, void *buf, size_t n)
{
    return move_on(state, false, buf, n);
}

static ssize_t device_write(void *state, const void *buf, size_t n)
{
    return move_on(state, true, (void *)buf, n);
}

static ssize_t device_pread(void *state, void *buf, size_t n, off_t at)
{
    return move_at(state, false, buf, n, at);
}

static ssize_t device_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    return move_at(state, true, (void *)buf, n, at);
}

static off_t device_lseek(void *state, off_t offset, int whence)
{
    struct cfs_open *f = state;
    if (f->mode)
        return -EINVAL;
    int error = whence == SEEK_END && !f->folder ? cfs_file_header(f, N_CSIZE, 0, 0) : 0;
    const off_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? (off_t)f->at : (off_t)f->header.size_bytes;
    const off_t at = error < 0 ? error : server_seek(base, offset, whence);

    if (at >= 0)
        f->at = (uint64_t)at;
    return at;
}

/* ---- Attributes and names ---- */

static int device_fstat(void *state, struct stat *st)
{
    struct cfs_open *f = state;
    int error = f->folder ? 0 : cfs_file_header(f, N_CSIZE, 0, 0);

    server_stat(st, &f->stat, f->header.size_bytes, CFS_BLOCK_BYTES,
                (uint64_t)f->header.blocks * (CFS_BLOCK_BYTES / 512));
    return error;
}

static int device_stat(const char *path, struct stat *st)
{
    struct file_stat now;
    int error = cfs_file_stat(name_of(path), &now);

    if (error == 0)
        server_stat(st, &now, now.size_bytes, CFS_BLOCK_BYTES, now.blocks_512);
    return error;
}

static int device_access(const char *path, int mode)
{
    struct file_stat now;
    int error = cfs_file_stat(name_of(path), &now);

    return error < 0 ? error : server_may_access(&now, mode);
}

/* The size never becomes less, unless it becomes 0. */
static int device_ftruncate(void *state, off_t size)
{
    struct cfs_open *f = state;
    int error = size < 0 ? -EINVAL : check(f, true);

    if (error == 0)
        error = cfs_file_header(f, N_CSIZE, 0, 0);
    if (error < 0)
        return error;
    if (size == 0)
        return cfs_file_truncate(f);
    if ((uint64_t)size < f->header.size_bytes)
        return -ENOTSUP;
    return cfs_device_size(f, (uint64_t)size);
}

int cfs_device_size(struct cfs_open *f, uint64_t size)
{
    const uint64_t blocks = size / CFS_BLOCK_BYTES + (size % CFS_BLOCK_BYTES != 0);
    int error = cfs_file_header(f, N_CSIZE, 0, 0);

    if (error == 0 && blocks > f->header.blocks)
        error = cfs_file_grow(f, blocks, true);
    return error < 0 || size <= f->header.size_bytes ? error : cfs_file_header(f, N_CSIZE, 1, size);
}

static int device_fsync(void *state)
{
    struct cfs_open *f = state;

    return f->folder ? 0 : cfs_file_sync(f);
}

static int device_readdir(void *state, struct dirent *entry)
{
    struct cfs_open *f = state;
    struct file_dirent record;
    int result = f->folder ? cfs_file_list(f->folder, &f->at, &record, entry->d_name) : -ENOTDIR;

    if (result == 1)
        server_folder_entry(&record, entry);
    return result;
}

static int device_path(void *state, char *path, size_t bytes)
{
    const struct cfs_open *f = state;

    return server_folder_path(PREFIX, f->folder, path, bytes);
}

SERVER_DEVICE_NAMES(cfs_file_)

const struct ndevice ndevice_cfs = {
    .name = "cfs",
    SERVER_DEVICE_CALLS,
};
