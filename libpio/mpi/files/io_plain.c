/* Files that a descriptor leads to (io_file.h): of volumes, of striped volumes, and of the front end. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpio/mpi/files/io_file.h"

enum { MODE = 0666 };

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

off_t io_plain_size(int fd)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? -1 : st.st_size;
}

/* Writes zeros where the file had no bytes: they have their places then. */
int io_plain_preallocate(int fd, off_t size)
{
    static const char zeros[4096];
    off_t at = io_plain_size(fd);

    while (at >= 0 && at < size) {
        size_t n = size - at < (off_t)sizeof zeros ? (size_t)(size - at) : sizeof zeros;

        if (plain_write(fd, zeros, n, at) != (ssize_t)n)
            return -1;
        at += (off_t)n;
    }
    return at < 0 ? -1 : 0;
}

const struct io_store io_plain = {.open = plain_open,
                                  .close = close,
                                  .read = plain_read,
                                  .write = plain_write,
                                  .size = io_plain_size,
                                  .set_size = ftruncate,
                                  .preallocate = io_plain_preallocate,
                                  .sync = fsync,
                                  .unlink = unlink};
