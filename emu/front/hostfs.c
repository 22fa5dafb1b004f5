/*
 * A request is decoded against one table (what it must carry, who runs it) before anything acts on it. The
 * functions that act are in pairs where streams differ from files. Every host name goes through beneath.c.
 */
#define _GNU_SOURCE /* O_PATH, AT_EMPTY_PATH */
#include "emu/front/hostfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "emu/front/beneath.h"
#include "emu/front/errmap.h"
#include "emu/front/openfiles.h"
#include "emu/front/tmpfiles.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"

_Static_assert(STREAM_IN == SFID_STDIN && STREAM_OUT == SFID_STDOUT && STREAM_ERR == SFID_STDERR, "streams' SFIDs");

#define SERVED_DEV         (NODE_HOST << 8)
#define TMP_INO            0x7f000000ull /* of "/tmp"; its files' follow */
#define STREAM_BLOCK_BYTES 4096u
#define MODE_BITS          0777u
#define OPEN_FLAGS         (N_O_ACCMODE | N_O_APPEND | N_O_CREAT | N_O_TRUNC | N_O_EXCL | N_O_DIRECTORY)

struct hostfs {
    struct beneath folder;
    dev_t root_dev;
    ino_t root_ino;
    struct timespec began; /* on the host's clock, as files are stamped */
    struct streams *streams;
    struct lines *lines; /* what goes to them */
    struct open_files files;
    bool has_tmp; /* names in "/tmp" are of: */
    struct tmp_files tmp;
    bool refused;   /* it has been told that no folder is served */
    uint8_t *reply; /* struct file_reply and room for the longest payload */
};

/* One request, decoded. */
struct call {
    struct file_request request;
    uint32_t node, procid;
    char name[FILE_NAME_MAX_BYTES + 1];
    char name2[FILE_NAME_MAX_BYTES + 1];
    const uint8_t *data;
    struct open_file *file; /* NULL for a stream */
    uint8_t *payload;       /* FILE_IO_MAX_BYTES of room */
    size_t payload_bytes;   /* set by what acts */
};

typedef int32_t (*act_fn)(struct hostfs *s, struct call *c);

static int32_t host_result(int result)
{
    return result < 0 ? errmap_from_host(errno) : 0;
}

/* ---- What a file is -------------------------------------------------------------------------- */

static bool is_served_type(mode_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode);
}

/* A time from before the machine is input like the file itself; a later one would bring the host's clock in. */
static int64_t steady_time(const struct hostfs *s, const struct timespec *t)
{
    bool later = t->tv_sec > s->began.tv_sec || (t->tv_sec == s->began.tv_sec && t->tv_nsec > s->began.tv_nsec);

    return later ? 0 : t->tv_sec;
}

static void pack_stat(const struct hostfs *s, const struct stat *st, struct file_stat *out)
{
    *out = (struct file_stat){
        .size_bytes = st->st_size,
        .blocks_512 = ((uint64_t)st->st_size + 511) / 512,
        .ino = st->st_ino,
        .mode = st->st_mode,
        .nlink = st->st_nlink,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .block_bytes = st->st_blksize,
        .dev = SERVED_DEV,
        .atime_s = steady_time(s, &st->st_mtim), /* reading a file does not change what it looks like */
        .mtime_s = steady_time(s, &st->st_mtim),
        .ctime_s = steady_time(s, &st->st_ctim),
    };
}

static void return_payload(struct call *c, const void *bytes, size_t n)
{
    memcpy(c->payload, bytes, n);
    c->payload_bytes = n;
}

/* The host numbers what has no name anew in each run. */
static void correct_tmp(struct file_stat *st, uint64_t number)
{
    st->ino = TMP_INO + number;
    st->nlink = 1;
}

