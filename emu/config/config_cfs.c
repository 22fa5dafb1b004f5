/*
 * What the machine file says of file systems that have servers of their own in nsdisk. It is read after the boards,
 * whose volumes it names:
 *
 *   cfs         which volumes are the disks of the Concurrent File System, and how many requests a node has under way
 *               (docs/cfs.md)
 *   metadata    the volume of the names of Clusterfile's files (docs/clusterfile.md)
 */
#include <string.h>

#include "emu/base/memory.h"
#include "emu/config/config_state.h"
#include "vertex/contract/cfs.h"
#include "vertex/contract/system.h"

#define GROUPS_LEAST 4u /* of a disk's cache */

static const struct topo_io_node *find_volume(const struct topo *t, const char *name, uint32_t *drive)
{
    const uint32_t node = topo_find_volume(t, name, drive);

    for (uint32_t j = 0; node != TOPO_NONE && j < t->n_io; j++)
        if (t->io[j].node == node)
            return &t->io[j];
    return NULL;
}

/* Checks that a volume's drive can be a disk of the CFS. */
static bool check_disk(struct config_reader *l, const config_setting_t *at, const struct topo_io_node *io,
                       const struct topo_drive *drive)
{
    const struct drive_cache *c = &drive->cache;

    if (!io->concurrent)
        return setting_fail(&l->r, at,
                            "CFS disk '%s' is on an I/O node with in-order service; give it service = "
                            "\"concurrent\"",
                            drive->volume);
    if (c->kb == 0)
        return setting_fail(&l->r, at, "CFS disk '%s' has no data cache; give its drive a cache_kb", drive->volume);
    if (c->block_bytes != CFS_BLOCK_BYTES)
        return setting_fail(&l->r, at, "CFS disk '%s': block = %u; blocks of the CFS have %u bytes", drive->volume,
                            c->block_bytes, CFS_BLOCK_BYTES);
    if (c->kb * 1024u < GROUPS_LEAST * c->group_blocks * c->block_bytes)
        return setting_fail(&l->r, at, "CFS disk '%s': cache_kb = %u is less than %u groups of %u blocks",
                            drive->volume, c->kb, GROUPS_LEAST, c->group_blocks);
    return true;
}

/* Checks element i of `volumes` and appends it. */
static bool add_disk(struct config_reader *l, const config_setting_t *volumes, uint32_t i, struct topo_cfs *cfs)
{
    const char *name = config_setting_get_string_elem(volumes, (int)i);
    uint32_t drive;

    if (!name)
        return setting_fail(&l->r, volumes, "'volumes' is a list of names of volumes, such as [\"cf00\", \"cf01\"]");
    const struct topo_io_node *io = find_volume(&l->config->topo, name, &drive);
    if (!io)
        return setting_fail(&l->r, volumes, "the CFS: there is no volume '%s'", name);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(cfs->volume[k], name) == 0)
            return setting_fail(&l->r, volumes, "the CFS has volume '%s' twice; each disk is another volume", name);
    strcpy(cfs->volume[i], name);
    cfs->disks = i + 1;
    return check_disk(l, volumes, io, &io->drive[drive]);
}

bool config_read_cfs(struct config_reader *l, const config_setting_t *root)
{
    static const char *const keys[] = {"volumes", "async", NULL};
    const config_setting_t *group = config_setting_get_member(root, "cfs"), *volumes;
    struct topo_cfs *cfs = &l->config->topo.cfs;
    int64_t async = CFS_ASYNC;

    if (!group)
        return true;
    if (!config_setting_is_group(group))
        return setting_fail(&l->r, group, "'cfs' is a group, such as { volumes = [\"cf00\", \"cf01\"]; }");
    if (!setting_check_keys(&l->r, group, keys) ||
        !setting_require(&l->r, group, "volumes", "the volumes that are its disks, in order") ||
        !setting_integer(&l->r, group, "async", 1, CFS_ASYNC_MAX, &async))
        return false;
    volumes = config_setting_get_member(group, "volumes");
    uint32_t n =
        config_setting_is_array(volumes) || config_setting_is_list(volumes) ? config_setting_length(volumes) : 0;
    if (n < 1 || n > CFS_DISKS_MAX)
        return setting_fail(&l->r, volumes, "'volumes' must be a list of 1 to %u names of volumes", CFS_DISKS_MAX);
    cfs->volume = memory_new(n, sizeof *cfs->volume);
    cfs->async = (uint32_t)async;
    for (uint32_t i = 0; i < n; i++)
        if (!add_disk(l, volumes, i, cfs))
            return false;
    return true;
}

bool config_read_metadata(struct config_reader *l, const config_setting_t *root)
{
    struct topo *t = &l->config->topo;
    const config_setting_t *at = config_setting_get_member(root, "metadata");
    const char *name = at ? config_setting_get_string(at) : NULL;
    const struct topo_io_node *io;
    uint32_t drive, before = 0;

    if (!at)
        return true;
    if (!name)
        return setting_fail(&l->r, at, "'metadata' is the name of a volume, such as \"df00\"");
    io = find_volume(t, name, &drive);
    if (!io)
        return setting_fail(&l->r, at, "Clusterfile: there is no volume '%s'", name);
    if (!io->concurrent)
        return setting_fail(&l->r, at,
                            "Clusterfile's volume '%s' is on an I/O node with in-order service; give it service = "
                            "\"concurrent\"",
                            name);
    for (const struct topo_io_node *other = t->io; other < io; other++)
        before += other->concurrent ? other->ndrives : 0;
    if (before + drive >= TOPO_CLF_VOLUMES)
        return setting_fail(&l->r, at, "Clusterfile's volume '%s' is not among the first %u with concurrent service",
                            name, TOPO_CLF_VOLUMES);
    strcpy(t->metadata, name);
    return true;
}
