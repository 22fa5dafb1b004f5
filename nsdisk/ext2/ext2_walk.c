/*
 * Walking paths. Symbolic links on the way are replaced in the volume's path buffer by their texts; the last one only
 * where the operation wants it.
 */
#include "nsdisk/ext2/ext2_walk.h"

#include <string.h>

#include "vertex/contract/errors.h"

/* The rest of a path in fs->path. */
struct rest {
    char *at, *end;
    uint32_t links; /* replaced so far */
};

/* ---- Walking ---- */

int ext2_named_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out)
{
    int error = ext2_inode_get(fs, ino, out);

    if (error == -N_ESTALE)
        error = ext2_corrupt(fs, "inode %u has a name, but is not in use", ino);
    return error;
}

int ext2_directory_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out)
{
    int error = ext2_named_get(fs, ino, out);

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

static int walk_find(struct ext2 *fs, struct ext2_walk *w)
{
    struct ext2_inode *dir;
    struct ext2_slot slot = {0};
    int error = ext2_directory_get(fs, w->parent, &dir);

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
static int walk_link(struct ext2 *fs, struct ext2_walk *w, struct rest *rest, bool follow)
{
    struct ext2_inode *link;
    bool last = rest->at == rest->end;
    bool may_be_link = w->type == EXT2_FT_SYMLINK || w->type == EXT2_FT_UNKNOWN;

    if (!may_be_link || (last && !follow && !w->slash))
        return 0;
    int result = ext2_named_get(fs, w->ino, &link);
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
static int walk_step(struct ext2 *fs, struct ext2_walk *w, struct rest *rest, bool follow)
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

int ext2_walk(struct ext2 *fs, struct ext2_path path, bool follow, struct ext2_walk *w)
{
    struct rest rest = {fs->path, fs->path + path.bytes, 0};
    struct ext2_inode *inode;

    if (path.bytes > EXT2_PATH_BYTES / 2)
        return -N_ENAMETOOLONG;
    memcpy(fs->path, path.text, path.bytes);
    *w = (struct ext2_walk){
        .parent = EXT2_ROOT_INO, .ino = EXT2_ROOT_INO, .type = EXT2_FT_DIRECTORY, .name_bytes = 1, .name = "."};
    int result;
    do
        result = walk_step(fs, w, &rest, follow);
    while (result > 0);
    if (result == 0 && w->slash && w->ino != 0) {
        result = ext2_directory_get(fs, w->ino, &inode);
        if (result == 0)
            ext2_inode_put(inode);
    }
    return result;
}

int ext2_lookup(struct ext2 *fs, struct ext2_path path, bool follow, struct ext2_inode **out)
{
    struct ext2_walk w;
    int error = ext2_walk(fs, path, follow, &w);

    if (error < 0)
        return error;
    return w.ino == 0 ? -N_ENOENT : ext2_named_get(fs, w.ino, out);
}
