/*
 * Serving requests: decode, then invoke. file_parts.h says which parts each request has; serve_call checks all of them,
 * so an invoke_ function sees only a well-formed call.
 *
 * Writing back. Data is on the medium when N_FWRITE is answered, unless the drive has a data cache that writes later.
 * Names, sizes and pointers are when N_FSYNC or N_FMKDIR is answered, when a client's N_FEXIT is, at the shutdown, and
 * when half of the cache is dirty.
 */
#include "nsdisk/serve/serve.h"

#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/volume_locks.h"
#include "nsdisk/serve/serve_state.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/shared/file_parts.h"

/* ---- Helpers ---- */

static uint64_t client_of(uint32_t from, uint32_t tag)
{
    return (uint64_t)from << CLIENT_PROCID_BITS | TAG_FROM(tag);
}

/* ---- Opening and closing ---- */

static int64_t open_check(const struct ext2_inode *inode, uint32_t flags, bool writable)
{
    if (ext2_is_dir(inode) && (writable || (flags & N_O_CREAT)))
        return -N_EISDIR;
    if (!ext2_is_dir(inode) && (flags & N_O_DIRECTORY))
        return -N_ENOTDIR;
    if (!ext2_is_dir(inode) && !ext2_is_file(inode))
        return -N_ENOTSUP;
    return writable && inode->fs->read_only ? -N_EROFS : 0;
}

static int64_t invoke_open(struct server *s, struct call *c)
{
    uint32_t access = c->r.flags & N_O_ACCMODE;
    bool writable = access != N_O_RDONLY;
    struct ext2_inode *inode;

    if (access == N_O_LOCK)
        return invoke_lock(s, c);
    int64_t error = open_table_prepare(&s->opens, c->client);
    if (error == 0 && (c->r.flags & N_O_CREAT))
        error = ext2_create(c->fs, c->name, (uint16_t)c->r.mode, (c->r.flags & N_O_EXCL) != 0, &inode);
    else if (error == 0)
        error = ext2_lookup(c->fs, c->name, true, &inode);
    if (error < 0)
        return error;
    error = open_check(inode, c->r.flags, writable);
    if (error == 0 && writable && (c->r.flags & N_O_TRUNC) && inode->size_bytes != 0)
        error = ext2_set_size(inode, 0);
    if (error < 0) {
        ext2_inode_put(inode);
        return error;
    }
    struct open_file *file = open_table_add(&s->opens, c->client, inode);
    file->drive = c->r.drive;
    file->writable = writable;
    file->readable = access != N_O_WRONLY;
    struct file_opened opened = {file->sfid, serve_stat_of(s, inode, file->drive)};
    reply_payload(c, &opened, sizeof opened);
    return 0;
}

/* Reads name2 first, as opening fills the front of the payload. */
static int64_t invoke_open_read(struct server *s, struct call *c)
{
    struct call described = *c;
    const size_t head = sizeof(struct file_opened);

    described.name = c->name2;
    described.payload += head;
    described.payload_max -= head;
    int64_t n = invoke_read_name(s, &described);
    int64_t error = n < 0 ? n : invoke_open(s, c);
    if (error < 0)
        return error;
    c->payload_bytes += described.payload_bytes;
    return n;
}

static int64_t invoke_close(struct server *s, struct call *c)
{
    if (!open_table_disown(c->file, c->client))
        return ext2_write_error(c->file->inode);
    struct ext2_inode *inode = open_table_remove(&s->opens, c->file);
    int written = ext2_write_error(inode);
    int put = ext2_inode_put(inode);

    return put < 0 ? put : written;
}

static int sync_volume(struct server *s, uint32_t drive)
{
    return !s->volume[drive] ? 0 : ext2_sync(s->volume[drive]);
}

/* Returns the first error. */
static int each_volume(struct server *s, int (*act)(struct server *s, uint32_t drive))
{
    int first_error = 0;

    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++) {
        int error = act(s, drive);

        first_error = first_error < 0 ? first_error : error;
    }
    return first_error;
}

