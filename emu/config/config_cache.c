/* Reads the keys of a drive's data cache, and checks that an I/O node has memory for those of all its drives. */

#include "emu/config/config_state.h"
#include "vertex/contract/service.h"

#define BLOCK_BYTES  4096
#define GROUP_BLOCKS 8

static const char *const cache_keys[] = {"block", "group", "look_ahead", "write", "evict", "commands", "fill", NULL};
static const char *const writes[] = {"through", "groups", "back", NULL};
static const char *const evicts[] = {"lru", "fifo", "used-first", NULL};
static const char *const fills[] = {"first", "later", NULL}, *const misses[] = {"wait", "aside", NULL};

static bool check_power(struct config_reader *l, const config_setting_t *drive, const char *key, int64_t value)
{
    return (value & (value - 1)) == 0 ||
           setting_fail(&l->r, config_setting_get_member(drive, key), "%s = %d is not a power of two", key, (int)value);
}

static bool check_sizes(struct config_reader *l, const config_setting_t *drive, int64_t kb, int64_t block,
                        int64_t group)
{
    if (!check_power(l, drive, "block", block) || !check_power(l, drive, "group", group))
        return false;
    if (block * group > DRIVE_CACHE_GROUP_MAX_BYTES)
        return setting_fail(&l->r, drive, "a group of %d blocks of %d bytes has %d bytes; at most %u", (int)group,
                            (int)block, (int)(block * group), DRIVE_CACHE_GROUP_MAX_BYTES);
    if (kb * 1024 < 2 * block * group)
        return setting_fail(&l->r, config_setting_get_member(drive, "cache_kb"),
                            "cache_kb = %d is less than two groups of %d blocks of %d bytes", (int)kb, (int)group,
                            (int)block);
    return true;
}

/* The bytes that an nsdisk takes for a drive's cache. */
static uint64_t cache_bytes(const struct drive_cache *c)
{
    uint64_t group = (uint64_t)c->block_bytes * c->group_blocks;

    if (c->kb == 0)
        return 0;
    if (group < DRIVE_CACHE_BUFFER_MIN_BYTES)
        group = DRIVE_CACHE_BUFFER_MIN_BYTES;
    return ((uint64_t)c->kb << 10) + (c->commands + DRIVE_CACHE_BUFFERS_WAITED) * group;
}

/* What is left for data caches: Vertex and its tables take less than a quarter, and nsdisk for its metadata, requests
 * and replies less than 1.5 MB, and 256 KB for each drive beyond the fourth; concurrent service takes more.
 * tests/machine/test_caches.c takes all. */
static uint64_t room_bytes(const struct config_reader *l, const struct topo_io_node *io)
{
    uint64_t ram_bytes = l->config->topo.ram_bytes, most = ram_bytes / 4 * 3;
    uint64_t taken = (1536u << 10) + (io->ndrives > 4 ? (io->ndrives - 4) * (256u << 10) : 0);
    bool aside = false;

    for (uint32_t d = 0; d < io->ndrives; d++)
        aside |= io->drive[d].cache.misses == DRIVE_CACHE_MISSES_ASIDE;
    if (io->concurrent)
        taken += service_concurrent_bytes(ram_bytes, io->ndrives) + (aside ? SERVICE_ASIDE_BYTES : 0);
    return most > taken ? most - taken : 0;
}

/* The last drive with a cache, whose cache_kb is said to be too much. */
static uint32_t last_with_cache(const struct topo_io_node *io)
{
    uint32_t d = io->ndrives - 1;

    while (io->drive[d].cache.kb == 0)
        d--;
    return d;
}

