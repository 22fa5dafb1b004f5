/* Parts of files on a volume, and clients' attachments to them (clf_server.h). */
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

/* ---- Parts ---- */

static void leave(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct clf_part *part = (struct clf_part *)work;

    (void)fs;
    (void)area;
    part->leaving = false;
    ext2_inode_put(part->inode); /* an error comes again when the volume is unmounted */
    part->inode = NULL;
    if (part->refs > 0)
        return;
    LIST_REMOVE(part, all);
    free(part);
}

/* On a volume that is dead, nothing can be given back. */
static void have_leave(struct clf_part *part)
{
    if (part->leaving)
        return;
    part->leave.run = leave;
    part->leaving = family_run(part->clf->loop, part->drive, &part->leave, -1, (int)N_CLF_DETACH) == 0;
}

static struct clf_part *part_get(struct clf_call *c, uint64_t handle, uint32_t number)
{
    struct clf_part *part;

    LIST_FOREACH(part, &c->clf->parts, all)
        if (part->drive == c->r->drive && part->handle == handle && part->number == number)
            return part;
    part = calloc(1, sizeof *part);
    if (part) {
        part->clf = c->clf;
        part->drive = c->r->drive;
        part->handle = handle;
        part->number = number;
        LIST_INSERT_HEAD(&c->clf->parts, part, all);
    }
    return part;
}

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

void clf_parts_leave(struct clf_server *clf)
{
    struct clf_part *part;

    LIST_FOREACH(part, &clf->parts, all)
        if (part->inode)
            have_leave(part);
}

void clf_parts_free(struct clf_server *clf)
{
    struct clf_part *part;

    for (uint32_t i = 0; i < clf->attachments; i++)
        if (clf->attachment[i]) {
            clf->attachment[i]->uses = 1;
            clf_attachment_put(clf, clf->attachment[i]);
        }
    free(clf->attachment);
    while ((part = LIST_FIRST(&clf->parts))) {
        LIST_REMOVE(part, all);
        free(part);
    }
}

/* ---- Attachments ---- */

struct clf_attachment *clf_attachment_find(const struct clf_server *clf, uint32_t id, int from)
{
    struct clf_attachment *a = clf->attachments > 0 ? clf->attachment[id & (clf->attachments - 1)] : NULL;

    return a && a->id == id && a->from == from ? a : NULL;
}

/* Makes room for one more. Ids keep their places, as the table only doubles. */
static int grow(struct clf_server *clf)
{
    const uint32_t n = clf->attachments > 0 ? 2 * clf->attachments : 16;

    if (clf->attached < clf->attachments / 2)
        return 0;
    if (clf->attached == CLF_ATTACHMENTS_MAX)
        return -N_ENFILE;
    if (n > 2 * CLF_ATTACHMENTS_MAX)
        return 0;
    struct clf_attachment **table = calloc(n, sizeof *table);
    if (!table)
        return -N_ENOMEM;
    for (uint32_t i = 0; i < clf->attachments; i++)
        if (clf->attachment[i])
            table[clf->attachment[i]->id & (n - 1)] = clf->attachment[i];
    free(clf->attachment);
    clf->attachment = table;
    clf->attachments = n;
    return 0;
}

static int attach(struct clf_call *c, struct clf_part *part, struct clf_attachment **out)
{
    struct clf_server *clf = c->clf;
    int error = grow(clf);
    struct clf_attachment *a = error < 0 ? NULL : calloc(1, sizeof *a);

    if (!a)
        return error < 0 ? error : -N_ENOMEM;
    do
        a->id = ++clf->ids;
    while (a->id == 0 || clf->attachment[a->id & (clf->attachments - 1)]);
    clf->attachment[a->id & (clf->attachments - 1)] = a;
    clf->attached++;
    a->part = part;
    a->from = c->record->from;
    a->uses = 1;
    part->refs++;
    *out = a;
    return 0;
}

void clf_attachment_put(struct clf_server *clf, struct clf_attachment *a)
{
    if (--a->uses > 0)
        return;
    a->from = -1;
    for (uint32_t i = 0; i < CLF_VIEWS; i++)
        view_replace(server_views(family_server(clf->loop)), &a->view[i], NULL, 0);
    if (--a->part->refs == 0)
        have_leave(a->part);
    clf->attachment[a->id & (clf->attachments - 1)] = NULL;
    clf->attached--;
    free(a);
}

/* ---- Requests ---- */

int64_t clf_invoke_attach(struct clf_call *c)
{
    struct clf_part *part = part_get(c, c->r->handle, c->r->part);
    struct clf_attachment *a = NULL;
    int error = part ? clf_part_open(c, part, false) : -N_ENOMEM;

    if (c->record->gone)
        error = -N_EIO; /* it would never be dropped */
    if (error == 0)
        error = attach(c, part, &a);
    if (error < 0) {
        if (part && part->refs == 0)
            have_leave(part);
        return error;
    }
    const struct clf_attached told = {part->inode ? part->inode->size_bytes : 0, a->id,
                                      (uint32_t)(c->room - ARRIVAL_REPLY_AT)};
    memcpy(c->reply, &told, sizeof told);
    c->reply_bytes = sizeof told;
    return 0;
}

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
