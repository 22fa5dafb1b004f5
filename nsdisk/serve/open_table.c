/* The table of open files: see open_table.h for identifiers and ownership. */
#include "nsdisk/serve/open_table.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

#define OPEN_NONE  UINT32_MAX
#define FIRST_SIZE 64u
#define BOOT_BITS  10
#define SLOT_BITS  14

_Static_assert(OPEN_TABLE_SLOTS == 1u << SLOT_BITS, "a slot's number fits its field");

/* All of the boot number counts, however the machine chooses it. */
static uint64_t fold_boot(uint64_t boot_number)
{
    uint64_t boot = 0;

    for (; boot_number != 0; boot_number >>= BOOT_BITS)
        boot ^= boot_number & ((1u << BOOT_BITS) - 1);
    return boot;
}

void open_table_init(struct open_table *t, uint64_t boot_number)
{
    memset(t, 0, sizeof *t);
    t->boot = fold_boot(boot_number);
    t->free_head = t->free_tail = OPEN_NONE;
    for (uint32_t i = 0; i < OPEN_BUCKETS; i++)
        t->bucket[i] = OPEN_NONE;
}

void open_table_free(struct open_table *t)
{
    free(t->slot);
    t->slot = NULL;
    t->size = t->used = 0;
}

static uint32_t *client_bucket(struct open_table *t, uint64_t client)
{
    return &t->bucket[(client >> CLIENT_PROCID_BITS) % OPEN_BUCKETS];
}

static uint8_t bit_of(uint64_t client)
{
    return (uint8_t)(1u << client % PROCS_MAX);
}

static bool owns(const struct open_file *file, uint64_t client)
{
    return file->client >> CLIENT_PROCID_BITS == client >> CLIENT_PROCID_BITS && file->owners & bit_of(client);
}

static void free_append(struct open_table *t, uint32_t slot)
{
    t->slot[slot].next = OPEN_NONE;
    if (t->free_head == OPEN_NONE)
        t->free_head = slot;
    else
        t->slot[t->free_tail].next = slot;
    t->free_tail = slot;
}

static int table_grow(struct open_table *t)
{
    uint32_t size = t->size == 0 ? FIRST_SIZE : t->size * 2;

    if (size > OPEN_TABLE_SLOTS)
        return -N_ENFILE;
    struct open_file *slot = realloc(t->slot, size * sizeof *slot);
    if (!slot)
        return -N_ENOMEM;
    t->slot = slot;
    memset(slot + t->size, 0, (size - t->size) * sizeof *slot);
    for (uint32_t i = t->size; i < size; i++)
        free_append(t, i);
    t->size = size;
    t->limit = size - OPEN_TABLE_SPARE + 1;
    return 0;
}

static uint32_t client_count(struct open_table *t, uint64_t client)
{
    uint32_t count = 0;

    for (uint32_t i = *client_bucket(t, client); i != OPEN_NONE; i = t->slot[i].next)
        count += owns(&t->slot[i], client);
    return count;
}

int open_table_prepare(struct open_table *t, uint64_t client)
{
    if (client_count(t, client) >= OPEN_CLIENT_MAX)
        return -N_EMFILE;
    return t->used >= t->limit ? table_grow(t) : 0;
}

struct open_file *open_table_add(struct open_table *t, uint64_t client, struct ext2_inode *inode)
{
    uint32_t slot = t->free_head;
    struct open_file *file = &t->slot[slot];
    uint32_t *bucket = client_bucket(t, client);

    t->free_head = file->next;
    t->used++;
    file->age++;
    file->client = client;
    file->owners = bit_of(client);
    file->inode = inode;
    file->sfid = t->boot << 54 | (uint64_t)file->age << 46 | (uint64_t)slot << 32 | inode->ino;
    file->next = *bucket;
    *bucket = slot;
    return file;
}

int open_table_find(struct open_table *t, uint64_t client, uint64_t sfid, struct open_file **file)
{
    uint32_t slot = (uint32_t)(sfid >> 32) & (OPEN_TABLE_SLOTS - 1);

    if (sfid == 0 || slot >= t->size || t->slot[slot].sfid != sfid)
        return -N_ESTALE;
    *file = &t->slot[slot];
    return owns(*file, client) ? 0 : -N_EBADF;
}

bool open_table_has(const struct open_table *t, uint64_t sfid)
{
    uint32_t slot = (uint32_t)(sfid >> 32) & (OPEN_TABLE_SLOTS - 1);

    return slot < t->size && t->slot[slot].sfid == sfid;
}

struct open_file *open_table_first(struct open_table *t, uint64_t client)
{
    for (uint32_t i = *client_bucket(t, client); i != OPEN_NONE; i = t->slot[i].next)
        if (owns(&t->slot[i], client))
            return &t->slot[i];
    return NULL;
}

struct open_file *open_table_first_of(struct open_table *t, uint64_t client, uint32_t drive)
{
    for (uint32_t i = *client_bucket(t, client); i != OPEN_NONE; i = t->slot[i].next)
        if (owns(&t->slot[i], client) && t->slot[i].drive == drive)
            return &t->slot[i];
    return NULL;
}

struct open_file *open_table_any(struct open_table *t)
{
    for (uint32_t i = 0; t->used != 0 && i < t->size; i++)
        if (t->slot[i].sfid != 0)
            return &t->slot[i];
    return NULL;
}

void open_table_share(struct open_table *t, uint64_t client, uint32_t procid)
{
    for (uint32_t i = *client_bucket(t, client); i != OPEN_NONE; i = t->slot[i].next)
        if (owns(&t->slot[i], client))
            t->slot[i].owners |= bit_of(procid);
}

bool open_table_disown(struct open_file *file, uint64_t client)
{
    file->owners &= (uint8_t)~bit_of(client);
    return file->owners == 0;
}

static void drop_views(struct open_table *t, struct open_file *file)
{
    for (uint32_t i = 0; file->views && i < FILE_VIEWS; i++)
        view_replace(&t->views, &file->views->view[i], NULL, 0);
    free(file->views);
    file->views = NULL;
}

struct ext2_inode *open_table_remove(struct open_table *t, struct open_file *file)
{
    uint32_t slot = (uint32_t)(file - t->slot);
    uint32_t *at = client_bucket(t, file->client);

    while (*at != slot)
        at = &t->slot[*at].next;
    *at = file->next;
    if (file->views)
        drop_views(t, file);
    file->sfid = 0;
    t->used--;
    free_append(t, slot);
    return file->inode;
}