bool config_check_cache_memory(struct config_reader *l, const config_setting_t *drives, const struct topo_io_node *io)
{
    uint64_t all = 0, most = room_bytes(l, io);

    for (uint32_t d = 0; d < io->ndrives; d++)
        all += cache_bytes(&io->drive[d].cache);
    if (all == 0 || all <= most)
        return true;
    uint32_t last = last_with_cache(io);
    return setting_fail(
        &l->r, config_setting_get_member(config_setting_get_elem(drives, last), "cache_kb"),
        "cache_kb = %u: the data caches of this I/O node take %u KB with their buffers, but its %u MB of "
        "memory have room for %u KB%s",
        io->drive[last].cache.kb, (unsigned)(all >> 10), (unsigned)(l->config->topo.ram_bytes >> 20),
        (unsigned)(most >> 10), io->concurrent ? " beside concurrent service" : "");
}

/* Settings that contradict each other. */
static bool check_choices(struct config_reader *l, const config_setting_t *drive, const struct topo_io_node *io,
                          const struct drive_cache *c)
{
    if (c->fill == DRIVE_CACHE_FILL_LATER && c->write == DRIVE_CACHE_THROUGH)
        return setting_fail(&l->r, config_setting_get_member(drive, "fill"),
                            "fill = \"later\" requires write = \"groups\" or \"back\"");
    if (c->misses == DRIVE_CACHE_MISSES_ASIDE && !io->concurrent)
        return setting_fail(&l->r, config_setting_get_member(drive, "misses"),
                            "misses = \"aside\" requires service = \"concurrent\" for the I/O node");
    return true;
}

static bool read_choices(struct config_reader *l, const config_setting_t *drive, struct drive_cache *c)
{
    uint32_t write = 0, evict = 0, fill = 0, miss = 0;

    if (!setting_choice(&l->r, drive, "write", writes, &write) ||
        !setting_choice(&l->r, drive, "evict", evicts, &evict) || !setting_choice(&l->r, drive, "fill", fills, &fill) ||
        !setting_choice(&l->r, drive, "misses", misses, &miss))
        return false;
    c->write = (uint8_t)write;
    c->evict = (uint8_t)evict;
    c->fill = fill & 1;
    c->misses = miss & 1;
    return true;
}

bool config_read_cache(struct config_reader *l, const config_setting_t *drive, const struct topo_io_node *io,
                       struct drive_cache *cache)
{
    int64_t kb = 0, block = BLOCK_BYTES, group = GROUP_BLOCKS, ahead = 1, commands = DRIVE_CACHE_COMMANDS;

    *cache = (struct drive_cache){0};
    if (!setting_integer(&l->r, drive, "cache_kb", 0, NODE_RAM_MAX_BYTES >> 10, &kb) ||
        !setting_integer(&l->r, drive, "block", DRIVE_CACHE_BLOCK_MIN_BYTES, DRIVE_CACHE_BLOCK_MAX_BYTES, &block) ||
        !setting_integer(&l->r, drive, "group", 1, DRIVE_CACHE_GROUP_MAX_BYTES / DRIVE_CACHE_BLOCK_MIN_BYTES, &group) ||
        !setting_integer(&l->r, drive, "look_ahead", 0, DRIVE_CACHE_AHEAD_MAX, &ahead) ||
        !setting_integer(&l->r, drive, "commands", DRIVE_CACHE_COMMANDS, DRIVE_CACHE_COMMANDS_MAX, &commands) ||
        !read_choices(l, drive, cache))
        return false;
    for (const char *const *key = cache_keys; *key && kb == 0; key++)
        if (config_setting_get_member(drive, *key))
            return setting_fail(&l->r, config_setting_get_member(drive, *key),
                                "'%s' is a setting of the data cache; give the drive a cache_kb, too", *key);
    if (kb == 0)
        return true;
    cache->kb = (uint32_t)kb;
    cache->block_bytes = (uint32_t)block;
    cache->group_blocks = (uint16_t)group;
    cache->ahead_groups = (uint16_t)ahead;
    cache->commands = (uint8_t)commands;
    return check_sizes(l, drive, kb, block, group) && check_choices(l, drive, io, cache);
}
