/*
 * Paths, and the operations on names.
 *
 * A walk resolves a path to the directory that has, or would have, its last name. Symbolic links on the way are
 * replaced in the volume's path buffer by their texts; the last one only where the operation wants it.
 *
 * Each operation first finds out all that can forbid it, then takes what may run out (an inode, room in a directory),
 * then changes entries and link counts. The counts of names go up before a name is added and down after one is
 * removed.
 *
 * Where two directory blocks, or two inodes, would have to reach the disk together, the operation syncs between
 * them: a rename from one block to another, and the unlink of one of several names, make the other name durable before they remove one; a new
 * directory is durable before anything is made in it, and what was in a removed one is gone before it goes.
 */
#include "nsdisk/ext2.h"

#include <string.h>

#include "nsdisk/errors.h"
#include "nsdisk/text.h"

#define DEPTH_MAX 4096u /* of directories, when a rename looks for a cycle; paths cannot reach deeper */

struct walk {
    uint32_t parent; /* directory of the last name */
    uint32_t ino;    /* what the name is; 0: nothing */
    bool slash;      /* the path ended in '/': it means a directory */
    uint8_t type;    /* of the entry, if it has one */
    uint32_t name_bytes;
    char name[EXT2_NAME_MAX_BYTES];
};

/* The rest of a path in fs->path. */
struct rest {
    char *at, *end;
    uint32_t links; /* replaced so far */
};

/* ---- Walking ---- */

/* An inode that a directory names. */
static int named_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out)
{
    int error = ext2_inode_get(fs, ino, out);
    if (error == -N_ESTALE)
        error = ext2_corrupt(fs, "inode %u has a name, but is not in use", ino);
    return error;
}

static int directory_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out)
{
    int error = named_get(fs, ino, out);
    if (error < 0 || ext2_is_dir(*out))
        return error;
    ext2_inode_put(*out);
    return -N_ENOTDIR;
}

/* Takes the next name off the path. Returns its length, 0 at the end. */
static int rest_next(struct rest *rest, const char **name, bool *slash)
{
    while (rest->at < rest->end && *rest->at == '/')
        rest->at++;
    *name = rest->at;
    while (rest->at < rest->end && *rest->at != '/')
        rest->at++;
    uint32_t bytes = (uint32_t)(rest->at - *name);
    *slash = rest->at < rest->end;
    while (rest->at < rest->end && *rest->at == '/')
        rest->at++;
    return bytes > EXT2_NAME_MAX_BYTES ? -N_ENAMETOOLONG : (int)bytes;
}

/* Puts a link's text before the rest of the path. */
static int rest_insert_link(struct ext2 *fs, struct rest *rest, struct ext2_inode *link, bool slash)
{
    uint32_t kept = (uint32_t)(rest->end - rest->at) + slash;
    if (++rest->links > EXT2_SYMLINK_MAX)
        return -N_ELOOP;
    char *tail = fs->path + EXT2_PATH_BYTES - kept;
    memmove(tail + slash, rest->at, kept - slash);
    if (slash)
        *tail = '/';
    int length = ext2_read_symlink(link, fs->path, EXT2_PATH_BYTES - kept);
    if (length < 0)
        return length;
    memmove(fs->path + length, tail, kept);
    rest->at = fs->path;
    rest->end = fs->path + length + kept;
    return 0;
}

static int walk_find(struct ext2 *fs, struct walk *w)
{
    struct ext2_inode *dir;
    struct ext2_slot slot = {0};
    int error = directory_get(fs, w->parent, &dir);
    if (error < 0)
        return error;
    error = ext2_dir_find(dir, w->name, w->name_bytes, &slot);
    if (error == 0) {
        w->ino = slot.ino;
        w->type = slot.type;
        ext2_slot_put(&slot);
    }
    ext2_inode_put(dir);
    return error;
}