static int32_t return_stat(const struct hostfs *s, struct call *c, int fd, uint64_t tmp_number)
{
    struct stat st;
    struct file_stat out;

    if (fstat(fd, &st) < 0)
        return errmap_from_host(errno);
    pack_stat(s, &st, &out);
    if (tmp_number)
        correct_tmp(&out, tmp_number);
    return_payload(c, &out, sizeof out);
    return 0;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static int host_flags(uint32_t flags)
{
    static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR};
    int host = access[flags & N_O_ACCMODE] | O_NONBLOCK | O_NOCTTY;

    host |= flags & N_O_CREAT ? O_CREAT : 0;
    host |= flags & N_O_TRUNC ? O_TRUNC : 0;
    host |= flags & N_O_EXCL ? O_EXCL : 0;
    host |= flags & N_O_DIRECTORY ? O_DIRECTORY : 0;
    return host; /* no O_APPEND: it would overrule the offset of every write */
}

static int32_t check_open_flags(uint32_t flags)
{
    bool writes = (flags & N_O_ACCMODE) != N_O_RDONLY;
    bool valid = !(flags & ~(uint32_t)OPEN_FLAGS) && (flags & N_O_ACCMODE) != N_O_ACCMODE &&
                 (writes || !(flags & N_O_TRUNC)) && !((flags & N_O_CREAT) && (flags & N_O_DIRECTORY));

    return valid ? 0 : -N_EINVAL;
}

/* Devices and pipes are refused before they are opened, because opening one can do something. */
static int32_t check_name_type(const struct hostfs *s, const char *name)
{
    struct stat st;
    int fd = beneath_open(&s->folder, name, O_PATH, 0);

    if (fd < 0)
        return fd == -N_ENOENT ? 0 : fd;
    int32_t result = host_result(fstat(fd, &st));
    close(fd);
    if (result == 0 && !is_served_type(st.st_mode))
        return -N_EACCES;
    return result;
}

/* Opens a regular file or a folder. A descriptor, or a negative n_error. */
static int open_host_file(const struct hostfs *s, const struct call *c, struct stat *st)
{
    int32_t checked = check_name_type(s, c->name);

    if (checked < 0)
        return checked;

    int fd = beneath_open(&s->folder, c->name, host_flags(c->request.flags), c->request.mode & MODE_BITS);
    if (fd < 0)
        return fd;
    int32_t result = host_result(fstat(fd, st));
    if (result == 0 && is_served_type(st->st_mode))
        return fd;
    close(fd);
    return result < 0 ? result : -N_EACCES;
}

static int32_t act_open(struct hostfs *s, struct call *c)
{
    struct stat st;
    struct file_opened opened;
    int32_t flags = check_open_flags(c->request.flags);
    int32_t index = flags < 0 ? flags : open_files_find_room(&s->files, c->node, c->procid);

    if (index < 0)
        return index;

    int fd = open_host_file(s, c, &st);
    if (fd < 0)
        return fd;
    opened.sfid = open_files_take(&s->files, index, c->node, c->procid, fd);
    if (!opened.sfid)
        return -N_ENOMEM;
    pack_stat(s, &st, &opened.stat);
    return_payload(c, &opened, sizeof opened);
    return 0;
}

static int32_t act_close(struct hostfs *s, struct call *c)
{
    return open_files_close(&s->files, c->file);
}

