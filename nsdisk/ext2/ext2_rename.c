/*
 * Renaming, in all the cases of POSIX: checked first, then done in an order that leaves a whole file under a name at
 * any crash. A rename from one directory block to another makes the new name durable before it removes the old one.
 *
 * Not so for directories: e2fsck -p stops at two names of one, at one without a name, and at a ".." that is not where
 * the name is, and these three are in blocks of their own. So they change at once, by a journal (ext2_journal.h).
 */
#include "nsdisk/ext2/ext2_journal.h"
#include "nsdisk/ext2/ext2_walk.h"

#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

struct rename {
    struct ext2_walk old, new;
    struct ext2_inode *inode;             /* to be renamed */
    struct ext2_inode *target;            /* what loses its name; NULL: nothing */
    struct ext2_inode *old_dir, *new_dir; /* the same copy, held twice, within one directory */
};

/* Is `ino` the directory `below`, or above it? Directories that are above each other are noticed by one that was met
 * already: of those met, the last whose depth was a power of two is remembered. */
static int is_above(struct ext2 *fs, uint32_t ino, uint32_t below)
{
    uint32_t met = 0;

    for (uint32_t depth = 1; below != met; depth++) {
        struct ext2_inode *dir;
        struct ext2_slot slot;

        if (below == ino)
            return 1;
        if (below == EXT2_ROOT_INO)
            return 0;
        if ((depth & (depth - 1)) == 0)
            met = below;
        int error = ext2_directory_get(fs, below, &dir);
        if (error < 0)
            return error;
        error = ext2_dir_find(dir, "..", 2, &slot);
        ext2_inode_put(dir);
        if (error < 0)
            return ext2_corrupt(fs, "directory inode %u has no \"..\"", below);
        below = slot.ino;
        ext2_slot_put(&slot);
    }
    return ext2_corrupt(fs, "directory inode %u is its own ancestor", below);
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
    int error = !r->target ? 0 : rename_check_target(r);

    if (error < 0)
        return error;
    if (!ext2_is_dir(r->inode))
        return (r->old.slash || r->new.slash) ? -N_ENOTDIR : 0;
    int above = is_above(fs, r->inode->ino, r->new_dir->ino);
    if (above != 0)
        return above < 0 ? above : -N_EINVAL;
    bool gains_link = r->new_dir != r->old_dir && !r->target;
    return gains_link && r->new_dir->links >= EXT2_LINK_MAX ? -N_EMLINK : 0;
}

/* Writes the new name, over the old target's entry if there is one. */
static int rename_add(struct rename *r)
{
    struct ext2_slot slot;

    if (!r->target)
        return ext2_name_add(r->new_dir, &r->new, r->inode);
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
    return ext2_links_drop(r->target);
}

/* Both names are in one directory block; or, while there is only the old one, the new one has room in its block: both
 * change by one write. 1, 0 or an error. */
static int rename_is_one_write(const struct rename *r, bool added)
{
    struct ext2_slot old, new;

    if (r->old_dir != r->new_dir || r->target)
        return 0;
    int error = ext2_dir_find(r->old_dir, r->old.name, r->old.name_bytes, &old);
    if (error < 0)
        return error;
    error = added ? ext2_dir_find(r->new_dir, r->new.name, r->new.name_bytes, &new)
                  : ext2_dir_make_room(r->new_dir, r->new.name_bytes, &new);
    int same = error < 0 ? error : old.block == new.block;
    if (error == 0)
        ext2_slot_put(&new);
    ext2_slot_put(&old);
    return same;
}

/* sync: between the two names. */
static int rename_change(struct ext2 *fs, struct rename *r, bool sync)
{
    int error = rename_add(r);

    if (error == 0 && ext2_is_dir(r->inode) && r->old_dir != r->new_dir)
        error = rename_reparent(r);
    int one_write = error < 0 || !sync ? error : rename_is_one_write(r, true);
    if (error == 0 && sync && one_write <= 0)
        error = one_write < 0 ? one_write : ext2_sync(fs);
    if (error == 0)
        error = ext2_name_remove(r->old_dir, &r->old);
    if (error == 0 && r->target)
        error = rename_drop_target(r);
    r->inode->ctime_s = ext2_now(fs);
    int stored = ext2_inode_store(r->inode);
    return error < 0 ? error : stored;
}

/* Without room for a journal nothing is changed. A volume that cannot have one has a moment with both names on the
 * disk. */
static int rename_directory(struct ext2 *fs, struct rename *r)
{
    struct ext2_journal journal;
    int error = ext2_journal_open(fs, &journal);

    if (error < 0)
        return error == -N_ENOTSUP ? rename_change(fs, r, true) : error;
    error = rename_change(fs, r, false);
    if (error == 0)
        error = ext2_journal_commit(&journal);
    int closed = ext2_journal_close(&journal);
    return error < 0 ? error : closed;
}

static int rename_invoke(struct ext2 *fs, struct rename *r)
{
    int one_write = ext2_is_dir(r->inode) ? rename_is_one_write(r, false) : 1;

    if (one_write < 0)
        return one_write;
    return one_write ? rename_change(fs, r, true) : rename_directory(fs, r);
}

/* ---- Sheltering ----
 * A file that loses its last name to a rename would be in use without a name until it is deleted, if the power fails
 * in between, and e2fsck -p would stop there. So it is first given the name that e2fsck would give it. On a volume
 * without lost+found it is not: there e2fsck -y has to be asked.
 */
#define SHELTER_BYTES 32u

static struct ext2_path shelter_path(char text[SHELTER_BYTES], uint32_t ino)
{
    size_t bytes = text_print(text, SHELTER_BYTES, "/lost+found/#%u", ino);

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
    return r->target && !ext2_is_dir(r->target) && r->target->links == 1;
}

/* ---- Putting it together ---- */

/* Holds all that takes part. */
static int rename_get(struct ext2 *fs, struct rename *r)
{
    int error = ext2_named_get(fs, r->old.ino, &r->inode);

    if (error == 0 && r->new.ino != 0)
        error = ext2_named_get(fs, r->new.ino, &r->target);
    if (error == 0)
        error = ext2_directory_get(fs, r->old.parent, &r->old_dir);
    if (error == 0)
        error = ext2_directory_get(fs, r->new.parent, &r->new_dir);
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
    int error = ext2_walk(fs, from, false, &r.old);

    if (error == 0)
        error = r.old.ino == 0 ? -N_ENOENT : ext2_walk(fs, to, false, &r.new);
    if (error < 0)
        return error;
    if (ext2_is_dots(r.old.name, r.old.name_bytes) || ext2_is_dots(r.new.name, r.new.name_bytes))
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
