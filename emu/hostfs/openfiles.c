/*
 * The table of open files. Entries are chained by their client's node; free ones have a chain of their own.
 */
#include "emu/hostfs/openfiles.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"
#include "vertex/contract/errors.h"

#define FIRST_ROOM 16u

/* ---- Chains: entries of nodes with the same remainder, and free entries ---- */

static uint32_t *chain_of(const struct open_files *t, uint32_t node)
{
    return &t->chain[node % t->room];
}

static void push(struct open_files *t, uint32_t *chain, uint32_t index)
{
    t->file[index].next = *chain;
    *chain = index + 1;
}

static struct open_file *entry_at(const struct open_files *t, uint32_t link)
{
    return link ? &t->file[link - 1] : NULL;
}

static void unlink_entry(struct open_files *t, struct open_file *f)
{
    uint32_t *at = chain_of(t, f->node);

    while (entry_at(t, *at) != f)
        at = &entry_at(t, *at)->next;
    *at = f->next;
}

/* ---- Finding ---- */

static bool owns(const struct open_file *f, uint32_t node, uint32_t procid)
{
    return f->used && f->node == node && f->procids >> procid & 1;
}

struct open_file *open_files_at(const struct open_files *t, uint64_t sfid)
{
    struct open_file *f = (uint32_t)sfid < t->room ? &t->file[(uint32_t)sfid] : NULL;

    return f && f->used && f->generation == sfid >> 32 ? f : NULL;
}

int32_t open_files_find(const struct open_files *t, uint64_t sfid, uint32_t node, uint32_t procid,
                        struct open_file **file)
{
    if (sfid >> 32 == 0 || (uint32_t)sfid >= t->room)
        return -N_EBADF;
    struct open_file *f = open_files_at(t, sfid);
    if (!f)
        return -N_ESTALE;
    if (!owns(f, node, procid))
        return -N_EBADF;
    *file = f;
    return 0;
}

/* ---- Opening ---- */

/* Not by memory_try_grow: entries and chains grow together or not at all, and every entry moves to another chain. */
static int32_t grow(struct open_files *t)
{
    uint32_t room = t->room ? 2 * t->room : FIRST_ROOM;

    if (room > OPEN_FILES_MAX)
        return -N_ENFILE;
    uint32_t *chain = calloc(room, sizeof *chain);
    struct open_file *file = chain ? reallocarray(t->file, room, sizeof *file) : NULL;
    if (!file) {
        free(chain);
        return -N_ENOMEM;
    }
    for (uint32_t i = t->room; i < room; i++)
        file[i] = (struct open_file){.generation = 1};
    free(t->chain);
    *t = (struct open_files){.file = file, .chain = chain, .room = room, .used = t->used, .host = t->host};
    for (uint32_t i = room; i-- > 0;)
        push(t, file[i].used ? chain_of(t, file[i].node) : &t->vacant, i);
    return 0;
}

static uint32_t count_own(const struct open_files *t, uint32_t node, uint32_t procid)
{
    uint32_t own = 0;

    if (t->room == 0)
        return 0;
    for (const struct open_file *f = entry_at(t, *chain_of(t, node)); f; f = entry_at(t, f->next))
        own += owns(f, node, procid);
    return own;
}

int32_t open_files_find_room(struct open_files *t, uint32_t node, uint32_t procid)
{
    if (count_own(t, node, procid) >= OPEN_FILES_CLIENT)
        return -N_EMFILE;
    int32_t grown = t->vacant ? 0 : grow(t);
    return grown < 0 ? grown : (int32_t)t->vacant - 1;
}

uint64_t open_files_take(struct open_files *t, uint32_t index, uint32_t node, uint32_t procid, int fd)
{
    struct open_file *f = &t->file[index];
    struct host_file *host = host_files_take(&t->host, fd);

    if (!host)
        return 0;
    t->vacant = f->next; /* the index came from open_files_find_room: it is the first free entry */
    *f = (struct open_file){.used = true,
                            .generation = f->generation,
                            .node = node,
                            .procids = (uint8_t)(1u << procid),
                            .fd = host->fd,
                            .host = host};
    push(t, chain_of(t, node), index);
    t->used++;
    return (uint64_t)f->generation << 32 | index;
}

/* ---- Closing ---- */

static int32_t close_entry(struct open_files *t, struct open_file *f)
{
    int result = host_files_release(&t->host, f->host);
    int reason = errno;

    listing_free(&f->listing);
    unlink_entry(t, f);
    push(t, &t->vacant, (uint32_t)(f - t->file));
    t->used--;
    f->used = false;
    if (++f->generation == 0)
        f->generation = 1;
    return result < 0 ? errmap_from_host(reason) : 0;
}

int32_t open_files_close(struct open_files *t, struct open_file *f, uint32_t procid)
{
    f->procids &= (uint8_t) ~(1u << procid);
    return f->procids ? 0 : close_entry(t, f);
}

void open_files_share(struct open_files *t, uint32_t node, uint32_t procid, uint32_t other)
{
    if (t->room == 0)
        return;
    for (struct open_file *f = entry_at(t, *chain_of(t, node)); f; f = entry_at(t, f->next))
        if (owns(f, node, procid))
            f->procids |= (uint8_t)(1u << other);
}

static void drop(struct open_files *t, uint32_t node, const uint32_t *procid)
{
    struct open_file *next;

    if (t->room == 0)
        return;
    for (struct open_file *f = entry_at(t, *chain_of(t, node)); f; f = next) {
        next = entry_at(t, f->next);
        if (procid && owns(f, node, *procid))
            open_files_close(t, f, *procid);
        else if (!procid && f->node == node)
            close_entry(t, f);
    }
}

void open_files_drop_client(struct open_files *t, uint32_t node, uint32_t procid)
{
    drop(t, node, &procid);
}

void open_files_drop_node(struct open_files *t, uint32_t node)
{
    drop(t, node, NULL);
}

void open_files_free(struct open_files *t)
{
    for (uint32_t i = 0; i < t->room; i++)
        if (t->file[i].used)
            close_entry(t, &t->file[i]);
    free(t->file);
    free(t->chain);
    *t = (struct open_files){0};
}