static void drop_file(struct server *s, struct open_file *file, uint64_t client)
{
    if (open_table_disown(file, client))
        ext2_inode_put(open_table_remove(&s->opens, file));
}

static int64_t invoke_exit(struct server *s, struct call *c)
{
    struct open_file *file;

    while ((file = open_table_first(&s->opens, c->client)))
        drop_file(s, file, c->client);
    return each_volume(s, sync_volume);
}

static int64_t invoke_fork(struct server *s, struct call *c)
{
    if (c->r.mode >= PROCS_MAX)
        return -N_EINVAL;
    open_table_share(&s->opens, c->client, c->r.mode);
    return 0;
}

static int64_t invoke_poll(struct server *s, struct call *c)
{
    (void)s, (void)c;
    return 1;
}

static int64_t invoke_sync_all(struct server *s, struct call *c)
{
    (void)c;
    return each_volume(s, sync_volume);
}

/* ---- Views ---- */

struct merge *serve_merge(struct server *s, uint32_t drive)
{
    if (!s->merge[drive])
        s->merge[drive] = merge_new();
    return s->merge[drive];
}

/* The request's view, whose number is not 0; NULL: there is none. */
static struct view *view_of(const struct call *c)
{
    const struct view_set *set = c->file->views;

    return set && c->r.view <= FILE_VIEWS ? set->view[c->r.view - 1] : NULL;
}

/* The memory of a drive for its views is there since the first was made. */
static int64_t read_view(struct server *s, struct call *c)
{
    const struct view *view = view_of(c);
    size_t bytes = c->r.bytes < c->payload_max ? c->r.bytes : c->payload_max;

    if (!c->file->readable)
        return -N_EBADF;
    if (!view)
        return -N_EINVAL;
    int64_t n =
        view_read(view, s->merge[c->file->drive]->sieve, c->file->inode, c->r.offset, c->payload, (uint32_t)bytes);
    c->payload_bytes = n > 0 ? (size_t)n : 0;
    return n;
}

static int64_t write_view(struct server *s, struct call *c)
{
    const struct view *view = view_of(c);

    if (!c->file->writable)
        return -N_EBADF;
    if (!view || c->r.flags & N_O_APPEND)
        return -N_EINVAL;
    return merge_write_view(s->merge[c->file->drive], view, c->file->inode, c->r.offset, c->data, c->r.bytes);
}

/* What a view needs beside itself. */
static int prepare_view(struct server *s, struct call *c)
{
    if (c->r.bytes > FILE_VIEW_MAX_BYTES)
        return -N_E2BIG;
    if (!c->file->views)
        c->file->views = calloc(1, sizeof *c->file->views);
    return serve_merge(s, c->file->drive) && c->file->views ? 0 : -N_ENOMEM;
}

static int64_t invoke_view(struct server *s, struct call *c)
{
    if (c->r.view == 0 || c->r.view > FILE_VIEWS || ext2_is_dir(c->file->inode))
        return -N_EINVAL;
    if (c->r.bytes == 0 && !view_of(c))
        return -N_EINVAL;
    int error = c->r.bytes > 0 ? prepare_view(s, c) : 0;
    return error < 0 ? error : view_replace(&s->opens.views, &c->file->views->view[c->r.view - 1], c->data, c->r.bytes);
}

/* Requests that name a view. */
static int64_t invoke_by_view(struct server *s, struct call *c, uint32_t type)
{
    switch (type) {
    case N_FVIEW:
        return invoke_view(s, c);
    case N_FREAD:
        return read_view(s, c);
    case N_FWRITE:
        return write_view(s, c);
    default:
        return -N_EPROTO;
    }
}

/* ---- Open files ---- */

static int64_t invoke_read(struct server *s, struct call *c)
{
    (void)s;
    size_t bytes = c->r.bytes < c->payload_max ? c->r.bytes : c->payload_max;
    if (!c->file->readable)
        return -N_EBADF;
    if (ext2_is_dir(c->file->inode))
        return -N_EISDIR;
    int64_t n = ext2_read(c->file->inode, c->r.offset, c->payload, (uint32_t)bytes);
    c->payload_bytes = n > 0 ? (size_t)n : 0;
    return n;
}