/* If the found name is a link that is to be followed, replaces it: 1. Else 0. */
static int walk_link(struct ext2 *fs, struct walk *w, struct rest *rest, bool follow)
{
    struct ext2_inode *link;
    bool last = rest->at == rest->end;
    bool may_be_link = w->type == EXT2_FT_SYMLINK || w->type == EXT2_FT_UNKNOWN;
    if (!may_be_link || (last && !follow && !w->slash))
        return 0;
    int result = named_get(fs, w->ino, &link);
    if (result < 0)
        return result;
    if (ext2_is_symlink(link)) {
        result = rest_insert_link(fs, rest, link, w->slash);
        result = result < 0 ? result : 1;
    }
    ext2_inode_put(link);
    return result;
}

/* One name further from the directory w->ino. Returns 1 to go on, 0 at the end. */
static int walk_step(struct ext2 *fs, struct walk *w, struct rest *rest, bool follow)
{
    const char *name;
    bool slash;
    int length = rest_next(rest, &name, &slash);
    if (length <= 0)
        return length;
    w->parent = w->ino;
    w->ino = 0;
    w->slash = slash;
    w->name_bytes = (uint32_t)length;
    memcpy(w->name, name, w->name_bytes);
    int result = walk_find(fs, w);
    if (result == -N_ENOENT && rest->at == rest->end)
        return 0;
    if (result == 0)
        result = walk_link(fs, w, rest, follow);
    if (result > 0)
        w->ino = *rest->at == '/' ? EXT2_ROOT_INO : w->parent;
    return result < 0 ? result : 1;
}

/* Resolves a path; an absent last name is no error here. follow: the last name too. */
static int walk(struct ext2 *fs, struct ext2_path path, bool follow, struct walk *w)
{
    struct rest rest = {fs->path, fs->path + path.bytes, 0};
    struct ext2_inode *inode;
    if (path.bytes > EXT2_PATH_BYTES / 2)
        return -N_ENAMETOOLONG;
    memcpy(fs->path, path.text, path.bytes);
    *w = (struct walk){.parent = EXT2_ROOT_INO, .ino = EXT2_ROOT_INO, .type = EXT2_FT_DIRECTORY, .name_bytes = 1,
                       .name = "."};
    int result;
    do
        result = walk_step(fs, w, &rest, follow);
    while (result > 0);
    if (result == 0 && w->slash && w->ino != 0) {
        result = directory_get(fs, w->ino, &inode);
        if (result == 0)
            ext2_inode_put(inode);
    }
    return result;
}

/* "." or "..": names that operations may not make or remove. */
static bool walk_is_dots(const struct walk *w)
{
    return w->name[0] == '.' && (w->name_bytes == 1 || (w->name_bytes == 2 && w->name[1] == '.'));
}

int ext2_lookup(struct ext2 *fs, struct ext2_path path, struct ext2_inode **out)
{
    struct walk w;
    int error = walk(fs, path, true, &w);
    if (error < 0)
        return error;
    return w.ino == 0 ? -N_ENOENT : named_get(fs, w.ino, out);
}

/* ---- Making ---- */

/* Adds a name to a directory that has not got it; inode->links already counts it. */
static int name_add(struct ext2_inode *dir, const struct walk *w, struct ext2_inode *inode)
{
    struct ext2_slot slot;
    int error = ext2_dir_make_room(dir, w->name_bytes, &slot);
    if (error < 0)
        return error;
    ext2_dir_fill(dir, &slot, w->name, w->name_bytes, inode->ino, ext2_dir_type(inode->mode));
    return ext2_inode_store(dir);
}

