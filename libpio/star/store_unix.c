/*
 * Ordinary files as stores: "unix:PATH", on a volume, a striped one, or at the front end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libpio/star/store.h"

#define PATH_BYTES (STAR_NAME_BYTES + 16)

static int64_t result_of(int64_t result)
{
    return result < 0 ? -errno : result;
}

static const char *path_of(char path[PATH_BYTES], const char *name, const char *suffix)
{
    snprintf(path, PATH_BYTES, "%s%s", name, suffix);
    return path;
}

static int unix_open(const char *name, int flags, const struct pio_layout *layout)
{
    (void)layout;
    return (int)result_of(open(name, flags, 0666));
}

static int unix_close(int handle)
{
    return (int)result_of(close(handle));
}

static int64_t unix_read(int handle, void *buf, int64_t bytes, int64_t at)
{
    int64_t done = 0, n = 1;

    while (done < bytes && n > 0) {
        n = pread(handle, (char *)buf + done, (size_t)(bytes - done), at + done);
        if (n < 0)
            return -errno;
        done += n;
    }
    return done;
}

static int64_t unix_write(int handle, const void *buf, int64_t bytes, int64_t at)
{
    for (int64_t done = 0; done < bytes;) {
        int64_t n = pwrite(handle, (const char *)buf + done, (size_t)(bytes - done), at + done);

        if (n <= 0)
            return n < 0 ? -errno : -ENOSPC;
        done += n;
    }
    return bytes;
}

static int64_t unix_size(int handle)
{
    struct stat st;

    return fstat(handle, &st) < 0 ? -errno : st.st_size;
}

static int unix_truncate(int handle, int64_t bytes)
{
    return (int)result_of(ftruncate(handle, bytes));
}

static int unix_sync(int handle)
{
    return (int)result_of(fsync(handle));
}

static int64_t unix_unit(const char *name, const struct pio_layout *layout)
{
    (void)name;
    return layout && layout->block_size > 0 ? layout->block_size : STAR_BLOCK_BYTES;
}

static int64_t unix_get_meta(const char *name, const struct pio_layout *layout, char *text, size_t bytes)
{
    char path[PATH_BYTES];
    int fd = open(path_of(path, name, ".meta"), O_RDONLY);

    (void)layout;
    if (fd < 0)
        return -errno;
    int64_t size = unix_size(fd), n = size < 0 ? size : unix_read(fd, text, (int64_t)bytes, 0);
    close(fd);
    return n < 0 ? n : size;
}

static int unix_put_meta(const char *name, const struct pio_layout *layout, const char *text, size_t bytes)
{
    char path[PATH_BYTES], new_path[PATH_BYTES];
    int fd = open(path_of(new_path, name, STAR_NEW_SUFFIX), O_WRONLY | O_CREAT | O_TRUNC, 0666);

    (void)layout;
    if (fd < 0)
        return -errno;
    int64_t result = unix_write(fd, text, (int64_t)bytes, 0);
    if (result >= 0)
        result = result_of(fsync(fd));
    if (close(fd) < 0 && result >= 0)
        result = -errno;
    if (result >= 0)
        result = result_of(rename(new_path, path_of(path, name, ".meta")));
    if (result < 0)
        unlink(new_path);
    return (int)result;
}

static int unix_remove_meta(const char *name, const struct pio_layout *layout)
{
    char path[PATH_BYTES];

    (void)layout;
    return (int)result_of(unlink(path_of(path, name, ".meta")));
}

static int unix_remove(const char *name)
{
    return (int)result_of(unlink(name));
}

static int unix_remove_all(const char *name)
{
    int data = unix_remove(name);

    if (data < 0 && data != -ENOENT)
        return data;
    int meta = unix_remove_meta(name, NULL);
    return meta < 0 && meta != -ENOENT ? meta : data < 0 ? meta : 0;
}

const struct star_store star_store_unix = {
    .open = unix_open,
    .close = unix_close,
    .read = unix_read,
    .write = unix_write,
    .size = unix_size,
    .truncate = unix_truncate,
    .sync = unix_sync,
    .unit = unix_unit,
    .get_meta = unix_get_meta,
    .put_meta = unix_put_meta,
    .remove_meta = unix_remove_meta,
    .remove = unix_remove,
    .remove_all = unix_remove_all,
};