static int64_t invoke_write(struct server *s, struct call *c)
{
    (void)s;
    struct ext2_inode *inode = c->file->inode;
    bool appends = (c->r.flags & N_O_APPEND) != 0;
    uint64_t offset = appends ? inode->size_bytes : c->r.offset;
    if (!c->file->writable)
        return -N_EBADF;
    int64_t n = ext2_write(inode, offset, c->data, c->r.bytes);
    struct file_appended appended = {offset + (uint64_t)n};
    if (n >= 0 && appends)
        reply_payload(c, &appended, sizeof appended);
    return n;
}

static int64_t invoke_stat(struct server *s, struct call *c)
{
    struct file_stat stat = serve_stat_of(s, c->file->inode, c->file->drive);

    reply_payload(c, &stat, sizeof stat);
    return 0;
}

static int64_t invoke_truncate(struct server *s, struct call *c)
{
    (void)s;
    if (!c->file->writable)
        return -N_EBADF;
    if (c->r.bytes > 0 && c->file->inode->size_bytes != c->r.offset + c->r.bytes)
        return -N_EAGAIN;
    return ext2_set_size(c->file->inode, c->r.offset);
}

static int64_t invoke_sync(struct server *s, struct call *c)
{
    (void)s;
    return ext2_sync(c->fs);
}

static void reply_dirent(struct call *c, const struct ext2_entry *e, uint64_t next)
{
    uint32_t bytes = file_dirent_bytes(e->name_bytes);
    struct file_dirent record = {e->ino, next, (uint16_t)bytes, (uint16_t)e->name_bytes, e->type};
    uint8_t *at = c->payload + c->payload_bytes;

    memset(at, 0, bytes);
    memcpy(at, &record, sizeof record);
    memcpy(at + sizeof record, e->name, e->name_bytes);
    c->payload_bytes += bytes;
}

static int64_t invoke_readdir(struct server *s, struct call *c)
{
    (void)s;
    struct ext2_inode *inode = c->file->inode; /* the entry may move while the disk is waited for */
    size_t room = c->r.bytes < c->payload_max ? c->r.bytes : c->payload_max;
    uint64_t offset = c->r.offset;
    char name[EXT2_NAME_MAX_BYTES];
    struct ext2_entry e;
    int result;
    if (!ext2_is_dir(inode))
        return -N_ENOTDIR;
    while ((result = ext2_dir_next(inode, &offset, &e, name)) > 0) {
        if (file_dirent_bytes(e.name_bytes) > room - c->payload_bytes)
            return c->payload_bytes == 0 ? -N_EINVAL : (int64_t)c->payload_bytes;
        reply_dirent(c, &e, offset);
    }
    return result < 0 && c->payload_bytes == 0 ? result : (int64_t)c->payload_bytes;
}

/* ---- The table ---- */

#define OP(type) [(type)-N_FOPEN]
static invoke_fn *const operation[] = {
    OP(N_FOPEN) = invoke_open,         OP(N_FCLOSE) = invoke_close,
    OP(N_FREAD) = invoke_read,         OP(N_FWRITE) = invoke_write,
    OP(N_FSTAT) = invoke_stat,         OP(N_FTRUNCATE) = invoke_truncate,
    OP(N_FSYNC) = invoke_sync,         OP(N_FSTATNAME) = invoke_stat_name,
    OP(N_FUNLINK) = invoke_unlink,     OP(N_FRENAME) = invoke_rename,
    OP(N_FLINK) = invoke_link,         OP(N_FMKDIR) = invoke_mkdir,
    OP(N_FRMDIR) = invoke_rmdir,       OP(N_FREADDIR) = invoke_readdir,
    OP(N_FACCESS) = invoke_access,     OP(N_FEXIT) = invoke_exit,
    OP(N_FFORK) = invoke_fork,         OP(N_FPOLL) = invoke_poll,
    OP(N_FSTATFS) = invoke_statfs,     OP(N_FSYMLINK) = invoke_symlink,
    OP(N_FREADLINK) = invoke_readlink, OP(N_FSETATTR) = invoke_set_attributes,
    OP(N_FSYNCALL) = invoke_sync_all,  OP(N_FSETATTRNAME) = invoke_set_attributes_of_name,
    OP(N_FVIEW) = invoke_view,         OP(N_FREADNAME) = invoke_read_name,
    OP(N_FMAKE) = invoke_make,         OP(N_FOPENREAD) = invoke_open_read,
    OP(N_FADD) = invoke_add,
};
_Static_assert(sizeof operation / sizeof operation[0] == FILE_OPERATIONS, "every request is in the table");