/* A new file of any type in an absent name's place. */
static int make(struct ext2 *fs, const struct walk *w, uint16_t mode, struct ext2_inode **out)
{
    struct ext2_inode *dir, *inode;
    int error = directory_get(fs, w->parent, &dir);
    if (error < 0)
        return error;
    bool directory = (mode & EXT2_S_IFMT) == EXT2_S_IFDIR;
    error = directory && dir->links >= EXT2_LINK_MAX ? -N_EMLINK : ext2_inode_new(fs, w->parent, mode, &inode);
    if (error == 0) {
        inode->links = directory ? 2 : 1;
        error = directory ? ext2_dir_start(inode, dir->ino) : 0;
        if (error == 0)
            error = ext2_inode_store(inode);
        if (error == 0)
            error = name_add(dir, w, inode);
        if (error == 0) {
            dir->links += directory;
            error = ext2_inode_store(dir);
        } else {
            inode->links = 0; /* the put gives all back */
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
    struct walk w;
    int error = walk(fs, path, !exclusive, &w);
    if (error < 0)
        return error;
    if (w.ino != 0)
        return exclusive ? -N_EEXIST : named_get(fs, w.ino, out);
    if (w.slash)
        return -N_EISDIR;
    error = ext2_begin(fs);
    return error < 0 ? error : make(fs, &w, (uint16_t)(EXT2_S_IFREG | (mode & 07777)), out);
}

int ext2_mkdir(struct ext2 *fs, struct ext2_path path, uint16_t mode)
{
    struct walk w;
    struct ext2_inode *inode;
    int error = walk(fs, path, false, &w);
    if (error == 0)
        error = w.ino != 0 ? -N_EEXIST : ext2_begin(fs);
    if (error == 0)
        error = make(fs, &w, (uint16_t)(EXT2_S_IFDIR | (mode & 07777)), &inode);
    if (error < 0)
        return error;
    ext2_inode_put(inode);
    return ext2_sync(fs);
}

int ext2_link(struct ext2 *fs, struct ext2_path from, struct ext2_path to)
{
    struct walk old, new;
    struct ext2_inode *inode, *dir;
    int error = walk(fs, from, false, &old);
    if (error == 0)
        error = old.ino == 0 ? -N_ENOENT : walk(fs, to, false, &new);
    if (error == 0)
        error = new.ino != 0 ? -N_EEXIST : new.slash ? -N_ENOENT : named_get(fs, old.ino, &inode);
    if (error < 0)
        return error;
    error = ext2_is_dir(inode) ? -N_EPERM : inode->links >= EXT2_LINK_MAX ? -N_EMLINK : ext2_begin(fs);
    if (error == 0)
        error = directory_get(fs, new.parent, &dir);
    if (error == 0) {
        inode->links++;
        error = name_add(dir, &new, inode);
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

/* Takes one name away from an inode; the caller still holds it. For a directory also its own ".". */
static int links_drop(struct ext2_inode *inode)
{
    uint16_t n = ext2_is_dir(inode) ? 2 : 1;
    inode->links = inode->links > n ? (uint16_t)(inode->links - n) : 0;
    inode->ctime_s = ext2_now(inode->fs);
    return ext2_inode_store(inode);
}

static int name_remove(struct ext2_inode *dir, const struct walk *w)
{
    struct ext2_slot slot;
    int error = ext2_dir_find(dir, w->name, w->name_bytes, &slot);
    if (error < 0)
        return error;
    ext2_dir_remove(dir, &slot);
    return ext2_inode_store(dir);
}

/* Removes a name whose removal nothing forbids. */
static int unmake(struct ext2 *fs, const struct walk *w, struct ext2_inode *inode)
{
    struct ext2_inode *dir;
    int error = directory_get(fs, w->parent, &dir);
    if (error < 0)
        return error;
    if (ext2_is_dir(inode) && dir->links > 2)
        dir->links--;
    error = name_remove(dir, w);
    if (error == 0)
        error = links_drop(inode);
    ext2_inode_put(dir);
    return error;
}

int ext2_unlink(struct ext2 *fs, struct ext2_path path)
{
    struct walk w;
    struct ext2_inode *inode;
    int error = walk(fs, path, false, &w);
    if (error == 0)
        error = w.ino == 0 ? -N_ENOENT : named_get(fs, w.ino, &inode);
    if (error < 0)
        return error;
    error = ext2_is_dir(inode) ? -N_EISDIR : ext2_begin(fs);
    if (error == 0 && inode->links > 1)
        error = ext2_sync(fs);
    if (error == 0)
        error = unmake(fs, &w, inode);
    int put = ext2_inode_put(inode);
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
    struct walk w;
    struct ext2_inode *inode;
    int error = walk(fs, path, false, &w);
    if (error < 0)
        return error;
    if (w.ino == EXT2_ROOT_INO)
        return -N_EBUSY;
    if (w.ino == 0)
        return -N_ENOENT;
    if (walk_is_dots(&w))
        return w.name_bytes == 1 ? -N_EINVAL : -N_ENOTEMPTY;
    error = named_get(fs, w.ino, &inode);
    if (error < 0)
        return error;
    error = rmdir_check(inode);
    if (error == 0)
        error = ext2_sync(fs);
    if (error == 0)
        error = unmake(fs, &w, inode);
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

/* ---- Renaming ---- */

struct rename {
    struct walk old, new;
    struct ext2_inode *inode;            /* what is renamed */
    struct ext2_inode *target;           /* what loses its name; NULL: nothing */
    struct ext2_inode *old_dir, *new_dir; /* the same copy, held twice, within one directory */
};

/* Is `ino` the directory `below`, or above it? */
static int is_above(struct ext2 *fs, uint32_t ino, uint32_t below)
{
    for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
        struct ext2_inode *dir;
        struct ext2_slot slot;
        if (below == ino)
            return 1;
        if (below == EXT2_ROOT_INO)
            return 0;
        int error = directory_get(fs, below, &dir);
        if (error < 0)
            return error;
        error = ext2_dir_find(dir, "..", 2, &slot);
        ext2_inode_put(dir);
        if (error < 0)
            return ext2_corrupt(fs, "directory inode %u has no \"..\"", below);
        below = slot.ino;
        ext2_slot_put(&slot);
    }
    return ext2_corrupt(fs, "directory inode %u: the root is not above it", below);
}

static int rename_check_target(const struct rename *r)
{
    if (ext2_is_dir(r->inode) && !ext2_is_dir(r->target))
        return -N_ENOTDIR;
    if (!ext2_is_dir(r->target))
        return 0;
    if (!ext2_is_dir(r->inode))
        return -N_EISDIR;
    int empty = ext2_dir_is_empty(r->target);
    return empty < 0 ? empty : empty == 0 ? -N_ENOTEMPTY : 0;
}

static int rename_check(struct ext2 *fs, const struct rename *r)
{
    int error = r->target == NULL ? 0 : rename_check_target(r);
    if (error < 0)
        return error;
    if (!ext2_is_dir(r->inode))
        return (r->old.slash || r->new.slash) ? -N_ENOTDIR : 0;
    int above = is_above(fs, r->inode->ino, r->new_dir->ino);
    if (above != 0)
        return above < 0 ? above : -N_EINVAL;
    bool gains_link = r->new_dir != r->old_dir && r->target == NULL;
    return gains_link && r->new_dir->links >= EXT2_LINK_MAX ? -N_EMLINK : 0;
}

/* Writes the new name, over the old target's entry if there is one. */
static int rename_add(struct rename *r)
{
    struct ext2_slot slot;
    if (r->target == NULL)
        return name_add(r->new_dir, &r->new, r->inode);
    int error = ext2_dir_find(r->new_dir, r->new.name, r->new.name_bytes, &slot);
    if (error < 0)
        return error;
    ext2_dir_point(r->new_dir, &slot, r->inode->ino, ext2_dir_type(r->inode->mode));
    ext2_slot_put(&slot);
    return ext2_inode_store(r->new_dir);
}

/* A directory that changes its parent: its ".." and both parents' counts of links. */
static int rename_reparent(struct rename *r)
{
    struct ext2_slot slot;
    int error = ext2_dir_find(r->inode, "..", 2, &slot);
    if (error < 0)
        return ext2_corrupt(r->inode->fs, "directory inode %u has no \"..\"", r->inode->ino);
    ext2_dir_point(r->inode, &slot, r->new_dir->ino, EXT2_FT_DIRECTORY);
    ext2_slot_put(&slot);
    r->new_dir->links++;
    if (r->old_dir->links > 2)
        r->old_dir->links--;
    error = ext2_inode_store(r->new_dir);
    return error < 0 ? error : ext2_inode_store(r->old_dir);
}

static int rename_drop_target(struct rename *r)
{
    if (ext2_is_dir(r->target) && r->new_dir->links > 2) {
        r->new_dir->links--;
        int error = ext2_inode_store(r->new_dir);
        if (error < 0)
            return error;
    }
    return links_drop(r->target);
}

/* Both names in one directory block change together. 1, 0 or an error. */
static int rename_is_one_write(const struct rename *r)
{
    struct ext2_slot old, new;
    if (r->old_dir != r->new_dir || r->target != NULL)
        return 0;
    int error = ext2_dir_find(r->old_dir, r->old.name, r->old.name_bytes, &old);
    if (error < 0)
        return error;
    error = ext2_dir_find(r->new_dir, r->new.name, r->new.name_bytes, &new);
    int same = error < 0 ? error : old.block == new.block;
    if (error == 0)
        ext2_slot_put(&new);
    ext2_slot_put(&old);
    return same;
}

static int rename_invoke(struct ext2 *fs, struct rename *r)
{
    int error = rename_add(r);
    if (error == 0 && ext2_is_dir(r->inode) && r->old_dir != r->new_dir)
        error = rename_reparent(r);
    int one_write = error < 0 ? error : rename_is_one_write(r);
    if (error == 0 && one_write <= 0)
        error = one_write < 0 ? one_write : ext2_sync(fs);
    if (error == 0)
        error = name_remove(r->old_dir, &r->old);
    if (error == 0 && r->target != NULL)
        error = rename_drop_target(r);
    r->inode->ctime_s = ext2_now(fs);
    int stored = ext2_inode_store(r->inode);
    return error < 0 ? error : stored;
}

/* ---- Sheltering ----
 * A file that loses its last name to a rename would be in use without a name until it is deleted, if the power fails
 * in between, and e2fsck -p would stop there. So it is first given the name that e2fsck would give it. Where there is no
 * lost+found, only a human at e2fsck is the worse for it.
 */
#define SHELTER_BYTES 32u

static struct ext2_path shelter_path(char text[SHELTER_BYTES], uint32_t ino)
{
    size_t bytes = text_format(text, SHELTER_BYTES, "/lost+found/#%u", ino);
    return (struct ext2_path){text, (uint32_t)bytes};
}

static int rename_sheltered(struct ext2 *fs, struct rename *r, struct ext2_path to)
{
    char text[SHELTER_BYTES];
    struct ext2_path shelter = shelter_path(text, r->target->ino);
    bool sheltered = ext2_link(fs, to, shelter) == 0;
    int error = ext2_sync(fs);
    if (error == 0)
        error = rename_invoke(fs, r);
    int removed = sheltered ? ext2_unlink(fs, shelter) : 0;
    return error < 0 ? error : removed;
}

static bool needs_shelter(const struct rename *r)
{
    return r->target != NULL && !ext2_is_dir(r->target) && r->target->links == 1;
}

/* ---- Putting it together ---- */

/* Holds all that takes part. */
static int rename_get(struct ext2 *fs, struct rename *r)
{
    int error = named_get(fs, r->old.ino, &r->inode);
    if (error == 0 && r->new.ino != 0)
        error = named_get(fs, r->new.ino, &r->target);
    if (error == 0)
        error = directory_get(fs, r->old.parent, &r->old_dir);
    if (error == 0)
        error = directory_get(fs, r->new.parent, &r->new_dir);
    return error;
}

static int rename_put(struct rename *r)
{
    ext2_inode_put(r->new_dir);
    ext2_inode_put(r->old_dir);
    ext2_inode_put(r->inode);
    return ext2_inode_put(r->target);
}

int ext2_rename(struct ext2 *fs, struct ext2_path from, struct ext2_path to)
{
    struct rename r = {0};
    int error = walk(fs, from, false, &r.old);
    if (error == 0)
        error = r.old.ino == 0 ? -N_ENOENT : walk(fs, to, false, &r.new);
    if (error < 0)
        return error;
    if (walk_is_dots(&r.old) || walk_is_dots(&r.new))
        return -N_EINVAL;
    error = rename_get(fs, &r);
    if (error == 0 && r.inode != r.target) {
        error = rename_check(fs, &r);
        if (error == 0)
            error = ext2_begin(fs);
        if (error == 0)
            error = needs_shelter(&r) ? rename_sheltered(fs, &r, to) : rename_invoke(fs, &r);
    }
    int put = rename_put(&r);
    return error < 0 ? error : put;
}
