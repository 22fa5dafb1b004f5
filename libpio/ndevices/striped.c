/*
 * The striped driver of nDEVICES: ordinary calls on files that lie on several volumes [P1 section 2.6, Figure 10].
 * "//big/dir/x", on a striped volume of the machine file, is the PIO file /dir/x over the volumes of "big".
 *
 *     open("//big/x")    ->  pio_open_layout("/x")  ->  open("//df00/x"), open("//df01/x"), ...
 *     opendir("//big/")  ->  opendir("//df00/"), without the descriptions of PIO files
 *
 * libpio does the striping; here are the names, the descriptors and what concerns folders, which are on every volume.
 * The parts' own descriptors are the highest free ones, so that a program's are the lowest, as Unix promises.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "libpio/file/change.h"
#include "libpio/file/file.h"
#include "libpio/ndevices/striped_names.h"
#include "vertex/contract/abi.h"

struct striped { /* an open file or folder */
    const struct striped_volume *volume;
    int pfd;
    DIR *folder; /* NULL: a file */
    bool sync;   /* O_SYNC */
    char path[]; /* by which it was opened */
};

static int striped_match(const char *path)
{
    const char *name;

    return striped_find(path, &name) != NULL;
}

/* The status of the first volume's part: a folder's, or whether there is a file. */
static int stat_first(const struct striped_volume *v, const char *name, struct stat *st)
{
    char part[STRIPED_PATH_BYTES];
    int error = striped_part(v, 0, name, part);

    return error ? error : result_from_errno(stat(part, st));
}

/* 1 if it is a folder, 0 if it is none, or why that cannot be told: -ENOENT ... */
static int is_folder(const struct striped_volume *v, const char *name)
{
    struct stat st;
    int error = stat_first(v, name, &st);

    return error ? error : S_ISDIR(st.st_mode) != 0;
}

static int try_on_each(const struct striped_volume *v, const char *name, int (*on)(const char *part, const void *arg),
                       const void *arg, int *failed)
{
    char part[STRIPED_PATH_BYTES];

    for (int k = 0; k < v->layout.disks; k++) {
        int error = striped_part(v, k, name, part);

        if (!error)
            error = result_from_errno(on(part, arg));
        *failed = k;
        if (error)
            return error;
    }
    return 0;
}

/* Calls `on` for the part on each volume until one fails. Returns that error. If the first volume alone knows the name,
 * its change may be under way or have ended half way. */
static int on_each(const struct striped_volume *v, const char *name, int (*on)(const char *part, const void *arg),
                   const void *arg)
{
    int failed, error = try_on_each(v, name, on, arg, &failed);

    if (error == -ENOENT && failed > 0 && pio_change_settle(v->layout.volumes[0]) == 0)
        error = try_on_each(v, name, on, arg, &failed);
    return error;
}

/* ---- Open and close ---- */

#define PIO_FLAGS (O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC | O_APPEND)

/* A file with another map than the machine file gives now is opened as it is. */
static int open_file(const struct striped_volume *v, const char *name, int flags, mode_t mode)
{
    ndevice_opens_at_top++;
    int pfd = result_from_errno(pio_open_layout(name, flags & PIO_FLAGS, mode, &v->layout));
    if (pfd == -EINVAL) {
        struct pio_layout any = v->layout;

        any.map = NULL;
        pfd = result_from_errno(pio_open_layout(name, flags & PIO_FLAGS & ~O_CREAT, mode, &any));
        pfd = pfd == -ENOENT ? -EINVAL : pfd;
    }
    ndevice_opens_at_top--;
    return pfd;
}

static int open_folder(const struct striped_volume *v, const char *name, int flags, struct striped *s)
{
    char part[STRIPED_PATH_BYTES];

    if ((flags & O_CREAT) && (flags & O_EXCL))
        return -EEXIST;
    if ((flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT))
        return -EISDIR;
    int error = striped_part(v, 0, name, part);
    if (error)
        return error;
    ndevice_opens_at_top++;
    s->folder = opendir(part);
    error = s->folder ? 0 : -errno;
    ndevice_opens_at_top--;
    return error;
}