/* ---- Decoding ---- */

/* Names on a volume begin at its root. */
static int decode_name(struct ext2_path *path, const char *text, uint32_t bytes)
{
    *path = (struct ext2_path){text, bytes};
    if (bytes > 0 && text[0] != '/')
        return -N_EPROTO;
    return bytes > FILE_NAME_MAX_BYTES ? -N_ENAMETOOLONG : 0;
}

static int decode_parts(struct call *c, uint32_t parts, const uint8_t *request, size_t n)
{
    struct file_parts split;
    int error = file_parts_split(&c->r, parts, request, n, &split);

    if (error < 0)
        return error;
    c->data = split.data;
    error = decode_name(&c->name, split.name, c->r.name_bytes);
    if (error == 0)
        error = decode_name(&c->name2, split.name2, c->r.name2_bytes);
    if (error == 0 && (parts & PART_OFFSET) && c->r.offset > INT64_MAX)
        error = -N_EINVAL;
    return error;
}

/* 1: the path leads to a private file or folder; 0: not; or an error. */
static int is_private(struct ext2 *fs, struct ext2_path name, bool follow)
{
    struct ext2_inode *inode;
    int error = ext2_lookup(fs, name, follow, &inode);

    if (error < 0)
        return error;
    const int result = (inode->flags & EXT2_PRIVATE) != 0;
    ext2_inode_put(inode);
    return result;
}

/* -N_EPERM: the name leads to a private file, or is to be a new one in a private folder. */
static int check_name(struct ext2 *fs, struct ext2_path name)
{
    int found = 0;

    for (int follow = 0; follow <= 1 && name.bytes > 0; follow++)
        if ((found = is_private(fs, name, follow != 0)) == 1)
            return -N_EPERM;
    if (found != -N_ENOENT)
        return 0; /* or an error, which comes again */
    while (name.bytes > 0 && name.text[name.bytes - 1] == '/')
        name.bytes--;
    while (name.bytes > 0 && name.text[name.bytes - 1] != '/')
        name.bytes--;
    return name.bytes > 0 && is_private(fs, name, true) == 1 ? -N_EPERM : 0;
}

/* Apart, so that requests to other volumes pay nothing for it. */
static __attribute__((noinline)) int decode_not_plain(struct server *s, struct call *c, uint32_t drive)
{
    c->fs = s->volume[drive];
    if (!c->fs)
        return s->dead[drive] ? -N_EIO : -N_ENODEV;
    if (!c->payload) /* it is not carried out now, and the disk must not be asked */
        return 0;
    int error = check_name(c->fs, c->name);
    return error < 0 ? error : check_name(c->fs, c->name2);
}

/* Finds the volume, and the open file. */
static int decode_volume(struct server *s, struct call *c, uint32_t drive)
{
    c->fs = s->plain[drive];
    if (!c->fs)
        return decode_not_plain(s, c, drive);
    return 0;
}

/* 1: by a view of it. */
static int decode_target(struct server *s, struct call *c, uint32_t parts)
{
    if (parts & PART_FILE) {
        int error = open_table_find(&s->opens, c->client, c->r.sfid, &c->file);

        if (error < 0)
            return error;
        if (c->r.view != 0)
            return 1;
        return decode_volume(s, c, c->file->drive);
    }
    if (parts & PART_DRIVE)
        return c->r.drive >= SERVE_DRIVES ? -N_ENODEV : decode_volume(s, c, c->r.drive);
    return 0;
}

