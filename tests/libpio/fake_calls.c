/* The calls of libpio's transport that wait for their answers: files, names, folders, locks, questions. */
#include "tests/libpio/fake_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/change.h"
#include "libpio/file/file.h"
#include "libpio/file/store.h"

/* ---- Files and names ---- */

static int new_fd(int inode, int flags)
{
    for (int i = 0; i < FDS; i++)
        if (!fds[i].open) {
            fds[i] = (struct fd){.open = true, .inode = inode, .flags = flags};
            counts.open_files++;
            return i;
        }
    return -EMFILE;
}

/* Begins a call on a name: counts it. Returns the name's volume, or why there is none; *found is what has the name
 * there, or NULL. */
static int begin_call(const char *path, const char **name, struct name **found)
{
    fake_count_call();
    int volume = fake_split(path, name);
    *found = volume < 0 ? NULL : fake_find_name(volume, *name);
    return volume;
}

int fake_open(const char *path, int flags, mode_t mode)
{
    const char *name;
    struct name *found;

    (void)mode;
    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    if (found && (flags & O_EXCL))
        return -EEXIST;
    if (!found && !(flags & O_CREAT))
        return -ENOENT;
    if (volumes[volume].read_only && (!found || (flags & O_ACCMODE) != O_RDONLY))
        return -EROFS;
    if (!found) {
        if (volumes[volume].capacity == 0)
            return -ENOSPC;
        fake_add_name(volume, name, fake_new_inode(volume));
        found = fake_find_name(volume, name);
    }
    if (flags & O_TRUNC)
        fake_set_size(&inodes[found->inode], 0);
    return new_fd(found->inode, flags);
}

static int check_fd(int fd)
{
    fake_count_call();
    if (fd < 0 || fd >= FDS || !fds[fd].open) {
        counts.bad_fds++;
        return -EBADF;
    }
    return volumes[inodes[fds[fd].inode].volume].calls_error;
}

/* Frees an inode without a name that nobody has open. */
static void drop_unused(int inode)
{
    int users = 0;

    for (int i = 0; i < NAMES; i++)
        users += names[i].path[0] && names[i].inode == inode;
    for (int i = 0; i < FDS; i++)
        users += fds[i].open && fds[i].inode == inode;
    if (users == 0) {
        free(inodes[inode].data);
        inodes[inode].data = NULL;
    }
}

int fake_close(int fd)
{
    int error = check_fd(fd);

    if (error != -EBADF) {
        pattern_free(fds[fd].view);
        fds[fd].open = false;
        counts.open_files--;
        drop_unused(fds[fd].inode);
    }
    return error;
}

static void fill_stat(const struct inode *inode, struct stat *st)
{
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFREG | inode->mode;
    st->st_size = inode->size;
    st->st_blocks = (inode->size + 511) / 512;
    st->st_mtime = 1000 + inode->volume;
}

static int fake_stat(const char *path, struct stat *st)
{
    const char *name;

    fake_count_call();
    int volume = fake_split(path, &name);
    if (volume < 0)
        return volume;
    if (strcmp(name, "/") == 0)
        return 0;
    char folder[128];
    size_t n = strlen(name);
    bool wants_folder = n > 2 && strcmp(name + n - 2, "/.") == 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(wants_folder ? n - 2 : n), name);
    struct name *found = fake_find_name(volume, folder);
    if (!found)
        return -ENOENT;
    if (found->inode == FOLDER || wants_folder)
        return found->inode == FOLDER ? 0 : -ENOTDIR;
    fill_stat(&inodes[found->inode], st);
    return 0;
}

static int fake_fstat(int fd, struct stat *st)
{
    int error = check_fd(fd);

    if (!error)
        fill_stat(&inodes[fds[fd].inode], st);
    return error;
}

static int fake_ftruncate(int fd, int64_t bytes)
{
    int error = check_fd(fd);

    if (!error && (fds[fd].flags & O_ACCMODE) == O_RDONLY)
        error = -EINVAL;
    if (!error)
        fake_set_size(&inodes[fds[fd].inode], bytes);
    return error;
}

static int fake_cut(int fd, int64_t bytes, int64_t from_bytes)
{
    int error = check_fd(fd);

    if (!error && inodes[fds[fd].inode].size != from_bytes)
        error = -EAGAIN;
    if (!error)
        fake_set_size(&inodes[fds[fd].inode], bytes);
    return error;
}