static int striped_open(const char *path, int flags, mode_t mode, void **state)
{
    struct striped *s = calloc(1, sizeof *s + strlen(path) + 1);
    const char *name;

    if (!s)
        return -ENOMEM;
    strcpy(s->path, path);
    s->volume = striped_find(path, &name);
    s->sync = (flags & O_SYNC) != 0;
    s->pfd = flags & O_DIRECTORY ? -EISDIR : open_file(s->volume, name, flags, mode);
    int error = s->pfd < 0 ? is_folder(s->volume, name) : 0;
    if (error == 1)
        error = open_folder(s->volume, name, flags, s);
    else if (s->pfd < 0)
        error = flags & O_DIRECTORY ? error < 0 ? error : -ENOTDIR : s->pfd;
    if (error < 0) {
        free(s);
        return error;
    }
    *state = s;
    return 0;
}

static int striped_close(void *state)
{
    struct striped *s = state;
    int result = result_from_errno(s->folder ? closedir(s->folder) : pio_close(s->pfd));

    free(s);
    return result;
}

/* ---- Files ---- */

/* libpio reads and writes parts of the buffer itself, so it must lie in the program's memory: no trap checks that. */
static bool is_memory(const void *buf, size_t n)
{
    uintptr_t at = (uintptr_t)buf;

    return n == 0 || (at >= USER_TEXT_VA && at < USER_STACK_TOP && n <= USER_STACK_TOP - at);
}

/* 0, or why no bytes can be moved; `of_folder`: the error of a folder. */
static int check_move(const struct striped *s, int of_folder, const void *buf, size_t n)
{
    return s->folder ? of_folder : is_memory(buf, n) ? 0 : -EFAULT;
}

static ssize_t striped_read(void *state, void *buf, size_t n)
{
    struct striped *s = state;
    int error = check_move(s, -EISDIR, buf, n);

    return error ? error : result_from_errno(pio_read(s->pfd, buf, n));
}

static ssize_t striped_pread(void *state, void *buf, size_t n, off_t at)
{
    struct striped *s = state;
    int error = check_move(s, -EISDIR, buf, n);

    return error ? error : result_from_errno(pio_pread(s->pfd, buf, n, at));
}

/* The result of a write of libpio, which O_SYNC makes durable first. */
static ssize_t written(const struct striped *s, ssize_t put)
{
    return put < 0 || (s->sync && pio_fsync(s->pfd) < 0) ? -errno : put;
}

static ssize_t striped_write(void *state, const void *buf, size_t n)
{
    struct striped *s = state;
    int error = check_move(s, -EBADF, buf, n);

    return error ? error : written(s, pio_write(s->pfd, buf, n));
}

static ssize_t striped_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    struct striped *s = state;
    int error = check_move(s, -EBADF, buf, n);

    return error ? error : written(s, pio_pwrite(s->pfd, buf, n, at));
}

static int striped_setview(void *state, const void *packed, size_t n)
{
    struct striped *s = state;

    return s->folder ? -ENOTSUP : result_from_errno(pio_setview(s->pfd, packed, n));
}

/* Of a folder the offset is telldir's and only goes to where it has been. */
static off_t striped_lseek(void *state, off_t offset, int whence)
{
    struct striped *s = state;

    if (s->folder) {
        if (whence != SEEK_SET)
            return -EINVAL;
        seekdir(s->folder, (long)offset);
        return offset;
    }
    return result_from_errno(pio_lseek(s->pfd, offset, whence));
}

static int striped_fstat(void *state, struct stat *st)
{
    struct striped *s = state;

    return result_from_errno(s->folder ? fstat(dirfd(s->folder), st) : pio_fstat(s->pfd, st));
}

static int striped_ftruncate(void *state, off_t size)
{
    struct striped *s = state;

    return s->folder ? -EINVAL : result_from_errno(pio_ftruncate(s->pfd, size));
}

static int striped_fsync(void *state)
{
    struct striped *s = state;

    return s->folder ? 0 : result_from_errno(pio_fsync(s->pfd));
}

static int striped_path(void *state, char *path, size_t bytes)
{
    const struct striped *s = state;
    size_t n = strlen(s->path);

    if (!s->folder)
        return -ENOTDIR;
    if (n >= bytes)
        return -ERANGE;
    strcpy(path, s->path);
    return (int)n;
}