static int64_t serve_call(struct server *s, struct call *c, uint32_t tag, const uint8_t *request, size_t n)
{
    uint32_t parts;

    if (!file_parts_of(TAG_TYPE(tag), &parts))
        return -N_ENOSYS;
    if (n < sizeof c->r)
        return -N_EPROTO;
    int error = decode_parts(c, parts, request, n);
    if (error == 0)
        error = decode_target(s, c, parts);
    if (error > 0)
        return invoke_by_view(s, c, TAG_TYPE(tag));
    return error < 0 ? error : operation[TAG_TYPE(tag) - N_FOPEN](s, c);
}

size_t serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                     size_t reply_max)
{
    struct call c = {.client = client_of(from, tag)};

    memcpy(&c.r, request, n < sizeof c.r ? n : sizeof c.r);
    c.payload = (uint8_t *)reply + sizeof(struct file_reply);
    c.payload_max = reply_max - sizeof(struct file_reply);
    int64_t status = serve_call(s, &c, tag, request, n);
    struct file_reply header = {c.r.seq, (int32_t)status};
    memcpy(reply, &header, sizeof header);
    return sizeof header + (status < 0 ? 0 : c.payload_bytes);
}

int serve_target(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n)
{
    struct call c = {.client = client_of(from, tag)};
    uint32_t parts;

    if (!file_parts_of(TAG_TYPE(tag), &parts) || n < sizeof c.r)
        return SERVE_NOWHERE;
    memcpy(&c.r, request, sizeof c.r);
    if (decode_parts(&c, parts, request, n) < 0 || decode_target(s, &c, parts) < 0)
        return SERVE_NOWHERE;
    if (c.file)
        return c.file->drive;
    if (TAG_TYPE(tag) == N_FFORK)
        return SERVE_NOWHERE;
    return parts & PART_DRIVE ? c.r.drive : SERVE_EVERYWHERE;
}

int64_t serve_everywhere(struct server *s, uint32_t drive, uint32_t from, uint32_t tag)
{
    struct open_file *file;

    if (TAG_TYPE(tag) == N_FEXIT)
        while ((file = open_table_first_of(&s->opens, client_of(from, tag), drive)))
            drop_file(s, file, client_of(from, tag));
    return sync_volume(s, drive);
}

bool serve_asks(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, struct data_waiter *w)
{
    struct call c = {.client = client_of(from, tag)};
    uint32_t parts;

    if (TAG_TYPE(tag) != N_FREAD || !file_parts_of(N_FREAD, &parts) || n < sizeof c.r)
        return false;
    memcpy(&c.r, request, sizeof c.r);
    if (decode_parts(&c, parts, request, n) < 0 || decode_target(s, &c, parts) != 0 || !c.file->readable ||
        !ext2_is_file(c.file->inode))
        return false;
    return ext2_cached_ask(c.file->inode, c.r.offset, c.r.bytes, w);
}

bool serve_can_merge(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n,
                     struct serve_write *w)
{
    struct call c = {.client = client_of(from, tag)};
    uint32_t parts;

    if (TAG_TYPE(tag) != N_FWRITE || !file_parts_of(N_FWRITE, &parts) || n < sizeof c.r)
        return false;
    memcpy(&c.r, request, sizeof c.r);
    int target = decode_parts(&c, parts, request, n);
    if (target == 0)
        target = decode_target(s, &c, parts);
    if (target < 0 || c.r.flags != 0 || c.r.bytes == 0 || !c.file->writable)
        return false;
    *w = (struct serve_write){.drive = c.file->drive, .inode = c.file->inode, .r = c.r, .data = c.data};
    if (target > 0 && !(w->view = view_of(&c)))
        return false;
    return !w->inode->fs->read_only;
}