static void fake_tell_failure(const char *call, const char *path, int error)
{
    if (strncmp(call, "pio_", 4) != 0 || path == NULL || error >= 0)
        abort();
}

static int fake_fsync(int fd)
{
    return check_fd(fd);
}

static void drop_name(struct name *name)
{
    volumes[name->volume].unsynced = true;
    name->path[0] = '\0';
    drop_unused(name->inode);
}

int fake_unlink(const char *path)
{
    const char *name;
    struct name *found;

    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    int error = found ? fake_check_writable(volume) : -ENOENT;
    for (int k = 0; k < FAKE_VOLUMES && strcmp(name, PIO_CHANGE_NAME) == 0; k++)
        counts.early += volumes[k].unsynced;
    counts.early += found && strncmp(name, "/.pio-old-", 10) == 0 && volumes[0].moved;
    if (!error)
        drop_name(found);
    return error;
}

static bool is_empty(int volume, const char *name);

static int rename_folder(struct name *found, struct name *before, const char *to)
{
    size_t n = strlen(found->path);
    char from[128], rest[128];

    if (before && (before->inode != FOLDER || !is_empty(before->volume, to)))
        return before->inode != FOLDER ? -ENOTDIR : -ENOTEMPTY;
    if (volumes[found->volume].read_only)
        return -EROFS;
    if (before)
        before->path[0] = '\0';
    volumes[found->volume].unsynced = true;
    strcpy(from, found->path);
    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && names[i].volume == found->volume && strncmp(names[i].path, from, n) == 0 &&
            (names[i].path[n] == '/' || names[i].path[n] == '\0')) {
            strcpy(rest, names[i].path + n);
            snprintf(names[i].path, sizeof names[i].path, "%s%s", to, rest);
        }
    return 0;
}

static int fake_rename(const char *from, const char *to)
{
    const char *from_name, *to_name;

    fake_count_call();
    int volume = fake_split(from, &from_name);
    if (volume < 0 || fake_split(to, &to_name) != volume)
        return volume < 0 ? volume : -EXDEV;
    struct name *found = fake_find_name(volume, from_name), *before = fake_find_name(volume, to_name);
    if (!found)
        return -ENOENT;
    if (found->inode == FOLDER)
        return rename_folder(found, before, to_name);
    if (volumes[volume].read_only)
        return -EROFS;
    if (before)
        drop_name(before);
    for (int k = 1; k < FAKE_VOLUMES && volume == 0 && !strstr(from_name, PIO_DESCRIPTION_SUFFIX); k++)
        counts.early += volumes[k].unsynced && fake_find_name(k, "/.pio-old-df00") && !strstr(to_name, "/.pio-");
    snprintf(found->path, sizeof found->path, "%s", to_name);
    volumes[volume].unsynced = true;
    volumes[volume].moved |= !strstr(from_name, PIO_DESCRIPTION_SUFFIX);
    return 0;
}

/* ---- Locks and folders ---- */

static int fake_mkdir(const char *path, mode_t mode)
{
    const char *name;
    struct name *found;

    (void)mode;
    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    if (found)
        return -EEXIST;
    if (volumes[volume].read_only)
        return -EROFS;
    if (volumes[volume].capacity == 0)
        return -ENOSPC;
    fake_add_name(volume, name, FOLDER);
    volumes[volume].unsynced = false;
    return 0;
}

static bool is_empty(int volume, const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && names[i].volume == volume && strncmp(names[i].path, name, n) == 0 &&
            names[i].path[n] == '/')
            return false;
    return true;
}

static int fake_rmdir(const char *path, mode_t none)
{
    const char *name;
    struct name *found;

    (void)none;
    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    if (!found || found->inode != FOLDER)
        return found ? -ENOTDIR : -ENOENT;
    if (!is_empty(volume, name))
        return -ENOTEMPTY;
    if (volumes[volume].read_only)
        return -EROFS;
    found->path[0] = '\0';
    volumes[volume].unsynced = true;
    return 0;
}

static int fake_chmod(const char *path, mode_t mode)
{
    const char *name;
    struct name *found;

    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    int error = found ? fake_check_writable(volume) : -ENOENT;
    if (!error)
        inodes[found->inode].mode = mode;
    return error;
}

