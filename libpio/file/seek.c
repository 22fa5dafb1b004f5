/*
 * PIO SEEK, and the other calls that need or set a PIO file's logical size.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "libpio/file/transfer.h"
#include "libpio/file/viewed.h"

/* Adds one subfile's status to that of the subfiles before it. */
static void merge_stat(struct stat *whole, const struct stat *part)
{
    whole->st_blocks += part->st_blocks;
    if (part->st_mtime > whole->st_mtime)
        whole->st_mtime = part->st_mtime;
    if (part->st_ctime > whole->st_ctime)
        whole->st_ctime = part->st_ctime;
    if (part->st_atime > whole->st_atime)
        whole->st_atime = part->st_atime;
}

/* Asks every volume. 0, or a negative errno. */
static int stat_all(struct pio_file *file, struct stat *whole)
{
    const struct pio_map *map = &file->description.map;
    int64_t subfile_bytes[PIO_DISKS_MAX];
    struct stat part;

    for (int k = 0; k < map->disks; k++) {
        int error = pio_transport->fstat(file->subfile[k].fd, &part);

        if (error)
            return pio_fail_at_volume(file, k, error);
        subfile_bytes[k] = part.st_size;
        if (k == 0)
            *whole = part;
        else
            merge_stat(whole, &part);
    }
    whole->st_size = file->known_bytes = pio_map_logical_bytes(map, subfile_bytes);
    whole->st_blksize = map->disks * map->block_bytes;
    return 0;
}

int64_t pio_file_bytes(struct pio_file *file)
{
    struct stat st;
    int error = stat_all(file, &st);

    return error ? error : st.st_size;
}

static int64_t own_end(struct pio_file *file)
{
    pio_transfer_settle(file);
    int64_t bytes = pio_file_bytes(file);

    return bytes < 0 ? bytes : pio_own_bytes(file, bytes);
}

/* Returns the offset from which a seek counts, or a negative errno. */
static int64_t seek_base(struct pio_file *file, int whence)
{
    switch (whence) {
    case SEEK_SET:
        return 0;
    case SEEK_CUR:
        return file->offset;
    case SEEK_END:
        return own_end(file);
    default:
        return -EINVAL;
    }
}

off_t pio_lseek(int pfd, off_t offset, int whence)
{
    struct pio_file *file = pio_file_get(pfd);

    if (!file)
        return PIO_RESULT(-EBADF);
    int64_t base = seek_base(file, whence);
    if (base < 0)
        return PIO_RESULT(base);
    if (offset < -base)
        return PIO_RESULT(-EINVAL);
    if (offset > PIO_OFFSET_MAX - base)
        return PIO_RESULT(-EOVERFLOW);
    file->offset = base + offset;
    return file->offset;
}

int pio_fstat(int pfd, struct stat *st)
{
    struct pio_file *file = pio_file_get(pfd);
    struct stat whole;

    if (!file)
        return PIO_RESULT(-EBADF);
    pio_transfer_settle(file);
    int error = stat_all(file, &whole);
    if (!error)
        *st = whole;
    return PIO_RESULT(error);
}

/* Sets every subfile to its size in a file without holes. The subfile with the last byte decides the logical size; a
 * subfile that gets longer gets a hole. */
int pio_ftruncate(int pfd, off_t size)
{
    struct pio_file *file = pio_file_get(pfd);

    if (!file || (file->flags & O_ACCMODE) == O_RDONLY)
        return PIO_RESULT(-EBADF);
    if (size < 0 || size > PIO_OFFSET_MAX)
        return PIO_RESULT(-EINVAL);
    pio_transfer_settle(file);
    for (int k = 0; k < file->description.map.disks; k++) {
        int64_t subfile_bytes = pio_map_subfile_bytes(&file->description.map, k, size);
        int error = pio_transport->ftruncate(file->subfile[k].fd, subfile_bytes);

        if (error)
            return PIO_RESULT(pio_fail_at_volume(file, k, error));
    }
    file->known_bytes = size;
    return 0;
}

int pio_fsync(int pfd)
{
    struct pio_file *file = pio_file_get(pfd);

    if (!file)
        return PIO_RESULT(-EBADF);
    pio_transfer_settle(file);
    for (int k = 0; k < file->description.map.disks; k++) {
        int error = pio_transport->fsync(file->subfile[k].fd);

        if (error)
            return PIO_RESULT(pio_fail_at_volume(file, k, error));
    }
    return 0;
}
