/*
 * Directory streams over the readdir trap, which fills a buffer with records of vertex/contract/proto.h.
 * A stream owns its descriptor, its buffer and the one entry that readdir hands out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "vertex/contract/traps.h"

#define DIR_BUFFER_BYTES 4096

struct dir_stream {
    int fd;
    long position; /* of the record at `next`, for telldir */
    long filled;   /* bytes in the buffer */
    long next;     /* the next record's place in it */
    struct dirent entry;
    _Alignas(8) char buffer[DIR_BUFFER_BYTES];
};

static DIR *new_stream(int fd)
{
    DIR *dir = malloc(sizeof *dir);

    if (dir) {
        dir->fd = fd;
        dir->position = dir->filled = dir->next = 0;
    }
    return dir;
}

DIR *opendir(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY);
    DIR *dir = fd < 0 ? NULL : new_stream(fd);

    if (fd >= 0 && !dir) {
        close(fd);
        result_set_errno(-ENOMEM);
    }
    return dir;
}

DIR *fdopendir(int fd)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return NULL;
    if (S_ISDIR(st.st_mode))
        return new_stream(fd);
    result_set_errno(-ENOTDIR);
    return NULL;
}

int closedir(DIR *dir)
{
    int fd = dir->fd;

    free(dir);
    return close(fd);
}

int dirfd(DIR *dir)
{
    return dir->fd;
}

static unsigned char type_of_record(const struct file_dirent *record)
{
    switch (record->type) {
    case 1:
        return DT_REG;
    case 2:
        return DT_DIR;
    case 7:
        return DT_LNK;
    default:
        return DT_UNKNOWN;
    }
}

/* Returns the record at dir->next, or NULL if it reaches beyond the bytes in the buffer. */
static const struct file_dirent *record_at_next(const DIR *dir)
{
    const struct file_dirent *record = (const void *)(dir->buffer + dir->next);
    long left = dir->filled - dir->next;

    if (left < (long)sizeof *record || record->record_bytes > left || record->record_bytes % 8 ||
        sizeof *record + record->name_bytes > record->record_bytes || record->name_bytes > MAXNAMLEN)
        return NULL;
    return record;
}

/* The next entry of another driver's folder. */
static struct dirent *read_from_driver(DIR *dir, const struct ndevice_slot *slot)
{
    long result = failure_of_fd("readdir", dir->fd, slot->device->readdir(slot->state, &dir->entry));

    if (result_to_errno(result) <= 0)
        return NULL;
    dir->position = (long)dir->entry.d_off;
    return &dir->entry;
}

static int fill_buffer(DIR *dir)
{
    long ufid = ndevice_ufid(dir->fd);
    long bytes =
        failure_of_fd("readdir", dir->fd, ufid < 0 ? ufid : trap_readdir(ufid, dir->buffer, sizeof dir->buffer));

    if (bytes <= 0)
        return (int)result_to_errno(bytes);
    dir->filled = bytes;
    dir->next = 0;
    return 1;
}

struct dirent *readdir(DIR *dir)
{
    const struct ndevice_slot *slot = ndevice_slot(dir->fd);
    const struct file_dirent *record;

    if (slot && slot->device->readdir)
        return read_from_driver(dir, slot);
    if (dir->next == dir->filled && fill_buffer(dir) <= 0)
        return NULL;
    record = record_at_next(dir);
    if (!record) {
        result_set_errno(-EIO);
        return NULL;
    }
    dir->next += record->record_bytes;
    dir->position = (long)record->next;
    dir->entry.d_ino = record->ino;
    dir->entry.d_off = (off_t)record->next;
    dir->entry.d_reclen = record->record_bytes;
    dir->entry.d_type = type_of_record(record);
    dir->entry.d_namlen = (unsigned char)record->name_bytes;
    memcpy(dir->entry.d_name, record + 1, record->name_bytes);
    dir->entry.d_name[record->name_bytes] = '\0';
    return &dir->entry;
}

int readdir_r(DIR *dir, struct dirent *entry, struct dirent **result)
{
    int before = errno;

    errno = 0;
    const struct dirent *next = readdir(dir);
    int error = next ? 0 : errno;
    errno = before;
    if (next)
        *entry = *next;
    *result = next ? entry : NULL;
    return error;
}

long telldir(DIR *dir)
{
    return dir->position;
}

void seekdir(DIR *dir, long position)
{
    if (lseek(dir->fd, position, SEEK_SET) < 0)
        return;
    dir->position = position;
    dir->filled = dir->next = 0;
}

void rewinddir(DIR *dir)
{
    seekdir(dir, 0);
}