static int fake_lock(const char *volume, uint32_t key)
{
    (void)volume, (void)key;
    if (locked)
        return -EDEADLK; /* another node would wait for ever for one that stands still */
    locked = true;
    return 0;
}

static void fake_unlock(int lock)
{
    (void)lock;
    locked = false;
}

bool fake_is_locked(void)
{
    return locked;
}

void fake_unlock_all(void)
{
    locked = false;
}

/* ---- Questions ---- */

static int make_file(const char *path, const void *bytes, size_t n)
{
    int fd = fake_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

    if (fd < 0)
        return fd;
    int put = fake_write_bytes(&inodes[fds[fd].inode], 0, bytes, n);
    fds[fd].open = false;
    counts.open_files--;
    if (put == (int)n)
        return 0;
    fake_unlink(path);
    return -ENOSPC;
}

static int read_file(const char *path, void *bytes, size_t n)
{
    const char *name;
    struct name *found;

    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    return found ? fake_read_bytes(&inodes[found->inode], 0, bytes, n) : -ENOENT;
}

static int open_and_read(struct pio_question *q, const char *described)
{
    char path[PIO_PATH_MAX_BYTES];
    int bytes = read_file(described, q->buffer, q->bytes);

    if (bytes < 0)
        return bytes;
    pio_path(path, q->volume, q->name, "");
    q->fd = fake_open(path, q->flags, 0);
    if (q->fd < 0)
        return q->fd;
    q->node = volumes[inodes[fds[q->fd].inode].volume].node;
    q->size_bytes = inodes[fds[q->fd].inode].size;
    return bytes;
}

static int volume_of(const struct pio_question *q)
{
    return atoi(q->volume + strlen("df"));
}

static int set_view(int fd, const void *packed, size_t n)
{
    struct pattern *view = NULL;
    int error = check_fd(fd);

    if (!error && view_error)
        error = n > 0 ? view_error : 0;
    if (!error && n > 0)
        error = pattern_unpack(packed, n, &view);
    if (error)
        return error;
    pattern_free(fds[fd].view);
    fds[fd].view = view;
    return 0;
}

static int answer(struct pio_question *q)
{
    char path[PIO_PATH_MAX_BYTES];
    struct stat st = {0};
    int result;

    if (q->kind == PIO_ASK_VIEW)
        return set_view(q->fd, q->buffer, q->bytes);
    pio_path(path, q->volume, q->name, q->suffix);
    switch (q->kind) {
    case PIO_ASK_STAT:
        result = fake_stat(path, &st);
        q->size_bytes = st.st_size;
        q->mode = st.st_mode;
        return result;
    case PIO_ASK_WRITABLE:
        result = fake_stat(path, &st);
        return result ? result : fake_check_writable(volume_of(q));
    case PIO_ASK_READ:
        return read_file(path, q->buffer, q->bytes);
    case PIO_ASK_OPEN:
        return open_and_read(q, path);
    case PIO_ASK_MAKE:
        result = make_file(path, q->buffer, q->bytes);
        volumes[volume_of(q)].unsynced &= result < 0;
        return result;
    default:
        result = fake_unlink(path);
        if (q->mode && (result == 0 || result == -ENOENT))
            volumes[volume_of(q)].unsynced = volumes[volume_of(q)].moved = false;
        return result;
    }
}

static void fake_ask(struct pio_question *questions, int n)
{
    counts.rounds++;
    for (int i = 0; i < n; i++)
        questions[i].result = answer(&questions[i]);
}

static int fake_node(int fd)
{
    return volumes[inodes[fds[fd].inode].volume].node;
}

static const struct pio_transport fake_transport = {
    .open = fake_open,
    .close = fake_close,
    .fstat = fake_fstat,
    .ftruncate = fake_ftruncate,
    .fsync = fake_fsync,
    .tell_failure = fake_tell_failure,
    .cut = fake_cut,
    .ask = fake_ask,
    .rename = fake_rename,
    .mkdir = fake_mkdir,
    .rmdir = fake_rmdir,
    .chmod = fake_chmod,
    .lock = fake_lock,
    .unlock = fake_unlock,
    .node = fake_node,
    .read_start = fake_read_start,
    .write_start = fake_write_start,
    .wait = fake_wait,
    .arrived = fake_arrived,
    .work = fake_work,
};

const struct pio_transport *pio_transport = &fake_transport;
