#include "emu/hostfs/tmpfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"
#include "vertex/contract/errors.h"

static struct tmp_file *find(const struct tmp_files *t, const char *name)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (strcmp(t->file[i].name, name) == 0)
            return (struct tmp_file *)&t->file[i];
    return NULL;
}

const struct tmp_file *tmp_files_find(const struct tmp_files *t, const char *name)
{
    return find(t, name);
}

static void remove_entry(struct tmp_files *t, struct tmp_file *f)
{
    free(f->name);
    close(f->fd);
    *f = t->file[--t->n];
}

void tmp_files_free(struct tmp_files *t)
{
    while (t->n > 0)
        remove_entry(t, &t->file[0]);
}

static int32_t host_error(void)
{
    return errno == EMFILE ? -N_ENFILE : errmap_from_host(errno);
}

/* Makes a file, the last one in the table. 0 or a negative n_error. */
static int32_t make(struct tmp_files *t, const char *name, mode_t mode)
{
    struct tmp_file f = {.number = t->last_number + 1};

    if (t->n == TMP_FILES_MAX)
        return -N_ENOSPC;
    f.name = strdup(name);
    if (!f.name)
        return -N_ENOMEM;
    f.fd = memfd_create("ncube-tmp", MFD_CLOEXEC);
    if (f.fd < 0 || fchmod(f.fd, mode) < 0) {
        int32_t error = host_error();

        if (f.fd >= 0)
            close(f.fd);
        free(f.name);
        return error;
    }
    t->last_number = f.number;
    t->file[t->n++] = f;
    return 0;
}

/* Opens the file by its name in /proc, so that the descriptor has the access that was asked for. */
static int open_again(const struct tmp_file *f, int flags)
{
    char name[40];

    snprintf(name, sizeof name, "/proc/self/fd/%d", f->fd);
    int fd = open(name, (flags & (O_ACCMODE | O_TRUNC)) | O_CLOEXEC);
    return fd < 0 ? host_error() : fd;
}

int tmp_files_open(struct tmp_files *t, const char *name, int flags, mode_t mode, uint64_t *number)
{
    struct tmp_file *f = find(t, name);

    if (f && (flags & O_CREAT) && (flags & O_EXCL))
        return -N_EEXIST;
    if (!f && !(flags & O_CREAT))
        return -N_ENOENT;
    if (!f) {
        /* As with any new file, its maker may open it whatever the mode. */
        int32_t made = make(t, name, mode | S_IRUSR | S_IWUSR);

        if (made < 0)
            return made;
        f = &t->file[t->n - 1];
    }
    *number = f->number;
    return open_again(f, flags);
}

int32_t tmp_files_unlink(struct tmp_files *t, const char *name)
{
    struct tmp_file *f = find(t, name);

    if (!f)
        return -N_ENOENT;
    remove_entry(t, f);
    return 0;
}

int32_t tmp_files_rename(struct tmp_files *t, const char *from, const char *to)
{
    struct tmp_file *f = find(t, from);
    char *name;

    if (!f)
        return -N_ENOENT;
    if (strcmp(from, to) == 0)
        return 0;
    name = strdup(to);
    if (!name)
        return -N_ENOMEM;
    free(f->name);
    f->name = name;
    for (uint32_t i = 0; i < t->n; i++)
        if (&t->file[i] != f && strcmp(t->file[i].name, to) == 0) {
            remove_entry(t, &t->file[i]);
            break;
        }
    return 0;
}
