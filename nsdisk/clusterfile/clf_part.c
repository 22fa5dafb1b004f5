/* Files of parts on a volume (clf_server.h). */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "nsdisk/serve/private_files.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

/* ---- Paths ---- */

static struct ext2_path folder_path(char text[CLF_PATH_BYTES], uint64_t handle)
{
    return (struct ext2_path){text, (uint32_t)text_print(text, CLF_PATH_BYTES, "/" CLF_FOLDER "/%u.%u",
                                                         CLF_HANDLE_INODE(handle), CLF_HANDLE_AGE(handle))};
}

static struct ext2_path part_path(char text[CLF_PATH_BYTES], uint64_t handle, uint32_t number)
{
    struct ext2_path path = folder_path(text, handle);
    const uint32_t left = CLF_PATH_BYTES - path.bytes, volume = CLF_PART_VOLUME(number);

    path.bytes += (uint32_t)(volume == CLF_WHOLE
                                 ? text_print(text + path.bytes, left, "/%u", CLF_PART_SUBFILE(number))
                                 : text_print(text + path.bytes, left, "/%u.%u", CLF_PART_SUBFILE(number), volume));
    return path;
}

/* ---- Removed files ---- */

/* A client that has an open file asks for more of its parts after another one has removed it: they are not to be made
 * again. */
static bool was_removed(const struct clf_server *clf, uint32_t drive, uint64_t handle)
{
    for (uint32_t i = 0; i < CLF_REMOVED; i++)
        if (clf->removed[drive].handle[i] == handle)
            return true;
    return false;
}

static void note_removed(struct clf_server *clf, uint32_t drive, uint64_t handle)
{
    if (!was_removed(clf, drive, handle))
        clf->removed[drive].handle[clf->removed[drive].count++ % CLF_REMOVED] = handle;
}

/* ---- Files ---- */

const uint32_t clf_attach_most_bytes = 0;

static int make_file(struct clf_call *c, struct clf_part *part)
{
    static const char root[] = "/" CLF_FOLDER;
    struct server *s = family_server(c->clf->loop);
    char text[CLF_PATH_BYTES];
    int error = private_folder(s, part->drive, (struct ext2_path){root, sizeof root - 1});

    if (error == 0)
        error = private_folder(s, part->drive, folder_path(text, part->handle));
    return error < 0 ? error : private_file(c->fs, part_path(text, part->handle, part->number), &part->inode);
}

int clf_part_open(struct clf_call *c, struct clf_part *part, bool make)
{
    char text[CLF_PATH_BYTES];

    if (part->inode)
        return 0;
    if (was_removed(c->clf, part->drive, part->handle))
        return -N_ESTALE;
    int found = private_file_find(c->fs, part_path(text, part->handle, part->number), &part->inode);
    if (found != 0)
        return found < 0 ? found : 0;
    part->inode = NULL;
    return make ? make_file(c, part) : 0;
}

/* ---- Removing ---- */

/* The name of any entry of a folder but "." and "..". 0: there is none. */
static int any_entry(struct ext2_inode *folder, char name[EXT2_NAME_MAX_BYTES + 1])
{
    uint64_t offset = 0;
    struct ext2_entry e;
    int result;

    do
        result = ext2_is_dir(folder) ? ext2_dir_next(folder, &offset, &e, name) : -N_EPROTO;
    while (result > 0 && ext2_is_dots(name, e.name_bytes));
    if (result > 0)
        name[e.name_bytes] = '\0';
    return result;
}

static int remove_files(struct clf_call *c, struct ext2_path folder)
{
    char text[CLF_PATH_BYTES + EXT2_NAME_MAX_BYTES + 2], name[EXT2_NAME_MAX_BYTES + 1];
    struct ext2_inode *inode;
    int result = ext2_lookup(c->fs, folder, false, &inode);

    if (result < 0)
        return result == -N_ENOENT ? 0 : result;
    while ((result = any_entry(inode, name)) > 0) {
        size_t n = text_print(text, sizeof text, "%.*s/%s", (int)folder.bytes, folder.text, name);

        result = ext2_unlink(c->fs, (struct ext2_path){text, (uint32_t)n});
        if (result < 0)
            break;
    }
    int put = ext2_inode_put(inode);
    if (result == 0)
        result = put < 0 ? put : ext2_rmdir(c->fs, folder);
    return result;
}

/* Those who have a part keep its file, without a name, until they are done with it. */
int64_t clf_invoke_free(struct clf_call *c)
{
    char text[CLF_PATH_BYTES];
    int error = c->fs->read_only ? -N_EROFS : remove_files(c, folder_path(text, c->r->handle));

    if (error == 0)
        note_removed(c->clf, c->r->drive, c->r->handle);
    return error;
}

/* ---- Cache managers ---- */

/* Tells those of the client's job. Two that number their nodes from the same one are of a job. */
int64_t clf_invoke_manager(struct clf_call *c)
{
    const struct clf_server *clf = c->clf;
    const struct clf_record *record = c->record;
    const int64_t first = (record->from & 0xffff) - (int64_t)c->r->offset;
    int64_t n = 0;

    for (uint32_t i = 0; i < clf->attachments && n < CLF_LISTED_MOST; i++) {
        const struct clf_attachment *a = clf->attachment[i];
        const int32_t node = a ? (int32_t)a->manager - 1 : -1;

        if (node < 0 || a->part != record->attachment->part || a->from < 0 || a->group != 0 ||
            (a->from & 0xffff) - node != first)
            continue;
        memcpy(c->reply + n++ * (int64_t)sizeof node, &node, sizeof node);
    }
    c->reply_bytes = (size_t)n * sizeof(int32_t);
    return n;
}
