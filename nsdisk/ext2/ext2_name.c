/*
 * Making and removing names. Each operation first finds out all that can forbid it, then takes what may run out (an
 * inode, room in a directory), then changes entries and link counts.
 *
 * Where two directory blocks, or two inodes, would have to reach the disk together, the operation syncs between them:
 * the unlink of one of several names makes the other name durable before it removes one; a new directory is durable
 * before anything is made in it, and what was in a removed one is gone before it goes.
 */
#include "nsdisk/ext2/ext2_walk.h"

#include "vertex/contract/errors.h"

/* ---- Making ---- */

int ext2_name_add(struct ext2_inode *dir, const struct ext2_walk *w, struct ext2_inode *inode)
{
    struct ext2_slot slot;
    int error = ext2_dir_make_room(dir, w->name_bytes, &slot);

    if (error < 0)
        return error;
    ext2_dir_fill(dir, &slot, w->name, w->name_bytes, inode->ino, ext2_dir_type(inode->mode));
    return ext2_inode_store_times(dir); /* its growth is stored already */
}

static int fill(struct ext2_inode *inode, struct ext2_path content)
{
    if (ext2_is_symlink(inode))
        return ext2_write_symlink(inode, content);
    int64_t n = ext2_write(inode, 0, content.text, content.bytes);
    return n < 0 ? (int)n : n < content.bytes ? -N_ENOSPC : 0;
}

/* A new file of any type in an absent name's place, with its content: what a symbolic link says. */
static int make(struct ext2 *fs, const struct ext2_walk *w, uint16_t mode, struct ext2_path content,
                struct ext2_inode **out)
{
    struct ext2_inode *dir, *inode;
    int error = ext2_directory_get(fs, w->parent, &dir);

    if (error < 0)
        return error;
    bool directory = (mode & EXT2_S_IFMT) == EXT2_S_IFDIR;
    error = directory && dir->links >= EXT2_LINK_MAX ? -N_EMLINK : ext2_inode_new(fs, w->parent, mode, &inode);
    if (error == 0) {
        inode->links = directory ? 2 : 1;
        error = directory ? ext2_dir_start(inode, dir->ino) : content.bytes ? fill(inode, content) : 0;
        if (error == 0)
            error = ext2_inode_store(inode);
        if (error == 0)
            error = ext2_name_add(dir, w, inode);
        if (error < 0) {
            inode->links = 0; /* the put gives all back */
        } else if (directory) {
            dir->links++;
            error = ext2_inode_store(dir);
        }
        *out = inode;
        if (error < 0)
            ext2_inode_put(inode);
    }
    ext2_inode_put(dir);
    return error;
}

int ext2_create(struct ext2 *fs, struct ext2_path path, uint16_t mode, bool exclusive, struct ext2_inode **out)
{
    struct ext2_walk w;
    int error = ext2_walk(fs, path, !exclusive, &w);

    if (error < 0)
        return error;
    if (w.ino != 0)
        return exclusive ? -N_EEXIST : ext2_named_get(fs, w.ino, out);
    if (w.slash)
        return -N_EISDIR;
    error = ext2_begin(fs);
    return error < 0 ? error : make(fs, &w, (uint16_t)(EXT2_S_IFREG | (mode & 07777)), (struct ext2_path){0}, out);
}

/* A new file in the place of a name that nothing has. on_slash: the error of a path that ends in '/', or 0. */
static int make_absent(struct ext2 *fs, struct ext2_path path, uint16_t mode, int on_slash, struct ext2_path content,
                       struct ext2_inode **out)
{
    struct ext2_walk w;
    int error = ext2_walk(fs, path, false, &w);

    if (error == 0)
        error = w.ino != 0 ? -N_EEXIST : w.slash && on_slash ? on_slash : ext2_begin(fs);
    return error < 0 ? error : make(fs, &w, mode, content, out);
}

/* The same, durable and put. */
static int make_durable(struct ext2 *fs, struct ext2_path path, uint16_t mode, int on_slash, struct ext2_path content)
{
    struct ext2_inode *inode;
    int error = make_absent(fs, path, mode, on_slash, content, &inode);

    if (error < 0)
        return error;
    int put = ext2_inode_put(inode), synced = ext2_sync(fs);
    return put < 0 ? put : synced;
}

int ext2_make_file(struct ext2 *fs, struct ext2_path path, uint16_t mode, struct ext2_path content)
{
    return make_durable(fs, path, (uint16_t)(EXT2_S_IFREG | (mode & 07777)), -N_EISDIR, content);
}

int ext2_mkdir(struct ext2 *fs, struct ext2_path path, uint16_t mode)
{
    return make_durable(fs, path, (uint16_t)(EXT2_S_IFDIR | (mode & 07777)), 0, (struct ext2_path){0});
}

int ext2_symlink(struct ext2 *fs, struct ext2_path path, struct ext2_path text)
{
    struct ext2_inode *inode;

    if (text.bytes == 0 || text.bytes >= fs->block_bytes)
        return text.bytes == 0 ? -N_ENOENT : -N_ENAMETOOLONG;
    int error = make_absent(fs, path, EXT2_S_IFLNK | 0777, -N_ENOENT, text, &inode);
    return error < 0 ? error : ext2_inode_put(inode);
}