/* ---- The volume ---- */

/* Adds up what the volumes have. */
static int striped_fstatfs(void *state, struct statfs *st)
{
    const struct striped *s = state;
    struct statfs sum = {0}, part;
    char path[STRIPED_PATH_BYTES];

    for (int k = 0; k < s->volume->layout.disks; k++) {
        int error = striped_part(s->volume, k, "/", path);

        if (!error)
            error = result_from_errno(statfs(path, &part));
        if (error)
            return error;
        if (k == 0)
            sum.f_bsize = part.f_bsize;
        sum.f_blocks += part.f_blocks * part.f_bsize / sum.f_bsize;
        sum.f_bfree += part.f_bfree * part.f_bsize / sum.f_bsize;
        sum.f_files += part.f_files;
        sum.f_ffree += part.f_ffree;
    }
    *st = sum;
    return 0;
}

/* ---- Folders ---- */

/* Descriptions of PIO files, and the names under which they are made (libpio/file/store.c), are not the program's. */
static bool is_description(const char *name)
{
    const char *suffix = strrchr(name, '.');

    return suffix && (strcmp(suffix, ".pio") == 0 || strncmp(suffix, ".pio-", 5) == 0);
}

static int striped_readdir(void *state, struct dirent *entry)
{
    struct striped *s = state;
    const struct dirent *next;

    if (!s->folder)
        return -ENOTDIR;
    do {
        errno = 0;
        next = readdir(s->folder);
        if (!next)
            return -errno;
    } while (is_description(next->d_name));
    *entry = *next;
    return 1;
}

static int striped_mkdir(const char *path, mode_t mode)
{
    const char *name;
    const struct striped_volume *v = striped_find(path, &name);

    return pio_folder_make(&v->layout, name, mode);
}

static bool is_known(const struct striped_volume *v, const char *folder, const char *name)
{
    char path[STRIPED_PATH_BYTES];
    struct stat st;

    if (strlen(folder) + 1 + strlen(name) >= sizeof path)
        return true;
    strcpy(stpcpy(stpcpy(path, folder), "/"), name);
    return stat_first(v, path, &st) != -ENOENT;
}

/* Removes from volume k's folder what calls that ended half way have left: of a file, which the first volume has a
 * description of and no subfile; and an empty folder that the first volume does not have. */
static void sweep(const struct striped_volume *v, const char *folder, int k)
{
    char part[STRIPED_PATH_BYTES];
    struct dirent *e;
    DIR *d = striped_part(v, k, folder, part) == 0 ? opendir(part) : NULL;
    size_t n = strlen(part), left;

    while (d && (e = readdir(d))) {
        left = strlen(e->d_name);
        bool describes = left > 4 && strcmp(e->d_name + left - 4, ".pio") == 0;

        if (k == 0 && describes)
            e->d_name[left - 4] = '\0';
        if ((k == 0) != describes || n + 1 + left >= sizeof part || is_known(v, folder, e->d_name))
            continue;
        part[n] = '/';
        strcpy(part + n + 1, e->d_name);
        if (k == 0)
            pio_unlink(part);
        else
            rmdir(part);
    }
    if (d)
        closedir(d);
}

static int striped_rmdir(const char *path)
{
    struct stat st;
    const char *name;
    const struct striped_volume *v = striped_find(path, &name);
    int error = stat_first(v, name, &st);

    if (error == -ENOENT) { /* a removal that was killed may have left its record */
        error = pio_change_settle(v->layout.volumes[0]);
        error = error ? error : stat_first(v, name, &st);
    }
    if (error)
        return error;
    error = pio_folder_remove(&v->layout, name, st.st_mode);
    if (error != -ENOTEMPTY)
        return error;
    for (int k = 0; k < v->layout.disks; k++)
        sweep(v, name, k);
    return pio_folder_remove(&v->layout, name, st.st_mode);
}

/* ---- Names ---- */

static int striped_stat(const char *path, struct stat *st)
{
    const char *name;
    const struct striped_volume *v = striped_find(path, &name);
    int error = stat_first(v, name, st);

    if (error || S_ISDIR(st->st_mode))
        return error;
    int pfd = open_file(v, name, O_RDONLY, 0);
    if (pfd < 0)
        return pfd;
    error = result_from_errno(pio_fstat(pfd, st));
    pio_close(pfd);
    return error;
}

