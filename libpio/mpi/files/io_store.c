/*
 * Where the bytes of files are (io_file.h): descriptors, which the names of volumes, of striped volumes and of the
 * front end lead to, and PIO files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/mpi/base/info.h"
#include "libpio/mpi/files/io_file.h"

enum { MODE = 0666 };

/* ---- Descriptors ---- */

static int plain_open(struct mpi_file *f, int flags)
{
    return open(f->name, flags, MODE);
}

/* At a place, until all is moved or the file ends. */
static ssize_t plain_read(int fd, void *buf, size_t n, off_t at)
{
    size_t done = 0;

    if (lseek(fd, at, SEEK_SET) < 0)
        return -1;
    while (done < n) {
        ssize_t got = read(fd, (char *)buf + done, n - done);

        if (got < 0)
            return done > 0 ? (ssize_t)done : -1;
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static ssize_t plain_write(int fd, const void *buf, size_t n, off_t at)
{
    size_t done = 0;

    if (lseek(fd, at, SEEK_SET) < 0)
        return -1;
    while (done < n) {
        ssize_t got = write(fd, (const char *)buf + done, n - done);

        if (got <= 0)
            return done > 0 ? (ssize_t)done : -1;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static off_t plain_size(int fd)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? -1 : st.st_size;
}

/* Writes zeros where the file had no bytes: they have their places then. */
static int plain_preallocate(int fd, off_t size)
{
    static const char zeros[4096];
    off_t at = plain_size(fd);

    while (at >= 0 && at < size) {
        size_t n = size - at < (off_t)sizeof zeros ? (size_t)(size - at) : sizeof zeros;

        if (plain_write(fd, zeros, n, at) != (ssize_t)n)
            return -1;
        at += (off_t)n;
    }
    return at < 0 ? -1 : 0;
}

static const struct io_store plain = {.open = plain_open,
                                      .close = close,
                                      .read = plain_read,
                                      .write = plain_write,
                                      .size = plain_size,
                                      .set_size = ftruncate,
                                      .preallocate = plain_preallocate,
                                      .sync = fsync,
                                      .unlink = unlink};

/* ---- PIO files ---- */

/* An existing file has the layout of its description. */
static int pio_store_open(struct mpi_file *f, int flags)
{
    const struct pio_layout layout = {.disks = info_number(f->info, "striping_factor"),
                                      .block_size = info_number(f->info, "striping_unit")};
    int fd = flags & O_EXCL ? -1 : pio_open(f->name, flags & ~O_CREAT);

    return fd >= 0 || !(flags & O_CREAT) ? fd : pio_open_layout(f->name, flags, MODE, &layout);
}

static off_t pio_size(int fd)
{
    struct stat st;

    return pio_fstat(fd, &st) < 0 ? -1 : st.st_size;
}

static int pio_store_preallocate(int fd, off_t size)
{
    return size > 0 ? pio_preallocate(fd, 0, size) : 0;
}

static int pio_first(int fd)
{
    return pio_file_get(fd)->subfile[0].fd;
}

static const struct io_store pio = {.open = pio_store_open,
                                    .close = pio_close,
                                    .read = pio_pread,
                                    .write = pio_pwrite,
                                    .size = pio_size,
                                    .set_size = pio_ftruncate,
                                    .preallocate = pio_store_preallocate,
                                    .sync = pio_fsync,
                                    .unlink = pio_unlink,
                                    .first = pio_first,
                                    .set_view = pio_setview};

const struct io_store *io_store_of(const char *name, const char **rest)
{
    bool is_pio = strncmp(name, "pio:", 4) == 0;

    *rest = is_pio ? name + 4 : name;
    return is_pio ? &pio : &plain;
}
