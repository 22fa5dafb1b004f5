/* Names of families (family_names.h). */
#include "nsdisk/serve/family_names.h"

#include <string.h>

#include "vertex/contract/errors.h"

int family_name_check(struct ext2_path name, const char *hidden)
{
    const size_t hidden_bytes = strlen(hidden);

    if (name.bytes == 0 || name.text[0] != '/' || memchr(name.text, '\0', name.bytes))
        return -N_EPROTO;
    for (uint32_t at = 0, n; at < name.bytes; at += n + 1) {
        const char *end = memchr(name.text + at, '/', name.bytes - at);

        n = (end ? (uint32_t)(end - name.text) : name.bytes) - at;
        if (n == hidden_bytes && memcmp(name.text + at, hidden, n) == 0)
            return -N_EACCES;
    }
    return 0;
}

int family_lookup(struct ext2 *fs, struct ext2_path path, bool follow, struct ext2_inode **out)
{
    int error = ext2_drop_dead(fs, path);

    return error < 0 ? error : ext2_lookup(fs, path, follow, out);
}

struct file_stat family_name_stat(const struct ext2_inode *inode, uint32_t block_bytes)
{
    return (struct file_stat){.ino = inode->ino,
                              .mode = inode->mode,
                              .nlink = inode->links,
                              .uid = inode->uid,
                              .gid = inode->gid,
                              .block_bytes = block_bytes,
                              .atime_s = inode->atime_s,
                              .mtime_s = inode->mtime_s,
                              .ctime_s = inode->ctime_s};
}

struct listing {
    uint8_t *records;
    size_t bytes, room;
};

/* False: there is no room. */
static bool add_entry(struct listing *l, const struct ext2_entry *e, uint64_t next)
{
    uint32_t bytes = file_dirent_bytes(e->name_bytes);
    const struct file_dirent record = {e->ino, next, (uint16_t)bytes, (uint16_t)e->name_bytes, e->type};

    if (l->bytes + bytes > l->room)
        return false;
    memset(l->records + l->bytes, 0, bytes);
    memcpy(l->records + l->bytes, &record, sizeof record);
    memcpy(l->records + l->bytes + sizeof record, e->name, e->name_bytes);
    l->bytes += bytes;
    return true;
}

static int64_t list_entries(struct ext2_inode *folder, uint64_t offset, const char *hidden, struct listing *l)
{
    const size_t hidden_bytes = strlen(hidden);
    char name[EXT2_NAME_MAX_BYTES];
    struct ext2_entry e;
    int result = ext2_is_dir(folder) ? 1 : -N_ENOTDIR;

    while (result > 0 && (result = ext2_dir_next(folder, &offset, &e, name)) > 0) {
        bool is_hidden =
            folder->ino == EXT2_ROOT_INO && e.name_bytes == hidden_bytes && memcmp(e.name, hidden, hidden_bytes) == 0;

        if (!is_hidden && !add_entry(l, &e, offset))
            break;
    }
    return result < 0 && l->bytes == 0 ? result : (int64_t)l->bytes;
}

int64_t family_name_list(struct ext2 *fs, struct ext2_path folder, uint64_t at, const char *hidden, uint8_t *records,
                         size_t room)
{
    struct listing l = {.records = records, .room = room};
    struct ext2_inode *inode;
    int error = at > INT64_MAX ? -N_EINVAL : family_lookup(fs, folder, true, &inode);

    if (error < 0)
        return error;
    int64_t result = list_entries(inode, at, hidden, &l);
    int put = ext2_inode_put(inode);
    return result >= 0 && put < 0 ? put : result;
}