static int access_one(const char *part, const void *mode)
{
    return access(part, *(const int *)mode);
}

static int striped_access(const char *path, int mode)
{
    const char *name;
    const struct striped_volume *v = striped_find(path, &name);

    return on_each(v, name, access_one, &mode);
}

static int striped_unlink(const char *path)
{
    char part[STRIPED_PATH_BYTES];
    const char *name;
    const struct striped_volume *v = striped_find(path, &name);
    int error = -ENOENT;

    if (is_folder(v, name) == 1)
        return -EISDIR;
    for (int k = 0; error == -ENOENT && k < v->layout.disks; k++) {
        error = striped_part(v, k, name, part);
        if (!error)
            error = result_from_errno(pio_unlink(part));
    }
    return error;
}

/* Unix lets a file replace a file, and a folder replace an empty folder. */
static int rename_file(const struct striped_volume *v, const char *from, const char *to)
{
    char old[STRIPED_PATH_BYTES], new[STRIPED_PATH_BYTES];

    if (is_folder(v, to) == 1)
        return -EISDIR;
    int error = striped_part(v, 0, from, old);
    if (!error)
        error = striped_part(v, 0, to, new);
    return error ? error : result_from_errno(pio_rename(old, new));
}

static int rename_folder(const struct striped_volume *v, const char *from, const char *to, mode_t mode)
{
    return is_folder(v, to) == 0 ? -ENOTDIR : pio_folder_rename(&v->layout, from, to, mode);
}

/* A folder may have become a file by the time at which it is locked. */
static int striped_rename(const char *from_path, const char *to_path)
{
    const char *from, *to;
    struct stat st;
    const struct striped_volume *v = striped_find(from_path, &from);
    int error = -ENOTDIR;

    if (striped_find(to_path, &to) != v)
        return -EXDEV;
    while (error == -ENOTDIR && stat_first(v, from, &st) == 0 && S_ISDIR(st.st_mode))
        if ((error = rename_folder(v, from, to, st.st_mode)) == -ENOTDIR && is_folder(v, from) == 1)
            return error;
    return error == -ENOTDIR ? rename_file(v, from, to) : error;
}

struct change {
    int flags;
    const struct nattr *attr;
};

static int change_one(const char *part, const void *arg)
{
    const struct change *c = arg;
    const struct ndevice *d = ndevice_of(part);
    int error = d->setattr ? d->setattr(part, c->flags, c->attr) : -ENOTSUP;

    errno = -error;
    return error < 0 ? -1 : 0;
}

static int striped_setattr(const char *path, int flags, const struct nattr *attr)
{
    const char *name;
    const struct striped_volume *v = striped_find(path, &name);

    return on_each(v, name, change_one, &(struct change){flags, attr});
}

static int striped_fsetattr(void *state, const struct nattr *attr)
{
    struct striped *s = state;
    int error = 0;

    if (s->folder)
        return striped_setattr(s->path, 0, attr);
    const struct pio_file *file = pio_file_get(s->pfd);
    for (int k = 0; k < file->description.map.disks && !error; k++)
        error = (int)NDEVICE_ON_FD("fsetattr", file->subfile[k].fd, fsetattr, ENOTSUP, attr);
    return error;
}

const struct ndevice ndevice_striped = {
    .name = "striped",
    .match = striped_match,
    .open = striped_open,
    .close = striped_close,
    .read = striped_read,
    .write = striped_write,
    .pread = striped_pread,
    .pwrite = striped_pwrite,
    .setview = striped_setview,
    .lseek = striped_lseek,
    .fstat = striped_fstat,
    .fstatfs = striped_fstatfs,
    .ftruncate = striped_ftruncate,
    .fsync = striped_fsync,
    .fsetattr = striped_fsetattr,
    .readdir = striped_readdir,
    .path = striped_path,
    .stat = striped_stat,
    .access = striped_access,
    .unlink = striped_unlink,
    .rename = striped_rename,
    .mkdir = striped_mkdir,
    .rmdir = striped_rmdir,
    .setattr = striped_setattr,
};
