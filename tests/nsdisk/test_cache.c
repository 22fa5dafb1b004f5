/* The cache alone: the order of a flush, gathering, types, eviction. */
#include "nsdisk/ext2/cache.h"

#include <criterion/criterion.h>
#include <string.h>

#include "vertex/contract/errors.h"

#define BLOCK  1024u
#define BLOCKS 512u

static uint8_t disk[BLOCK * BLOCKS];
static char log_text[256];
static struct {
    uint32_t block, count;
} command[64];
static uint32_t commands, reads, write_error_at = UINT32_MAX;

static int disk_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    (void)ctx;
    reads++;
    memcpy(buf, disk + sector * 512, sectors * 512ul);
    return 0;
}

static int disk_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    (void)ctx;
    if (commands == write_error_at)
        return -N_EIO;
    command[commands].block = (uint32_t)sector / 2;
    command[commands++].count = sectors / 2;
    memcpy(disk + sector * 512, buf, sectors * 512ul);
    return 0;
}

static void write_log(void *ctx, const char *text)
{
    (void)ctx;
    strncpy(log_text, text, sizeof log_text - 1);
}

static const struct blockdev dev = {.read = disk_read, .write = disk_write, .sectors = BLOCKS * 2};
static struct cache *c;

static void setup(void)
{
    c = cache_new(&dev, "df07", BLOCK, CACHE_MIN_BLOCKS * BLOCK, (struct cache_log){write_log, NULL});
}

static void teardown(void)
{
    cache_free(c);
}

TestSuite(cache, .init = setup, .fini = teardown);

static void dirty(uint32_t number, enum block_type type, bool fresh)
{
    struct cache_block *b;
    int error = fresh ? cache_get_new(c, number, type, &b) : cache_get(c, number, type, &b);

    cr_assert_eq(error, 0);
    memset(b->bytes, (int)number, BLOCK);
    cache_mark_dirty(c, b);
    cache_put(b);
}

Test(cache, a_flush_writes_in_the_order_that_a_crash_can_bear)
{
    static const uint32_t expected[] = {40, 30, 21, 10, 9, 50, 20, 60, 51, 1};

    dirty(1, BLOCK_SUPER, false);
    dirty(51, BLOCK_DIRECTORY, false);
    dirty(60, BLOCK_INODES, false);
    dirty(20, BLOCK_INDIRECT_1, false);
    dirty(50, BLOCK_DIRECTORY, true);
    dirty(9, BLOCK_INDIRECT_3, true);
    dirty(10, BLOCK_INDIRECT_2, true);
    dirty(21, BLOCK_INDIRECT_1, true);
    dirty(30, BLOCK_GROUPS, false);
    dirty(40, BLOCK_BITMAP, false);
    cr_assert_eq(cache_flush(c), 0);
    cr_assert_eq(commands, 10);
    for (uint32_t i = 0; i < commands; i++)
        cr_assert_eq(command[i].block, expected[i], "command %u: block %u", i, command[i].block);
    cr_assert_eq(cache_dirty_blocks(c), 0);
    cr_assert_eq(cache_flush(c), 0);
    cr_assert_eq(commands, 10, "nothing is left to write");
}

Test(cache, a_flush_gathers_neighbours_of_one_kind)
{
    for (uint32_t i = 0; i < 40; i++)
        dirty(100 + (i * 7) % 40, BLOCK_INODES, false);
    dirty(140, BLOCK_DIRECTORY, false);
    cr_assert_eq(cache_flush(c), 0);
    cr_assert_eq(commands, 3);
    cr_assert_eq(command[0].count, CACHE_GATHER_BYTES / BLOCK);
    cr_assert_eq(command[1].count, 40 - CACHE_GATHER_BYTES / BLOCK);
    for (uint32_t i = 100; i < 141; i++)
        cr_assert_eq(disk[i * BLOCK + 5], i & 0xff, "block %u", i);
}

Test(cache, a_flush_that_fails_keeps_the_rest_dirty)
{
    dirty(10, BLOCK_BITMAP, false);
    dirty(20, BLOCK_INODES, false);
    dirty(30, BLOCK_DIRECTORY, false);
    write_error_at = 1;
    cr_assert_eq(cache_flush(c), -N_EIO);
    cr_assert_eq(cache_dirty_blocks(c), 2);
    cr_assert(strstr(log_text, "df07: the drive failed to write block 20"), "%s", log_text);
    write_error_at = UINT32_MAX;
    cr_assert_eq(cache_flush(c), 0);
    cr_assert_eq(disk[30 * BLOCK], 30);
}

Test(cache, a_block_with_two_owners_is_reported_by_volume_block_and_caller)
{
    struct cache_block *b;
    uint8_t data[BLOCK];

    dirty(33, BLOCK_DIRECTORY, false);
    cr_assert(!cache_has_mismatch(c));
    cr_assert_eq(cache_get_for(c, 33, BLOCK_INODES, &b, "some_caller"), -N_EIO);
    cr_assert_str_eq(log_text,
                     "df07: block 33 is wanted as inodes by some_caller, but is in use as directory: two owners");
    cr_assert_eq(cache_write_data(c, 32, 2, data), -N_EIO);
    cr_assert_eq(cache_read_data(c, 33, 1, data), -N_EIO);
    cr_assert_eq(cache_get_new(c, 33, BLOCK_INDIRECT_1, &b), -N_EIO);
    cr_assert_eq(commands, 0);
    cr_assert(cache_has_mismatch(c));
}

Test(cache, written_data_is_seen_through_the_cache)
{
    struct cache_block *b;
    uint8_t data[2 * BLOCK];

    cr_assert_eq(cache_get(c, 101, BLOCK_DATA, &b), 0);
    memset(data, 0x5a, sizeof data);
    cr_assert_eq(cache_write_data(c, 100, 2, data), 0);
    cr_assert_eq(b->bytes[17], 0x5a);
    cache_put(b);
}

Test(cache, keeps_what_is_used_and_what_is_dirty)
{
    struct cache_block *b;

    dirty(5, BLOCK_INODES, false);
    for (uint32_t i = 100; i < 100 + 3 * CACHE_MIN_BLOCKS; i++) {
        cr_assert_eq(cache_get(c, 7, BLOCK_BITMAP, &b), 0);
        cache_put(b);
        cr_assert_eq(cache_get(c, i, BLOCK_DATA, &b), 0);
        cache_put(b);
    }
    cr_assert_eq(commands, 0, "the dirty block was not written");
    cr_assert_eq(reads, 2 + 3 * CACHE_MIN_BLOCKS, "block 7 was read once");
}

Test(cache, flushes_when_every_block_is_dirty)
{
    for (uint32_t i = 0; i < 2 * CACHE_MIN_BLOCKS; i++)
        dirty(100 + i, BLOCK_INODES, false);
    cr_assert_eq(cache_flush(c), 0);
    for (uint32_t i = 0; i < 2 * CACHE_MIN_BLOCKS; i++)
        cr_assert_eq(disk[(100 + i) * BLOCK], (uint8_t)(100 + i), "block %u", 100 + i);
}

Test(cache, forgets_what_was_freed)
{
    struct cache_block *b;

    dirty(50, BLOCK_INDIRECT_1, true);
    cache_forget(c, 50, 1);
    cr_assert_eq(cache_flush(c), 0);
    cr_assert_eq(commands, 0);
    cr_assert_eq(cache_get(c, 50, BLOCK_DATA, &b), 0, "it may now be of another type");
    cache_put(b);
}
