/*
 * Requests on names, and on the attributes of files and volumes (serve.h).
 */
#include "nsdisk/serve/serve_state.h"
#include "vertex/contract/errors.h"

struct file_stat serve_stat_of(const struct server *s, const struct ext2_inode *inode, uint32_t drive)
{
    return (struct file_stat){
        .size_bytes = inode->size_bytes,
        .blocks_512 = inode->blocks_512,
        .ino = inode->ino,
        .mode = inode->mode,
        .nlink = inode->links,
        .uid = inode->uid,
        .gid = inode->gid,
        .block_bytes = inode->fs->block_bytes,
        .dev = s->node << 8 | drive,
        .atime_s = inode->atime_s,
        .mtime_s = inode->mtime_s,
        .ctime_s = inode->ctime_s,
    };
}

/* ---- Names ---- */

static int lookup_named(const struct call *c, struct ext2_inode **inode)
{
    return ext2_lookup(c->fs, c->name, (c->r.flags & N_O_NOFOLLOW) == 0, inode);
}

int64_t invoke_stat_name(struct server *s, struct call *c)
{
    struct ext2_inode *inode;
    int error = lookup_named(c, &inode);

    if (error < 0)
        return error;
    struct file_stat stat = serve_stat_of(s, inode, c->r.drive);
    reply_payload(c, &stat, sizeof stat);
    return ext2_inode_put(inode);
}

int64_t invoke_read_name(struct server *s, struct call *c)
{
    (void)s;
    struct ext2_inode *inode;
    size_t bytes = c->r.bytes < c->payload_max ? c->r.bytes : c->payload_max;
    int64_t n = ext2_lookup(c->fs, c->name, true, &inode);
    if (n < 0)
        return n;
    n = ext2_is_file(inode)  ? ext2_read(inode, 0, c->payload, (uint32_t)bytes)
        : ext2_is_dir(inode) ? -N_EISDIR
                             : -N_ENOTSUP;
    int put = ext2_inode_put(inode);
    if (n >= 0 && put < 0)
        n = put;
    c->payload_bytes = n > 0 ? (size_t)n : 0;
    return n;
}

/* A request that one call carries out. */
#define INVOKE(name, result)                                \
    int64_t invoke_##name(struct server *s, struct call *c) \
    {                                                       \
        (void)s;                                            \
        return result;                                      \
    }

INVOKE(make, ext2_make_file(c->fs, c->name, (uint16_t)c->r.mode, (struct ext2_path){(const char *)c->data, c->r.bytes}))
INVOKE(rename, ext2_rename(c->fs, c->name, c->name2))
INVOKE(link, ext2_link(c->fs, c->name, c->name2))
INVOKE(mkdir, ext2_mkdir(c->fs, c->name, (uint16_t)c->r.mode))
INVOKE(rmdir, ext2_rmdir(c->fs, c->name))

int64_t invoke_unlink(struct server *s, struct call *c)
{
    (void)s;
    int error = ext2_unlink(c->fs, c->name);

    if (__builtin_expect(c->r.mode == 0, 1))
        return error;
    int synced = ext2_sync(c->fs);
    return error < 0 ? error : synced;
}

/* Every client is the superuser, as on the machine, whose files had one owner: it may read and write all, and
 * execute what anyone may execute. */
int64_t invoke_access(struct server *s, struct call *c)
{
    (void)s;
    enum { EXECUTE = 1, WRITE = 2, ALL = 7, ANYONE_EXECUTES = 0111 };
    struct ext2_inode *inode;
    if (c->r.mode & ~(uint32_t)ALL)
        return -N_EINVAL;
    int64_t result = ext2_lookup(c->fs, c->name, true, &inode);
    if (result < 0)
        return result;
    if ((c->r.mode & WRITE) && c->fs->read_only)
        result = -N_EROFS;
    else if ((c->r.mode & EXECUTE) && !ext2_is_dir(inode) && (inode->mode & ANYONE_EXECUTES) == 0)
        result = -N_EACCES;
    ext2_inode_put(inode);
    return result;
}

int64_t invoke_symlink(struct server *s, struct call *c)
{
    (void)s;
    if (memchr(c->data, '\0', c->r.bytes))
        return -N_EPROTO;
    return ext2_symlink(c->fs, c->name, (struct ext2_path){(const char *)c->data, c->r.bytes});
}

int64_t invoke_readlink(struct server *s, struct call *c)
{
    (void)s;
    char text[EXT2_PATH_BYTES];
    struct ext2_inode *inode;
    int result = ext2_lookup(c->fs, c->name, false, &inode);
    if (result < 0)
        return result;
    result = ext2_is_symlink(inode) ? ext2_read_symlink(inode, text, sizeof text) : -N_EINVAL;
    int put = ext2_inode_put(inode);
    size_t room = c->r.bytes < c->payload_max ? c->r.bytes : c->payload_max;
    if (result < 0 || put < 0)
        return result < 0 ? result : put;
    reply_payload(c, text, (size_t)result < room ? (size_t)result : room);
    return (int64_t)c->payload_bytes;
}

/* ---- Attributes ---- */

static int64_t set_attributes(struct ext2_inode *inode, const struct call *c)
{
    struct file_attr a;

    if (c->r.bytes != sizeof a)
        return -N_EPROTO;
    memcpy(&a, c->data, sizeof a);
    bool times_fit = a.atime_s >= 0 && a.atime_s <= UINT32_MAX && a.mtime_s >= 0 && a.mtime_s <= UINT32_MAX;
    if ((a.what & ~(uint32_t)FILE_ATTR_ALL) || ((a.what & (FILE_ATTR_ATIME | FILE_ATTR_MTIME)) && !times_fit))
        return -N_EINVAL;
    int error = ext2_begin(inode->fs);
    if (error < 0)
        return error;
    if (a.what & FILE_ATTR_MODE)
        inode->mode = (uint16_t)((inode->mode & EXT2_S_IFMT) | (a.mode & 07777));
    if (a.what & FILE_ATTR_UID)
        inode->uid = a.uid;
    if (a.what & FILE_ATTR_GID)
        inode->gid = a.gid;
    if (a.what & FILE_ATTR_ATIME)
        inode->atime_s = (uint32_t)a.atime_s;
    if (a.what & FILE_ATTR_MTIME)
        inode->mtime_s = (uint32_t)a.mtime_s;
    inode->ctime_s = ext2_now(inode->fs);
    return ext2_inode_store(inode);
}

INVOKE(set_attributes, set_attributes(c->file->inode, c))

int64_t invoke_set_attributes_of_name(struct server *s, struct call *c)
{
    (void)s;
    struct ext2_inode *inode;
    int error = lookup_named(c, &inode);
    if (error < 0)
        return error;
    int64_t result = set_attributes(inode, c);
    int put = ext2_inode_put(inode);
    return result < 0 ? result : put;
}

int64_t invoke_statfs(struct server *s, struct call *c)
{
    (void)s;
    struct file_statfs statfs = {
        .blocks = c->fs->blocks,
        .blocks_free = c->fs->free_blocks + c->fs->freed_blocks,
        .inodes = c->fs->inodes,
        .inodes_free = c->fs->free_inodes + c->fs->freed_inodes,
        .block_bytes = c->fs->block_bytes,
    };
    reply_payload(c, &statfs, sizeof statfs);
    return 0;
}
