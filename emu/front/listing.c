#include "emu/front/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/front/errmap.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"

enum { TYPE_UNKNOWN = 0, TYPE_REGULAR = 1, TYPE_FOLDER = 2, TYPE_LINK = 7 }; /* ext2's, vertex/contract/proto.h */

/* By lstat, because d_type is DT_UNKNOWN on some file systems. */
static uint32_t find_type(int folder, const char *name)
{
    struct stat st;

    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return TYPE_UNKNOWN;
    if (S_ISREG(st.st_mode))
        return TYPE_REGULAR;
    if (S_ISDIR(st.st_mode))
        return TYPE_FOLDER;
    return S_ISLNK(st.st_mode) ? TYPE_LINK : TYPE_UNKNOWN;
}

static bool make_room(struct listing *l)
{
    if (l->n < l->room)
        return true;
    size_t room = l->room ? 2 * l->room : 32;
    struct listing_entry *entry = reallocarray(l->entry, room, sizeof *entry);
    if (!entry)
        return false;
    l->entry = entry;
    l->room = room;
    return true;
}

static bool add_entry(struct listing *l, const char *name, uint64_t ino, uint32_t type)
{
    if (!make_room(l))
        return false;
    char *copy = strdup(name);
    if (!copy)
        return false;
    l->entry[l->n++] = (struct listing_entry){copy, ino, type};
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    const struct listing_entry *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int32_t read_entries(struct listing *l, DIR *dir, bool is_root)
{
    struct stat self;
    struct dirent *d;

    if (fstat(dirfd(dir), &self) < 0)
        return errmap_from_host(errno);
    while (errno = 0, (d = readdir(dir))) {
        bool up = strcmp(d->d_name, "..") == 0;
        uint64_t ino = up && is_root ? self.st_ino : d->d_ino;

        if (!add_entry(l, d->d_name, ino, up ? TYPE_FOLDER : find_type(dirfd(dir), d->d_name)))
            return -N_ENOMEM;
    }
    return errno ? errmap_from_host(errno) : 0;
}

int32_t listing_read(struct listing *l, int fd, bool is_root)
{
    *l = (struct listing){0};
    int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (own < 0)
        return errmap_from_host(errno);
    DIR *dir = fdopendir(own);
    if (!dir) {
        close(own);
        return -N_ENOMEM;
    }

    int32_t result = read_entries(l, dir, is_root);
    closedir(dir);
    if (result < 0)
        listing_free(l);
    else
        qsort(l->entry, l->n, sizeof *l->entry, compare_entries);
    return result;
}

void listing_free(struct listing *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->entry[i].name);
    free(l->entry);
    *l = (struct listing){0};
}

static size_t record_bytes(const struct listing_entry *e)
{
    return (sizeof(struct file_dirent) + strlen(e->name) + 7) & ~(size_t)7;
}

static void pack_record(const struct listing_entry *e, uint64_t next, uint8_t *record)
{
    const struct file_dirent d = {
        .ino = e->ino,
        .next = next,
        .record_bytes = record_bytes(e),
        .name_bytes = strlen(e->name),
        .type = e->type,
    };

    memset(record, 0, d.record_bytes);
    memcpy(record, &d, sizeof d);
    memcpy(record + sizeof d, e->name, d.name_bytes);
}

int32_t listing_copy(const struct listing *l, uint64_t offset, uint8_t *records, size_t bytes)
{
    size_t done = 0;

    if (offset > l->n)
        return -N_EINVAL;
    for (size_t i = offset; i < l->n; i++) {
        size_t need = record_bytes(&l->entry[i]);

        if (need > bytes - done)
            return done ? (int32_t)done : -N_EINVAL;
        pack_record(&l->entry[i], i + 1, records + done);
        done += need;
    }
    return done;
}
