/*
 * `ncube disk get` and `put` (disk_copy.h): a file of an image, or a PIO file over many, is the source or the sink of a
 * copy; a bar on the terminal shows how far a long one is.
 */
#include "emu/tools/disk_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/progress.h"
#include "emu/base/new_file.h"

/* ---- Sources and sinks: a file of an image, of many, or of the host ---- */

struct file { /* one of the five */
    struct volume *volume;
    struct volume_file *in_volume;
    struct pio_image_file *pio;
    struct clf_image_file *clf;
    struct cfs_image_file *cfs;
};

static int open_named(struct pio_volumes *v, const struct disk_name *n, struct file *f, uint64_t *bytes, char *error)
{
    if (n->kind == NAME_PIO)
        return pio_image_open(v, n->path, &f->pio, bytes, error);
    if (n->kind == NAME_CLF)
        return clf_image_open(v, n->path, &f->clf, bytes, error);
    if (n->kind == NAME_CFS)
        return cfs_image_open(v, n->path, &f->cfs, bytes, error);
    if (volume_open(&f->volume, n->image, false, error) < 0)
        return -1;
    return volume_file_open(f->volume, n->path, &f->in_volume, bytes, error);
}

static int close_named(struct pio_volumes *v, struct file *f, int result, char *error)
{
    result = volume_file_close(f->in_volume, result, error);
    result = pio_image_close(f->pio, result, error);
    result = clf_image_close(f->clf, result, error);
    result = cfs_image_close(f->cfs, result, error);
    result = volume_close(f->volume, result, error);
    return pio_volumes_close(v, result, error);
}

static int read_named(const struct file *f, uint64_t at, void *buf, size_t n, char *error)
{
    if (f->clf)
        return clf_image_read(f->clf, at, buf, n, error);
    if (f->cfs)
        return cfs_image_read(f->cfs, at, buf, n, error);
    return f->pio ? pio_image_read(f->pio, at, buf, n, error) : volume_file_read(f->in_volume, at, buf, n, error);
}

static int write_named(const struct file *f, uint64_t at, const void *buf, size_t n, char *error)
{
    return f->pio ? pio_image_write(f->pio, at, buf, n, error) : volume_file_write(f->in_volume, at, buf, n, error);
}

/* ---- get and put ---- */

enum { PIECE_BYTES = 1 << 18 };

static int copy_out(const struct file *from, uint64_t bytes, int to, const char *to_name, char *error)
{
    static char buf[PIECE_BYTES];

    for (uint64_t at = 0; at < bytes;) {
        size_t n = bytes - at < sizeof buf ? (size_t)(bytes - at) : sizeof buf;

        if (read_named(from, at, buf, n, error) < 0)
            return -1;
        if (host_write(to, buf, n, -1) < 0)
            return error_line(error, "%s: %s", to_name, strerror(errno));
        progress_bar(at += n, bytes);
    }
    return 0;
}

int disk_copy_out(struct pio_volumes *v, const struct disk_name *from, const char *to, char *error)
{
    struct new_file out = {.fd = -1};
    struct file f = {0};
    uint64_t bytes;
    int result = open_named(v, from, &f, &bytes, error);

    if (result == 0)
        result = new_file_open(&out, to, error);
    if (result == 0)
        result = copy_out(&f, bytes, out.fd, to, error);
    result = close_named(v, &f, result, error);
    return new_file_close(&out, result, error);
}

/* Opens a file of the host, and its size, or 0 where that is not known. */
static int open_source(const char *name, uint64_t *bytes, char *error)
{
    struct stat st;
    int fd = strcmp(name, "-") == 0 ? dup(STDIN_FILENO) : open(name, O_RDONLY | O_CLOEXEC);

    if (fd < 0 || fstat(fd, &st) < 0 || S_ISDIR(st.st_mode))
        return error_line(error, "%s: %s", name, strerror(fd < 0 ? errno : EISDIR));
    *bytes = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
    return fd;
}

static int copy_in(const struct file *to, int from, const char *from_name, uint64_t bytes, char *error)
{
    static char buf[PIECE_BYTES];

    for (uint64_t at = 0;;) {
        ssize_t n = host_read(from, buf, sizeof buf, -1);

        if (n <= 0)
            return n < 0 ? error_line(error, "%s: %s", from_name, strerror(errno)) : 0;
        if (write_named(to, at, buf, (size_t)n, error) < 0)
            return -1;
        at += (uint64_t)n;
        progress_bar(at < bytes ? at : bytes, bytes);
    }
}

static int make_named(struct pio_volumes *v, uint32_t block_bytes, const struct disk_name *n, struct file *f,
                      char *error)
{
    struct pio_description description;
    size_t length = strlen(n->path);

    if (length > 0 && n->path[length - 1] == '/')
        return error_line(error, "%s:%s: %s", n->image ? n->image : "pio", n->path, strerror(EISDIR));
    v->write = true;
    if (n->kind == NAME_PIO)
        return pio_image_describe(v, block_bytes, n->map, &description, error) < 0
                   ? -1
                   : pio_image_new(v, &description, &f->pio, error);
    if (volume_open(&f->volume, n->image, true, error) < 0)
        return -1;
    return volume_file_new(f->volume, &f->in_volume, error);
}

int disk_copy_in(struct pio_volumes *v, const char *from, const struct disk_name *to, uint32_t block_bytes, char *error)
{
    struct file f = {0};
    uint64_t bytes = 0;
    int source = open_source(from, &bytes, error), result = source < 0 ? -1 : 0;

    if (result == 0)
        result = make_named(v, block_bytes, to, &f, error);
    if (result == 0)
        result = copy_in(&f, source, from, bytes, error);
    if (result == 0)
        result = f.pio ? pio_image_link(f.pio, to->path, error) : volume_file_link(f.in_volume, to->path, error);
    result = close_named(v, &f, result, error);
    if (source >= 0)
        close(source);
    return result;
}
