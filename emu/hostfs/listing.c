#include "emu/hostfs/listing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/hostfs/errmap.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"

enum { TYPE_UNKNOWN = 0, TYPE_REGULAR = 1, TYPE_FOLDER = 2, TYPE_LINK = 7 }; /* ext2's, vertex/contract/proto.h */

static uint32_t type_of(const struct stat *st)
{
    if (S_ISREG(st->st_mode))
        return TYPE_REGULAR;
    if (S_ISDIR(st->st_mode))
        return TYPE_FOLDER;
    return S_ISLNK(st->st_mode) ? TYPE_LINK : TYPE_UNKNOWN;
}

static bool make_room(struct listing *l)
{
    struct listing_entry *entry = memory_try_grow(l->entry, &l->room, l->n + 1, sizeof *entry);

    if (entry)
        l->entry = entry;
    return entry != NULL;
}

static bool add_entry(struct listing *l, const char *name)
{
    if (!make_room(l))
        return false;
    char *copy = strdup(name);
    if (!copy)
        return false;
    l->entry[l->n++] = (struct listing_entry){.name = copy, .type = TYPE_UNKNOWN};
    return true;
}

static int compare_entries(const void *a, const void *b)
{
    const struct listing_entry *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static int32_t read_entries(struct listing *l, DIR *dir)
{
    struct dirent *d;

    while (errno = 0, (d = readdir(dir)))
        if (!add_entry(l, d->d_name))
            return -N_ENOMEM;
    return errno ? errmap_from_host(errno) : 0;
}

/* By lstat, because d_type is DT_UNKNOWN on some file systems, and in order of names, because that numbers the
 * files. */
static int32_t identify(struct listing *l, int folder, bool is_root, struct seen *seen)
{
    for (size_t i = 0; i < l->n; i++) {
        struct listing_entry *e = &l->entry[i];
        struct stat st;

        if (!seen_reserve(seen))
            return -N_ENOMEM;
        const char *name = is_root && strcmp(e->name, "..") == 0 ? "." : e->name;
        if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        e->ino = seen_number(seen, &st);
        e->type = type_of(&st);
    }
    return 0;
}

int32_t listing_read(struct listing *l, int fd, bool is_root, struct seen *seen)
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

    int32_t result = read_entries(l, dir);
    if (result == 0) {
        qsort(l->entry, l->n, sizeof *l->entry, compare_entries);
        result = identify(l, own, is_root, seen);
    }
    closedir(dir);
    if (result < 0)
        listing_free(l);
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
    return file_dirent_bytes((uint32_t)strlen(e->name));
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