static int32_t act_exit(struct hostfs *s, struct call *c)
{
    open_files_drop_client(&s->files, c->node, c->procid);
    return 0;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

static int32_t act_read(struct hostfs *s, struct call *c)
{
    size_t done = 0;

    (void)s;
    while (done < c->request.bytes) {
        ssize_t got = pread(c->file->fd, c->payload + done, c->request.bytes - done, c->request.offset + done);

        if (got < 0 && done == 0)
            return errmap_from_host(errno);
        if (got <= 0)
            break;
        done += got;
    }
    c->payload_bytes = done;
    return done;
}

static int32_t find_write_offset(const struct call *c, uint64_t *offset)
{
    struct stat st;

    *offset = c->request.offset;
    if (!(c->request.flags & N_O_APPEND))
        return 0;
    if (fstat(c->file->fd, &st) < 0)
        return errmap_from_host(errno);
    *offset = st.st_size;
    return 0;
}

static int32_t act_write(struct hostfs *s, struct call *c)
{
    uint64_t offset;
    size_t done = 0;
    int32_t found = find_write_offset(c, &offset);

    (void)s;
    if (found < 0)
        return found;
    if (c->file->tmp_number && offset + c->request.bytes > TMP_FILE_MAX_BYTES)
        return -N_EFBIG;
    while (done < c->request.bytes) {
        ssize_t put = pwrite(c->file->fd, c->data + done, c->request.bytes - done, offset + done);

        if (put < 0 && done == 0)
            return errmap_from_host(errno);
        if (put <= 0)
            break;
        done += put;
    }
    const struct file_appended appended = {offset + done};
    if (c->request.flags & N_O_APPEND)
        return_payload(c, &appended, sizeof appended);
    return done;
}

static int32_t act_truncate(struct hostfs *s, struct call *c)
{
    (void)s;
    if (c->file->tmp_number && c->request.offset > TMP_FILE_MAX_BYTES)
        return -N_EFBIG;
    return host_result(ftruncate(c->file->fd, c->request.offset));
}

static int32_t act_sync(struct hostfs *s, struct call *c)
{
    (void)s;
    return host_result(fsync(c->file->fd));
}

static int32_t act_stat(struct hostfs *s, struct call *c)
{
    return return_stat(s, c, c->file->fd, c->file->tmp_number);
}

static int32_t begin_listing(const struct hostfs *s, struct open_file *f)
{
    struct stat st;
    struct listing fresh;

    if (fstat(f->fd, &st) < 0)
        return errmap_from_host(errno);
    if (!S_ISDIR(st.st_mode))
        return -N_ENOTDIR;
    int32_t result = listing_read(&fresh, f->fd, st.st_dev == s->root_dev && st.st_ino == s->root_ino);
    if (result < 0)
        return result;
    listing_free(&f->listing);
    f->listing = fresh;
    return 0;
}

static int32_t act_read_folder(struct hostfs *s, struct call *c)
{
    if (c->request.offset == 0 || c->file->listing.n == 0) {
        int32_t begun = begin_listing(s, c->file);

        if (begun < 0)
            return begun;
    }
    int32_t bytes = listing_copy(&c->file->listing, c->request.offset, c->payload, c->request.bytes);
    c->payload_bytes = bytes < 0 ? 0 : bytes;
    return bytes;
}

/* ---- Streams ---------------------------------------------------------------------------------- */

static int32_t stream_close(struct hostfs *s, struct call *c)
{
    (void)s, (void)c;
    return 0;
}

static int32_t stream_read(struct hostfs *s, struct call *c)
{
    if (c->request.sfid != SFID_STDIN)
        return -N_EBADF;
    int64_t got = streams_read(s->streams, c->payload, c->request.bytes);
    c->payload_bytes = got < 0 ? 0 : got;
    return got;
}

static int32_t stream_write(struct hostfs *s, struct call *c)
{
    if (c->request.sfid == SFID_STDIN)
        return -N_EBADF;
    return lines_write(s->lines, c->node, c->request.sfid == SFID_STDOUT ? STREAM_OUT : STREAM_ERR, c->data,
                       c->request.bytes);
}

/* The same for a file and a pipe: a program must not run differently because of it. That one is a terminal it may ask. */
static int32_t stream_stat(struct hostfs *s, struct call *c)
{
    const struct file_stat st = {
        .ino = c->request.sfid,
        .mode = s->streams->terminal[c->request.sfid] ? FILE_TERMINAL_MODE : FILE_STREAM_MODE,
        .nlink = 1,
        .block_bytes = STREAM_BLOCK_BYTES,
        .dev = SERVED_DEV,
    };

    return_payload(c, &st, sizeof st);
    return 0;
}

static int32_t stream_is_no_file(struct hostfs *s, struct call *c)
{
    (void)s, (void)c;
    return -N_EINVAL;
}

static int32_t stream_is_no_folder(struct hostfs *s, struct call *c)
{
    (void)s, (void)c;
    return -N_ENOTDIR;
}

/* Takes a name out of the message; false if it has a NUL inside. */
static bool take_name(char *name, const uint8_t *bytes, size_t n)
{
    memcpy(name, bytes, n);
    name[n] = '\0';
    return strlen(name) == n;
}

/* ---- Names ------------------------------------------------------------------------------------ */

/* A descriptor of what is named, or of the link that is asked for itself. */
static int open_named(const struct hostfs *s, const struct call *c)
{
    return beneath_open(&s->folder, c->name, O_PATH | (c->request.flags & N_O_NOFOLLOW ? O_NOFOLLOW : 0), 0);
}

static int32_t act_stat_name(struct hostfs *s, struct call *c)
{
    int fd = open_named(s, c);

    if (fd < 0)
        return fd;
    int32_t result = return_stat(s, c, fd, 0);
    close(fd);
    return result;
}

static int32_t act_access(struct hostfs *s, struct call *c)
{
    if (c->request.mode & ~(uint32_t)(R_OK | W_OK | X_OK))
        return -N_EINVAL;
    int fd = beneath_open(&s->folder, c->name, O_PATH, 0);
    if (fd < 0)
        return fd;
    int32_t result = host_result(faccessat(fd, "", c->request.mode, AT_EMPTY_PATH | AT_EACCESS));
    close(fd);
    return result;
}

static int32_t act_unlink(struct hostfs *s, struct call *c)
{
    return beneath_unlink(&s->folder, c->name);
}

static int32_t act_remove_folder(struct hostfs *s, struct call *c)
{
    return beneath_rmdir(&s->folder, c->name);
}

static int32_t act_make_folder(struct hostfs *s, struct call *c)
{
    return beneath_mkdir(&s->folder, c->name, c->request.mode & MODE_BITS);
}

static int32_t act_rename(struct hostfs *s, struct call *c)
{
    return beneath_rename(&s->folder, c->name, c->name2);
}

static int32_t act_link(struct hostfs *s, struct call *c)
{
    return beneath_link(&s->folder, c->name, c->name2);
}

static int32_t act_symlink(struct hostfs *s, struct call *c)
{
    char text[FILE_NAME_MAX_BYTES + 1];

    if (c->request.bytes > FILE_NAME_MAX_BYTES)
        return -N_ENAMETOOLONG;
    if (!take_name(text, c->data, c->request.bytes))
        return -N_EPROTO;
    return beneath_symlink(&s->folder, text, c->name);
}

static int32_t act_readlink(struct hostfs *s, struct call *c)
{
    int32_t n = beneath_readlink(&s->folder, c->name, (char *)c->payload, c->request.bytes);

    c->payload_bytes = n < 0 ? 0 : n;
    return n;
}

/* The host's kernel has all that was written. */
static int32_t act_sync_all(struct hostfs *s, struct call *c)
{
    (void)s, (void)c;
    return 0;
}

/* ---- Attributes ------------------------------------------------------------------------------- */

/* By its name in /proc: a descriptor for the path alone has no other way. */
static int32_t set_attributes(const struct call *c, int fd)
{
    struct file_attr a;
    char name[40];

    if (c->request.bytes != sizeof a)
        return -N_EPROTO;
    memcpy(&a, c->data, sizeof a);
    if (a.what & ~(uint32_t)FILE_ATTR_ALL)
        return -N_EINVAL;
    if (a.what & (FILE_ATTR_UID | FILE_ATTR_GID))
        return -N_EPERM;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if ((a.what & FILE_ATTR_MODE) && chmod(name, a.mode & MODE_BITS) < 0)
        return errmap_from_host(errno);
    if (!(a.what & (FILE_ATTR_ATIME | FILE_ATTR_MTIME)))
        return 0;
    const struct timespec times[2] = {
        {.tv_sec = a.atime_s, .tv_nsec = a.what & FILE_ATTR_ATIME ? 0 : UTIME_OMIT},
        {.tv_sec = a.mtime_s, .tv_nsec = a.what & FILE_ATTR_MTIME ? 0 : UTIME_OMIT},
    };
    return host_result(utimensat(AT_FDCWD, name, times, 0));
}

static int32_t act_set_attributes(struct hostfs *s, struct call *c)
{
    (void)s;
    return set_attributes(c, c->file->fd);
}

static int32_t act_set_attributes_of_name(struct hostfs *s, struct call *c)
{
    int fd = open_named(s, c);

    if (fd < 0)
        return fd;
    int32_t result = set_attributes(c, fd);
    close(fd);
    return result;
}

static int32_t act_stat_folder(struct hostfs *s, struct call *c)
{
    struct statvfs st;

    if (s->folder.root < 0)
        return -N_EACCES;
    if (fstatvfs(s->folder.root, &st) < 0)
        return errmap_from_host(errno);
    const struct file_statfs out = {
        .blocks = st.f_blocks,
        .blocks_free = st.f_bavail,
        .inodes = st.f_files,
        .inodes_free = st.f_favail,
        .block_bytes = st.f_frsize,
    };
    return_payload(c, &out, sizeof out);
    return 0;
}

/* ---- "/tmp" in memory ------------------------------------------------------------------------- */

/* What follows "/tmp/" in a name, "" for the folder itself; NULL: the name is elsewhere. */
static const char *name_in_tmp(const struct hostfs *s, const char *name)
{
    if (!s->has_tmp)
        return NULL;
    while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
        name++;
    if (strncmp(name, "tmp", 3) != 0 || (name[3] != '/' && name[3] != '\0'))
        return NULL;
    name += 3;
    return name + strspn(name, "/");
}

static int32_t tmp_open(struct hostfs *s, struct call *c)
{
    const char *name = name_in_tmp(s, c->name);
    struct file_opened opened;
    struct stat st;
    uint64_t number;
    int32_t flags = check_open_flags(c->request.flags);
    int32_t index = flags < 0 ? flags : open_files_find_room(&s->files, c->node, c->procid);

    if (index < 0)
        return index;
    if (name[0] == '\0')
        return (c->request.flags & N_O_ACCMODE) == N_O_RDONLY ? -N_EACCES : -N_EISDIR;
    if (c->request.flags & N_O_DIRECTORY)
        return tmp_files_find(&s->tmp, name) ? -N_ENOTDIR : -N_ENOENT;
    int fd = tmp_files_open(&s->tmp, name, host_flags(c->request.flags), c->request.mode & MODE_BITS, &number);
    if (fd < 0)
        return fd;
    opened.sfid = open_files_take(&s->files, index, c->node, c->procid, fd);
    if (!opened.sfid)
        return -N_ENOMEM;
    s->files.file[index].tmp_number = number;
    fstat(s->files.file[index].fd, &st); /* cannot fail: it is open */
    pack_stat(s, &st, &opened.stat);
    correct_tmp(&opened.stat, number);
    return_payload(c, &opened, sizeof opened);
    return 0;
}

static int32_t tmp_stat(struct hostfs *s, struct call *c)
{
    const char *name = name_in_tmp(s, c->name);
    const struct tmp_file *f = tmp_files_find(&s->tmp, name);
    const struct file_stat folder = {
        .ino = TMP_INO, .mode = S_IFDIR | 01777, .nlink = 2, .block_bytes = STREAM_BLOCK_BYTES, .dev = SERVED_DEV};

    if (name[0] != '\0')
        return f ? return_stat(s, c, f->fd, f->number) : -N_ENOENT;
    return_payload(c, &folder, sizeof folder);
    return 0;
}

static int32_t tmp_access(struct hostfs *s, struct call *c)
{
    const char *name = name_in_tmp(s, c->name);
    const struct tmp_file *f = tmp_files_find(&s->tmp, name);

    if (c->request.mode & ~(uint32_t)(R_OK | W_OK | X_OK))
        return -N_EINVAL;
    if (name[0] == '\0')
        return 0;
    return f ? host_result(faccessat(f->fd, "", c->request.mode, AT_EMPTY_PATH | AT_EACCESS)) : -N_ENOENT;
}

static int32_t tmp_unlink(struct hostfs *s, struct call *c)
{
    const char *name = name_in_tmp(s, c->name);

    return name[0] == '\0' ? -N_EISDIR : tmp_files_unlink(&s->tmp, name);
}

static int32_t tmp_rename(struct hostfs *s, struct call *c)
{
    const char *from = name_in_tmp(s, c->name), *to = name_in_tmp(s, c->name2);

    if (!from || !to)
        return -N_EXDEV;
    if (from[0] == '\0' || to[0] == '\0')
        return -N_EBUSY;
    return strchr(to, '/') ? -N_ENOENT : tmp_files_rename(&s->tmp, from, to);
}

static int32_t tmp_make_folder(struct hostfs *s, struct call *c)
{
    return name_in_tmp(s, c->name)[0] == '\0' ? -N_EEXIST : -N_EPERM;
}

static int32_t tmp_readlink(struct hostfs *s, struct call *c)
{
    const char *name = name_in_tmp(s, c->name);

    return name[0] == '\0' || tmp_files_find(&s->tmp, name) ? -N_EINVAL : -N_ENOENT;
}

static int32_t tmp_set_attributes(struct hostfs *s, struct call *c)
{
    const struct tmp_file *f = tmp_files_find(&s->tmp, name_in_tmp(s, c->name));

    return f ? set_attributes(c, f->fd) : -N_ENOENT;
}

/* ---- Decoding --------------------------------------------------------------------------------- */

enum { HAS_NAME = 1, HAS_NAME2 = 2, HAS_FILE = 4, HAS_BYTES = 8, HAS_DATA = 16, HAS_OFFSET = 32 };

struct operation {
    act_fn act;
    act_fn on_stream; /* in place of act when the SFID is a stream's */
    unsigned has;
    act_fn on_tmp; /* when a name is in "/tmp" and that is in memory; NULL: it cannot be done there */
};

#define INDEX(type) ((type)-N_FOPEN)

static const struct operation operations[] = {
    [INDEX(N_FOPEN)] = {act_open, NULL, HAS_NAME, tmp_open},
    [INDEX(N_FCLOSE)] = {act_close, stream_close, HAS_FILE},
    [INDEX(N_FREAD)] = {act_read, stream_read, HAS_FILE | HAS_BYTES | HAS_OFFSET},
    [INDEX(N_FWRITE)] = {act_write, stream_write, HAS_FILE | HAS_BYTES | HAS_DATA | HAS_OFFSET},
    [INDEX(N_FSTAT)] = {act_stat, stream_stat, HAS_FILE},
    [INDEX(N_FTRUNCATE)] = {act_truncate, stream_is_no_file, HAS_FILE | HAS_OFFSET},
    [INDEX(N_FSYNC)] = {act_sync, stream_is_no_file, HAS_FILE},
    [INDEX(N_FSTATNAME)] = {act_stat_name, NULL, HAS_NAME, tmp_stat},
    [INDEX(N_FUNLINK)] = {act_unlink, NULL, HAS_NAME, tmp_unlink},
    [INDEX(N_FRENAME)] = {act_rename, NULL, HAS_NAME | HAS_NAME2, tmp_rename},
    [INDEX(N_FLINK)] = {act_link, NULL, HAS_NAME | HAS_NAME2},
    [INDEX(N_FMKDIR)] = {act_make_folder, NULL, HAS_NAME, tmp_make_folder},
    [INDEX(N_FRMDIR)] = {act_remove_folder, NULL, HAS_NAME},
    [INDEX(N_FREADDIR)] = {act_read_folder, stream_is_no_folder, HAS_FILE | HAS_BYTES | HAS_OFFSET},
    [INDEX(N_FACCESS)] = {act_access, NULL, HAS_NAME, tmp_access},
    [INDEX(N_FEXIT)] = {act_exit, NULL, 0},
    [INDEX(N_FSTATFS)] = {act_stat_folder, NULL, 0},
    [INDEX(N_FSYMLINK)] = {act_symlink, NULL, HAS_NAME | HAS_BYTES | HAS_DATA},
    [INDEX(N_FREADLINK)] = {act_readlink, NULL, HAS_NAME | HAS_BYTES, tmp_readlink},
    [INDEX(N_FSETATTR)] = {act_set_attributes, stream_is_no_file, HAS_FILE | HAS_BYTES | HAS_DATA},
    [INDEX(N_FSYNCALL)] = {act_sync_all, NULL, 0},
    [INDEX(N_FSETATTRNAME)] = {act_set_attributes_of_name, NULL, HAS_NAME | HAS_BYTES | HAS_DATA, tmp_set_attributes},
};

#define OPERATION_ONE(name, number) +1
_Static_assert(sizeof operations / sizeof *operations == 0 FILE_OPS(OPERATION_ONE), "every request has its entry");

static const struct operation *find_operation(uint32_t type)
{
    size_t index = type - N_FOPEN;

    return type >= N_FOPEN && index < sizeof operations / sizeof *operations ? &operations[index] : NULL;
}

/* The message is exactly as long as its header says, and carries what the operation takes. */
static bool is_well_formed(const struct file_request *r, unsigned has, size_t n)
{
    size_t data_bytes = has & HAS_DATA ? r->bytes : 0;

    if ((has & HAS_BYTES) && r->bytes > FILE_IO_MAX_BYTES)
        return false;
    if (r->name_bytes > FILE_NAME_MAX_BYTES || r->name2_bytes > FILE_NAME_MAX_BYTES)
        return false;
    if ((r->name_bytes != 0) != !!(has & HAS_NAME) || (r->name2_bytes != 0) != !!(has & HAS_NAME2))
        return false;
    return n == sizeof *r + r->name_bytes + r->name2_bytes + data_bytes;
}

static int32_t decode(struct hostfs *s, struct call *c, const struct operation *op, const uint8_t *bytes, size_t n)
{
    const struct file_request *r = &c->request;
    const uint8_t *name = bytes + sizeof *r;

    if (!is_well_formed(r, op->has, n))
        return -N_EPROTO;
    if (!take_name(c->name, name, r->name_bytes) || !take_name(c->name2, name + r->name_bytes, r->name2_bytes))
        return -N_EPROTO;
    c->data = name + r->name_bytes + r->name2_bytes;
    if (r->drive != 0)
        return -N_ENODEV;
    if ((op->has & HAS_OFFSET) && r->offset > INT64_MAX - FILE_IO_MAX_BYTES)
        return -N_EINVAL;
    if (!(op->has & HAS_FILE) || r->sfid <= SFID_STDERR)
        return 0;
    return open_files_find(&s->files, r->sfid, c->node, c->procid, &c->file);
}

/* There are no folders in it. */
static int32_t run_in_tmp(struct hostfs *s, struct call *c, const struct operation *op)
{
    const char *name = name_in_tmp(s, c->name);

    if (name && strchr(name, '/'))
        return -N_ENOENT;
    return op->on_tmp ? op->on_tmp(s, c) : -N_EPERM;
}

/* Says once, where the program's errors go, what the user forgot. */
static int32_t refuse_name(struct hostfs *s, const struct call *c)
{
    char text[FILE_NAME_MAX_BYTES + 120], name[FILE_NAME_MAX_BYTES + 1];
    size_t length = strlen(c->name);

    if (!s->refused) {
        for (size_t i = 0; i <= length; i++) /* it stays on its line */
            name[i] = i < length && ((unsigned char)c->name[i] < ' ' || c->name[i] == 0x7f) ? '?' : c->name[i];
        int n = snprintf(text, sizeof text,
                         "ncube: %s: a file of the host, and no folder is served; give --serve DIR\n", name);
        streams_write(s->streams, STREAM_ERR, text, (size_t)n);
    }
    s->refused = true;
    return -N_EACCES;
}

static int32_t run(struct hostfs *s, struct call *c, uint32_t type, const uint8_t *bytes, size_t n)
{
    const struct operation *op = find_operation(type);

    if (!op)
        return -N_ENOSYS;

    int32_t decoded = decode(s, c, op, bytes, n);
    if (decoded < 0)
        return decoded;
    if ((op->has & HAS_FILE) && !c->file)
        return op->on_stream(s, c);
    if ((op->has & HAS_NAME) && (name_in_tmp(s, c->name) || ((op->has & HAS_NAME2) && name_in_tmp(s, c->name2))))
        return run_in_tmp(s, c, op);
    if ((op->has & HAS_NAME) && s->folder.root < 0)
        return refuse_name(s, c);
    return op->act(s, c);
}

size_t hostfs_request(struct hostfs *s, uint32_t node, uint32_t procid, uint32_t type, const void *bytes, size_t n,
                      const void **reply)
{
    struct call c = {.node = node, .procid = procid, .payload = s->reply + sizeof(struct file_reply)};

    if (n < sizeof c.request)
        return 0;
    memcpy(&c.request, bytes, sizeof c.request);
    const struct file_reply head = {.seq = c.request.seq, .status = run(s, &c, type, bytes, n)};
    memcpy(s->reply, &head, sizeof head);
    *reply = s->reply;
    return sizeof head + c.payload_bytes;
}

/* ---- Life -------------------------------------------------------------------------------------- */

static const char *explain_folder(int reason)
{
    switch (reason) {
    case ENOENT:
        return "does not exist; give a folder that does";
    case ENOTDIR:
        return "is not a folder; give one";
    case ENOSYS:
        return "can't be served: the kernel has no openat2; it takes Linux 5.6 or later";
    default:
        return "can't be entered; give a folder that may be read";
    }
}

static int open_folder(struct hostfs *s, const char *folder)
{
    struct stat st;

    if (beneath_open_folder(&s->folder, folder) < 0)
        return -1;
    s->has_tmp = !folder || faccessat(s->folder.root, "tmp", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
    if (!folder)
        return 0;
    if (fstat(s->folder.root, &st) < 0)
        return -1;
    s->root_dev = st.st_dev;
    s->root_ino = st.st_ino;
    return 0;
}

int hostfs_new(struct hostfs **serve, const char *folder, struct lines *lines, char *error, size_t error_bytes)
{
    struct hostfs *s = calloc(1, sizeof *s);

    *serve = NULL;
    if (s)
        s->reply = malloc(sizeof(struct file_reply) + FILE_IO_MAX_BYTES);
    if (!s || !s->reply) {
        snprintf(error, error_bytes, "no memory to serve files");
        free(s);
        return -1;
    }
    s->streams = lines->streams;
    s->lines = lines;
    clock_gettime(CLOCK_REALTIME_COARSE, &s->began);
    if (open_folder(s, folder) < 0) {
        snprintf(error, error_bytes, "the folder to serve, %s, %s", folder, explain_folder(errno));
        hostfs_free(s);
        return -1;
    }
    *serve = s;
    return 0;
}

void hostfs_free(struct hostfs *s)
{
    if (!s)
        return;
    open_files_free(&s->files);
    tmp_files_free(&s->tmp);
    beneath_close_folder(&s->folder);
    free(s->reply);
    free(s);
}

struct host_file *hostfs_open_program(struct hostfs *s, const char *name)
{
    int fd = beneath_open(&s->folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    return fd < 0 ? NULL : host_files_take(&s->files.host, fd);
}

void serve_close_program(struct hostfs *s, struct host_file *program)
{
    host_files_release(&s->files.host, program);
}

void hostfs_drop_node(struct hostfs *s, uint32_t node)
{
    open_files_drop_node(&s->files, node);
}

uint32_t hostfs_open_files(const struct hostfs *s)
{
    return open_files_count(&s->files);
}

uint32_t serve_descriptors(const struct hostfs *s)
{
    return s->files.host.count;
}
