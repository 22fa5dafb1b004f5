/*
 * The driver of the nDEVICES switch for names that begin with /clf/: "/clf/a" is "/a" in the tree of the metadata
 * volume. A program has it if it names a call of <clf.h> (clf_calls.c).
 */
#include "libpio/clusterfile/clf_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libpio/servers/server_driver.h"
#include "vertex/contract/abi.h"

#define PREFIX      "/clf"
#define BLOCK_BYTES 4096 /* st_blksize */

const struct clf_layout *clf_device_layout;

static int match(const char *path)
{
    return clf_machine()->n > 0 && server_path_is(PREFIX, path);
}

static const char *name_of(const char *path)
{
    return server_path_name(PREFIX, path);
}

/* ---- Open files ---- */

static int device_open(const char *path, int flags, mode_t mode, void **state)
{
    struct clf_open *f;
    int error = clf_file_open(name_of(path), (uint32_t)flags, (uint32_t)mode & 0777, clf_device_layout, &f);

    if (error == 0) {
        f->name = strdup(path);
        *state = f;
    }
    return error;
}

static int device_close(void *state)
{
    clf_way_end(state, false);
    clf_file_close(state);
    return 0;
}

static void device_forked(void *state)
{
    clf_way_end(state, true);
    clf_file_forked(state);
}

static int check(const struct clf_open *f, bool write)
{
    return server_may_move(f->folder != NULL, f->flags, write);
}

static int find_end(struct clf_open *f, int64_t *end)
{
    int error = clf_file_size(f, end);

    *end = error < 0 ? 0 : clf_view_rank(f->sight, *end);
    return error;
}

/* Collective ones are told. */
static int64_t move(struct clf_open *f, bool write, void *buf, size_t n, int64_t at)
{
    struct abi_call *told = f->collective ? clf_told_begin(f, write) : NULL;
    const int64_t moved = clf_way_move(f, write, buf, n, at);

    if (told)
        told->call[0] = '\0';
    return moved;
}

static ssize_t move_on(struct clf_open *f, bool write, void *buf, size_t n)
{
    int error = check(f, write);

    if (error == 0 && write && (f->flags & N_O_APPEND))
        error = find_end(f, &f->at);
    if (error < 0)
        return clf_way_refuse(f, write, error);
    int64_t moved = move(f, write, buf, n, f->at);
    if (moved > 0)
        f->at += moved;
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
    int error = check(state, false);

    return error < 0 ? clf_way_refuse(state, false, error) : (ssize_t)move(state, false, buf, n, at);
}

static ssize_t device_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    int error = check(state, true);

    return error < 0 ? clf_way_refuse(state, true, error) : (ssize_t)move(state, true, (void *)buf, n, at);
}

static off_t device_lseek(void *state, off_t offset, int whence)
{
    struct clf_open *f = state;
    int64_t base = whence == SEEK_CUR ? f->at : 0;
    int error = whence == SEEK_END && !f->folder ? find_end(f, &base) : 0;
    const off_t at = error < 0 ? error : server_seek(base, offset, whence);

    if (at >= 0)
        f->at = at;
    return at;
}

/* N_SETMAP and mapped descriptors: the element as the server's view. Without bytes: the whole file again. */
static int device_setview(void *state, const void *packed, size_t n)
{
    struct clf_open *f = state;
    struct pattern *view;
    int error = f->folder ? -EISDIR : n > 0 ? pattern_unpack(packed, n, &view) : clf_view_whole(f->layout, &view);

    return error < 0 ? clf_way_refuse_view(f, error) : clf_way_set_view(f, view);
}

/* ---- Attributes and names ---- */

static int device_fstat(void *state, struct stat *st)
{
    struct clf_open *f = state;
    int64_t size = 0;
    int error = f->folder ? 0 : clf_file_size(f, &size);

    server_stat(st, &f->stat, (uint64_t)size, BLOCK_BYTES, ((uint64_t)size + 511) / 512);
    return error;
}

static int device_stat(const char *path, struct stat *st)
{
    struct clf_open *f;
    int error = clf_file_open(name_of(path), N_O_RDONLY, 0, NULL, &f);

    if (error < 0)
        return error;
    error = device_fstat(f, st);
    clf_file_close(f);
    return error;
}

static int device_access(const char *path, int mode)
{
    struct clf_named named;
    struct clf_layout *layout = NULL;
    int error = clf_name_stat(name_of(path), &named, &layout);

    clf_layout_free(layout);
    return error < 0 ? error : server_may_access(&named.stat, mode);
}

static int device_ftruncate(void *state, off_t size)
{
    struct clf_open *f = state;
    int error = size < 0 ? -EINVAL : check(f, true);

    if (error == 0 && size > PATTERN_OFFSET_MAX)
        error = -EFBIG;
    return error < 0 ? error : clf_way_set_size(f, size);
}

static int device_fsync(void *state)
{
    struct clf_open *f = state;

    return f->folder ? 0 : clf_file_sync(f);
}

static int device_readdir(void *state, struct dirent *entry)
{
    struct clf_open *f = state;
    struct file_dirent record;
    uint64_t at = (uint64_t)f->at;
    int result = f->folder ? clf_name_list(f->folder, &at, &record, entry->d_name) : -ENOTDIR;

    if (result == 1) {
        f->at = (int64_t)at;
        server_folder_entry(&record, entry);
    }
    return result;
}

static int device_path(void *state, char *path, size_t bytes)
{
    const struct clf_open *f = state;

    return server_folder_path(PREFIX, f->folder, path, bytes);
}

SERVER_DEVICE_NAMES(clf_name_)

const struct ndevice ndevice_clf = {
    .name = "clf",
    .forked = device_forked,
    .setview = device_setview,
    SERVER_DEVICE_CALLS,
};
