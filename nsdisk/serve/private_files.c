/* Private files (private_files.h). */
#include "nsdisk/serve/private_files.h"

#include "nsdisk/serve/family_names.h"
#include "vertex/contract/errors.h"

int private_folder(struct server *s, uint32_t drive, struct ext2_path path)
{
    struct ext2 *fs = server_volume(s, drive);
    struct ext2_inode *inode;
    int error = server_has_private(s, drive);

    if (error == 0)
        error = family_lookup(fs, path, false, &inode);
    if (error == -N_ENOENT) {
        error = ext2_mkdir(fs, path, 0700);
        if (error == 0)
            error = family_lookup(fs, path, false, &inode);
    }
    if (error < 0)
        return error;
    if ((inode->flags & EXT2_PRIVATE) == 0) {
        inode->flags |= EXT2_PRIVATE;
        error = ext2_inode_store(inode);
    }
    int put = ext2_inode_put(inode);
    return error < 0 ? error : put;
}

int private_file(struct ext2 *fs, struct ext2_path path, struct ext2_inode **out)
{
    int error = ext2_create(fs, path, 0600, false, out);

    if (error < 0 || ((*out)->flags & EXT2_PRIVATE))
        return error;
    if ((*out)->size_bytes != 0 || !ext2_is_file(*out)) { /* somebody else's */
        ext2_inode_put(*out);
        return -N_EPROTO;
    }
    (*out)->flags |= EXT2_PRIVATE;
    error = ext2_inode_store(*out);
    if (error < 0)
        ext2_inode_put(*out);
    return error;
}

int private_file_find(struct ext2 *fs, struct ext2_path path, struct ext2_inode **out)
{
    int error = family_lookup(fs, path, false, out);

    if (error < 0)
        return error == -N_ENOENT ? 0 : error;
    const bool file = ext2_is_file(*out), empty = (*out)->size_bytes == 0;
    if (file && (*out)->flags & EXT2_PRIVATE)
        return 1;
    int put = ext2_inode_put(*out);
    return file && empty ? put : -N_EPROTO;
}
