#include "emu/front/openfiles.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/front/errmap.h"
#include "vertex/contract/errors.h"

#define FIRST_ROOM 16u

void open_files_free(struct open_files *t)
{
    for (uint32_t i = 0; i < t->room; i++)
        if (t->file[i].used)
            open_files_close(&t->file[i]);
    free(t->file);
    *t = (struct open_files){0};
}

static bool owns(const struct open_file *f, uint32_t node, uint32_t procid)
{
    return f->used && f->node == node && f->procid == procid;
}

int32_t open_files_find(const struct open_files *t, uint64_t sfid, uint32_t node, uint32_t procid,
                        struct open_file **file)
{
    uint32_t index = (uint32_t)sfid;
    uint32_t generation = sfid >> 32;

    if (generation == 0 || index >= t->room)
        return -N_EBADF;
    struct open_file *f = &t->file[index];
    if (!f->used || f->generation != generation)
        return -N_ESTALE;
    if (!owns(f, node, procid))
        return -N_EBADF;
    *file = f;
    return 0;
}

static int32_t grow(struct open_files *t)
{
    uint32_t room = t->room ? 2 * t->room : FIRST_ROOM;

    if (room > OPEN_FILES_MAX)
        return -N_ENFILE;
    struct open_file *file = reallocarray(t->file, room, sizeof *file);
    if (!file)
        return -N_ENOMEM;
    for (uint32_t i = t->room; i < room; i++)
        file[i] = (struct open_file){.generation = 1};
    t->file = file;
    t->room = room;
    return 0;
}

int32_t open_files_find_room(struct open_files *t, uint32_t node, uint32_t procid)
{
    uint32_t own = 0, vacant = t->room;

    for (uint32_t i = t->room; i-- > 0;) {
        own += owns(&t->file[i], node, procid);
        if (!t->file[i].used)
            vacant = i;
    }
    if (own >= OPEN_FILES_CLIENT)
        return -N_EMFILE;
    if (vacant < t->room)
        return vacant;
    int32_t grown = grow(t);
    return grown < 0 ? grown : (int32_t)vacant;
}

uint64_t open_files_take(struct open_files *t, uint32_t index, uint32_t node, uint32_t procid, int fd)
{
    struct open_file *f = &t->file[index];

    *f = (struct open_file){.used = true, .generation = f->generation, .node = node, .procid = procid, .fd = fd};
    return (uint64_t)f->generation << 32 | index;
}

int32_t open_files_close(struct open_file *f)
{
    int result = close(f->fd);
    int reason = errno;

    listing_free(&f->listing);
    f->used = false;
    if (++f->generation == 0)
        f->generation = 1;
    return result < 0 ? errmap_from_host(reason) : 0;
}

void open_files_drop_client(struct open_files *t, uint32_t node, uint32_t procid)
{
    for (uint32_t i = 0; i < t->room; i++)
        if (owns(&t->file[i], node, procid))
            open_files_close(&t->file[i]);
}

void open_files_drop_node(struct open_files *t, uint32_t node)
{
    for (uint32_t i = 0; i < t->room; i++)
        if (t->file[i].used && t->file[i].node == node)
            open_files_close(&t->file[i]);
}

uint32_t open_files_count(const struct open_files *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->room; i++)
        n += t->file[i].used;
    return n;
}