int ext2_link(struct ext2 *fs, struct ext2_path from, struct ext2_path to)
{
    struct ext2_walk old, new;
    struct ext2_inode *inode, *dir;
    int error = ext2_walk(fs, from, false, &old);

    if (error == 0)
        error = old.ino == 0 ? -N_ENOENT : ext2_walk(fs, to, false, &new);
    if (error == 0)
        error = new.ino != 0 ? -N_EEXIST : new.slash ? -N_ENOENT : ext2_named_get(fs, old.ino, &inode);
    if (error < 0)
        return error;
    error = ext2_is_dir(inode) ? -N_EPERM : inode->links >= EXT2_LINK_MAX ? -N_EMLINK : ext2_begin(fs);
    if (error == 0)
        error = ext2_directory_get(fs, new.parent, &dir);
    if (error == 0) {
        inode->links++;
        error = ext2_name_add(dir, &new, inode);
        inode->links -= error < 0;
        inode->ctime_s = ext2_now(fs);
        int stored = ext2_inode_store(inode);
        error = error < 0 ? error : stored;
        ext2_inode_put(dir);
    }
    ext2_inode_put(inode);
    return error;
}

/* ---- Removing ---- */

int ext2_links_drop(struct ext2_inode *inode)
{
    uint16_t n = ext2_is_dir(inode) ? 2 : 1;

    inode->links = inode->links > n ? (uint16_t)(inode->links - n) : 0;
    inode->ctime_s = ext2_now(inode->fs);
    return ext2_inode_store(inode);
}

int ext2_name_remove(struct ext2_inode *dir, const struct ext2_walk *w)
{
    struct ext2_slot slot;
    int error = ext2_dir_find(dir, w->name, w->name_bytes, &slot);

    if (error < 0)
        return error;
    ext2_dir_remove(dir, &slot);
    return ext2_inode_store(dir);
}

/* Removes a name whose removal nothing forbids. */
static int unmake(struct ext2 *fs, const struct ext2_walk *w, struct ext2_inode *inode)
{
    struct ext2_inode *dir;
    int error = ext2_directory_get(fs, w->parent, &dir);

    if (error < 0)
        return error;
    if (ext2_is_dir(inode) && dir->links > 2)
        dir->links--;
    error = ext2_name_remove(dir, w);
    if (error == 0)
        error = ext2_links_drop(inode);
    ext2_inode_put(dir);
    return error;
}

/* Removes a name, once `check` has found nothing that forbids it. */
static int remove_checked(struct ext2 *fs, const struct ext2_walk *w, int (*check)(struct ext2_inode *inode))
{
    struct ext2_inode *inode;
    int error = ext2_named_get(fs, w->ino, &inode);

    if (error < 0)
        return error;
    error = check(inode);
    if (error == 0 && (ext2_is_dir(inode) || inode->links > 1))
        error = ext2_sync(fs);
    if (error == 0)
        error = unmake(fs, w, inode);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

static int unlink_check(struct ext2_inode *inode)
{
    return ext2_is_dir(inode) ? -N_EISDIR : ext2_begin(inode->fs);
}

int ext2_unlink(struct ext2 *fs, struct ext2_path path)
{
    struct ext2_walk w;
    int error = ext2_walk(fs, path, false, &w);

    return error < 0 ? error : w.ino == 0 ? -N_ENOENT : remove_checked(fs, &w, unlink_check);
}

int ext2_drop_dead(struct ext2 *fs, struct ext2_path path)
{
    struct ext2_inode *inode, *dir;
    struct ext2_walk w;
    const bool skip = fs->clean_before || fs->read_only;
    int error = skip ? 0 : ext2_walk(fs, path, false, &w);

    if (skip || error < 0 || w.ino == 0)
        return error == -N_ENOENT ? 0 : error;
    error = ext2_inode_get(fs, w.ino, &inode);
    if (error != -N_ESTALE)
        return error < 0 ? error : ext2_inode_put(inode);
    error = ext2_begin(fs);
    if (error == 0)
        error = ext2_directory_get(fs, w.parent, &dir);
    if (error < 0)
        return error;
    error = ext2_name_remove(dir, &w);
    int put = ext2_inode_put(dir);
    return error < 0 ? error : put;
}

static int rmdir_check(struct ext2_inode *inode)
{
    if (!ext2_is_dir(inode))
        return -N_ENOTDIR;
    int empty = ext2_dir_is_empty(inode);
    return empty < 0 ? empty : empty == 0 ? -N_ENOTEMPTY : ext2_begin(inode->fs);
}

int ext2_rmdir(struct ext2 *fs, struct ext2_path path)
{
    struct ext2_walk w;
    int error = ext2_walk(fs, path, false, &w);

    if (error < 0)
        return error;
    if (w.ino == EXT2_ROOT_INO)
        return -N_EBUSY;
    if (w.ino == 0)
        return -N_ENOENT;
    if (ext2_is_dots(w.name, w.name_bytes))
        return w.name_bytes == 1 ? -N_EINVAL : -N_ENOTEMPTY;
    return remove_checked(fs, &w, rmdir_check);
}