size_t serve_reply_bytes(uint32_t tag, const void *request, size_t n)
{
    struct file_request r;
    uint32_t parts;

    if (!file_parts_of(TAG_TYPE(tag), &parts) || (parts & PART_COUNT) == 0 || n < sizeof r)
        return SERVE_REPLY_MIN_BYTES;
    memcpy(&r, request, sizeof r);
    size_t head = sizeof(struct file_reply) + sizeof(struct file_opened); /* N_FOPENREAD's; others need less */
    size_t bytes = head + (r.bytes < FILE_IO_MAX_BYTES ? r.bytes : FILE_IO_MAX_BYTES);
    return bytes < SERVE_REPLY_MIN_BYTES ? SERVE_REPLY_MIN_BYTES : bytes;
}

/* ---- The server ---- */

struct server *server_new(uint32_t node, uint64_t boot_number, const struct ext2_env *env)
{
    struct server *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->node = node;
    s->env = *env;
    open_table_init(&s->opens, boot_number);
    s->opens.views.most_bytes = VIEW_TOTAL_BYTES;
    return s;
}

struct view_room *server_views(struct server *s)
{
    return &s->opens.views;
}

void server_limit_views(struct server *s, size_t bytes)
{
    s->opens.views.most_bytes = bytes;
}

int server_mount(struct server *s, uint32_t drive, const struct blockdev *dev, const char *volume, size_t cache_bytes,
                 const struct drive_cache *data, char *error, size_t error_bytes)
{
    int status = ext2_mount(&s->volume[drive], dev, volume, cache_bytes, data, &s->env, error, error_bytes);

    s->dead[drive] = status == -N_ENODEV;
    if (status == 0 && !s->volume[drive]->has_private)
        s->plain[drive] = s->volume[drive];
    return status;
}

bool server_cache_counts(const struct server *s, uint32_t drive, struct drive_cache_counts *counts)
{
    *counts = s->counts[drive];
    counts->drive = drive;
    return s->counted[drive];
}

const struct drive_cache_counts *server_counts_place(const struct server *s, uint32_t drive)
{
    const struct ext2 *fs = s->volume[drive];

    return fs && fs->data ? data_cache_counts_place(fs->data) : NULL;
}

/* Unmounts, and keeps what the data cache has counted, the last of its writes included. */
static int unmount(struct server *s, uint32_t drive)
{
    struct ext2 *fs = s->volume[drive];

    s->volume[drive] = s->plain[drive] = NULL;
    if (!fs)
        return 0;
    if (fs->data) {
        ext2_sync(fs); /* an error comes again */
        s->counts[drive] = data_cache_counts(fs->data);
        s->counted[drive] = true;
    }
    return ext2_unmount(fs);
}

int server_shutdown(struct server *s)
{
    struct open_file *file;

    locks_end(s);
    while ((file = open_table_any(&s->opens)))
        ext2_inode_put(open_table_remove(&s->opens, file));
    return each_volume(s, unmount);
}

void server_free(struct server *s)
{
    locks_end(s);
    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++)
        if (s->volume[drive])
            ext2_abandon(s->volume[drive]);
    open_table_free(&s->opens);
    for (uint32_t drive = 0; drive < SERVE_DRIVES; drive++)
        merge_free(s->merge[drive]);
    free(s->counter);
    free(s);
}

struct ext2 *server_volume(struct server *s, uint32_t drive)
{
    return drive < SERVE_DRIVES ? s->volume[drive] : NULL;
}

int server_has_private(struct server *s, uint32_t drive)
{
    struct ext2 *fs = s->volume[drive];
    int error = fs->read_only ? -N_EROFS : fs->has_private ? 0 : ext2_store_private_mark(fs);

    if (error == 0)
        s->plain[drive] = NULL;
    return error;
}

int server_volume_error(const struct server *s, uint32_t drive)
{
    if (drive >= SERVE_DRIVES)
        return -N_ENODEV;
    return s->volume[drive] ? 0 : s->dead[drive] ? -N_EIO : -N_ENODEV;
}
