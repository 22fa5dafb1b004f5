/*
 * The data cache: random operations against a model on a disk whose commands end late, what is read and written
 * together, which block goes, and drives that fail.
 */
#define _GNU_SOURCE
#include "nsdisk/ext2/data_cache.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/volume.h"

#define PART  1024u
#define PARTS 512u

/* ---- A disk whose started commands are carried out when the next one is given or waited for ---- */

static struct {
    uint8_t bytes[PART * PARTS];
    uint32_t reads, writes;
    bool starts;
    struct {
        struct blockdev_command *command;
        bool write;
        uint64_t sector;
        uint8_t *buf;
        uint32_t sectors;
    } started[16];
    uint32_t n_started;
} disk;

static int move(bool write, uint64_t sector, void *buf, uint32_t sectors)
{
    uint8_t *at = disk.bytes + sector * BLOCKDEV_SECTOR_BYTES;
    size_t n = (size_t)sectors * BLOCKDEV_SECTOR_BYTES;

    *(write ? &disk.writes : &disk.reads) += 1;
    memcpy(write ? at : buf, write ? buf : at, n);
    return 0;
}

static void carry_out(void)
{
    for (uint32_t i = 0; i < disk.n_started; i++) {
        disk.started[i].command->status =
            move(disk.started[i].write, disk.started[i].sector, disk.started[i].buf, disk.started[i].sectors);
        disk.started[i].command->done = true;
    }
    disk.n_started = 0;
}

static int disk_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    (void)ctx;
    carry_out();
    return move(false, sector, buf, sectors);
}

static int disk_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    (void)ctx;
    carry_out();
    return move(true, sector, (void *)buf, sectors);
}

static void disk_start(void *ctx, bool write, uint64_t sector, void *buf, uint32_t sectors, struct blockdev_command *c)
{
    (void)ctx;
    if (!disk.starts || disk.n_started == 16)
        carry_out();
    disk.started[disk.n_started].command = c;
    disk.started[disk.n_started].write = write;
    disk.started[disk.n_started].sector = sector;
    disk.started[disk.n_started].buf = buf;
    disk.started[disk.n_started++].sectors = sectors;
    if (!disk.starts)
        carry_out();
}

static void disk_wait(void *ctx, struct blockdev_command *c)
{
    (void)ctx;
    (void)c;
    carry_out();
}

static void write_log(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

static const struct blockdev dev = {
    .read = disk_read, .write = disk_write, .sectors = PARTS * 2, .start = disk_start, .wait = disk_wait};
static struct cache *cache;
static struct data_cache *d;
static const struct cache_log quiet = {write_log, NULL};

static void make(const struct drive_cache *set, bool starts)
{
    memset(&disk, 0, sizeof disk);
    disk.starts = starts;
    for (uint32_t i = 0; i < PARTS; i++)
        memset(disk.bytes + i * PART, (int)i, PART);
    cache = cache_new(&dev, "df07", PART, CACHE_MIN_BLOCKS * PART, quiet);
    d = data_cache_new(cache, "df07", PART, set, quiet, (struct data_clock){0});
    cr_assert(cache && d);
    cache_attach_data(cache, d);
}

static void unmake(void)
{
    data_cache_free(d);
    cache_free(cache);
}

/* ---- A model ---- */

static uint8_t model[PARTS][PART];
static bool defined[PARTS]; /* not since it was forgotten */
static uint64_t random_state;

static uint32_t below(uint32_t n)
{
    return random_next(&random_state) % n;
}

/* How many parts from `first` on are defined, in its group, at most `most`. */
static uint32_t run_from(uint32_t first, uint32_t most)
{
    uint32_t group = data_cache_group(d), end = (first & ~(group - 1)) + group, n = 0;

    while (first + n < end && n < most && defined[first + n])
        n++;
    return n;
}

static bool read_is_right(uint32_t part)
{
    const uint8_t *bytes = data_cache_look(d, part);
    uint32_t first = part;

    if (!bytes) {
        for (uint32_t back = below(4); back > 0 && (first & (data_cache_group(d) - 1)) != 0 && defined[first - 1];
             back--)
            first--;
        if (data_cache_fetch(d, first, run_from(first, PARTS), part, &bytes) < 0)
            return false;
    }
    return memcmp(bytes, model[part], PART) == 0;
}

static bool write_is_done(uint32_t part)
{
    uint32_t group = data_cache_group(d), last = part;

    for (uint32_t n = 1 + below(group); n > 0; n--, part++) {
        memset(model[part], (int)below(256), PART);
        memset(model[part], (int)below(256), 8);
        defined[part] = true;
        last = part;
        if (data_cache_write(d, 12, part, model[part]) < 0)
            return false;
        if (((part + 1) & (group - 1)) == 0)
            break;
    }
    return data_cache_settle(d, last) == 0;
}

static bool disk_is_model(void)
{
    for (uint32_t i = 0; i < PARTS; i++)
        if (defined[i] && memcmp(disk.bytes + i * PART, model[i], PART) != 0)
            return false;
    return true;
}

static bool step(const struct drive_cache *set)
{
    uint32_t part = below(below(4) == 0 ? PARTS : PARTS / 8);

    switch (below(16)) {
    case 0:
        if (below(20) != 0)
            return true;
        return data_cache_flush(d) == 0 && disk_is_model();
    case 1: {
        uint32_t n = 1 + below(3);

        for (uint32_t i = part; i < part + n && i < PARTS; i++)
            defined[i] = false;
        data_cache_forget(d, part, part + n < PARTS ? n : PARTS - part);
        return !data_cache_has(d, part, 1);
    }
    case 2:
        if (run_from(part, PARTS) != 0)
            data_cache_ahead(d, part, run_from(part, PARTS));
        return true;
    case 3:
    case 4:
    case 5:
    case 6:
        return write_is_done(part) && (set->write != DRIVE_CACHE_THROUGH || disk_is_model());
    default:
        return !defined[part] || read_is_right(part);
    }
}

/* NSDISK_STEPS=1000000 for the long version. */
Test(data_cache, agrees_with_a_model, .timeout = 36000)
{
    const char *wanted = getenv("NSDISK_STEPS");
    uint32_t steps = wanted ? (uint32_t)atoi(wanted) : 30000;

    for (const struct volume_cache *c = volume_caches + 1; c->name; c++) {
        make(&c->set, c->starts);
        random_state = 5;
        for (uint32_t i = 0; i < PARTS; i++) {
            memset(model[i], (int)i, PART);
            defined[i] = true;
        }
        for (uint32_t i = 0; i < steps; i++)
            cr_assert(step(&c->set), "%s: step %u", c->name, i);
        cr_assert_eq(data_cache_flush(d), 0, "%s", c->name);
        cr_assert(disk_is_model(), "%s: the disk at the end", c->name);
        unmake();
    }
}

/* ---- What is read and written together ---- */

static const uint8_t *get(uint32_t first, uint32_t count, uint32_t part)
{
    const uint8_t *bytes = data_cache_look(d, part);

    if (!bytes)
        cr_assert_eq(data_cache_fetch(d, first, count, part, &bytes), 0);
    return bytes;
}

static void put(uint32_t part)
{
    static uint8_t bytes[PART];

    memset(bytes, (int)part + 1, PART);
    cr_assert_eq(data_cache_write(d, 12, part, bytes), 0);
    cr_assert_eq(data_cache_settle(d, part), 0);
}

Test(data_cache, a_group_is_one_command_and_counts_what_was_not_asked_for)
{
    make(&(struct drive_cache){64, 2048, 4, 0, DRIVE_CACHE_THROUGH, DRIVE_CACHE_LRU, 4, 0, 0}, false);
    cr_assert_eq(data_cache_group(d), 8);
    for (uint32_t i = 18; i < 24; i++)
        cr_assert_eq(get(16, 8, i)[7], i);
    struct drive_cache_counts c = data_cache_counts(d);
    cr_assert_eq(disk.reads, 1);
    cr_assert(c.hits == 5 && c.misses == 1 && c.prefetched == 7 && c.unused == 2, "%u hits, %u misses, %u, %u", c.hits,
              c.misses, c.prefetched, c.unused);
    unmake();
}

Test(data_cache, what_is_under_way_is_not_fetched_again)
{
    make(&(struct drive_cache){64, 1024, 8, 2, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 0, 0}, true);
    data_cache_ahead(d, 8, 40);
    cr_assert_eq(disk.n_started, 2, "look_ahead = 2 started %u", disk.n_started);
    cr_assert(data_cache_has(d, 9, 1));
    data_cache_ahead(d, 8, 16);
    cr_assert_eq(get(8, 8, 9)[0], 9);
    put(17); /* under way, too */
    cr_assert_eq(get(16, 8, 17)[0], 18);
    cr_assert_eq(get(16, 8, 18)[0], 18);
    cr_assert_eq(disk.reads, 2);
    cr_assert_eq(data_cache_counts(d).misses, 0);
    unmake();
}

Test(data_cache, adjacent_writes_that_wait_are_one_command)
{
    static const uint32_t parts[] = {13, 9, 12, 8, 11, 10, 15, 14, 40};

    make(&(struct drive_cache){64, 1024, 4, 0, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 0, 0}, true);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        put(parts[i]);
    put(9); /* again */
    cr_assert_eq(disk.writes, 0);
    cr_assert_eq(data_cache_flush(d), 0);
    cr_assert_eq(disk.writes, 2);
    struct drive_cache_counts c = data_cache_counts(d);
    cr_assert(c.write_backs[0] == 1 && c.write_backs[3] == 1);
    cr_assert_eq(disk.bytes[9 * PART], 10);
    unmake();
}

Test(data_cache, groups_are_written_when_they_are_full)
{
    make(&(struct drive_cache){64, 1024, 4, 0, DRIVE_CACHE_GROUPS, DRIVE_CACHE_LRU, 4, 0, 0}, false);
    for (uint32_t i = 4; i < 7; i++)
        put(i);
    cr_assert_eq(disk.writes, 0);
    put(7);
    cr_assert_eq(disk.writes, 1);
    cr_assert_eq(data_cache_counts(d).write_backs[2], 1);
    cr_assert_eq(data_cache_flush(d), 0);
    cr_assert_eq(disk.writes, 1);
    unmake();
}

/* Eight blocks: 0 to 7 come, 0 is used again, 8 comes. */
Test(data_cache, lru_and_fifo_differ_in_which_block_goes)
{
    for (int evict = DRIVE_CACHE_LRU; evict <= DRIVE_CACHE_FIFO; evict++) {
        make(&(struct drive_cache){8, 1024, 1, 0, DRIVE_CACHE_THROUGH, (uint8_t)evict, 4, 0, 0}, false);
        for (uint32_t i = 0; i < 8; i++)
            get(i, 1, i);
        get(0, 1, 0);
        get(8, 1, 8);
        cr_assert_eq(data_cache_has(d, 0, 1), evict == DRIVE_CACHE_LRU);
        cr_assert_eq(data_cache_has(d, 1, 1), evict == DRIVE_CACHE_FIFO);
        unmake();
    }
}

Test(data_cache, finds_a_block_that_metadata_claims_too)
{
    struct cache_block *b;
    const uint8_t *bytes;

    make(&(struct drive_cache){8, 1024, 1, 0, DRIVE_CACHE_BACK, DRIVE_CACHE_LRU, 4, 0, 0}, false);
    put(3);
    cr_assert_eq(cache_get(cache, 3, BLOCK_DIRECTORY, &b), -N_EIO);
    cr_assert_eq(cache_get_new(cache, 3, BLOCK_INDIRECT_1, &b), -N_EIO);
    cr_assert_eq(cache_get(cache, 5, BLOCK_DIRECTORY, &b), 0);
    cr_assert_eq(data_cache_fetch(d, 5, 1, 5, &bytes), -N_EIO);
    cr_assert(cache_has_mismatch(cache));
    cache_put(b);
    unmake();
}

/* ---- Drives that fail ---- */

static struct volume v;

static const struct volume_cache *named(const char *name)
{
    const struct volume_cache *c = volume_caches;

    while (strcmp(c->name, name) != 0)
        c++;
    return c;
}

static uint64_t mount_and_open(const char *name)
{
    uint64_t sfid = 0;

    volume_make(&v, 4096, 3000, "");
    volume_set_cache(&v, named(name));
    volume_mount(&v);
    cr_assert_eq(v_open(&v, "/f", N_O_CREAT | N_O_RDWR, &sfid), 0);
    return sfid;
}

static void unmount(void)
{
    cr_assert_eq(volume_unmount(&v), 0);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

Test(data_cache, an_error_of_a_later_write_is_the_next_fsyncs_and_closes)
{
    static uint8_t bytes[20000];
    uint64_t sfid = mount_and_open("back"), other;

    fill_pattern(bytes, sizeof bytes, 1);
    cr_assert_eq(v_write(&v, sfid, 0, bytes, sizeof bytes), sizeof bytes);
    v.writes_fail = true;
    cr_assert_eq(v_fsync(&v, sfid), -N_EIO);
    cr_assert_not_null(strstr(v.log, "df00: inode "), "%s", v.log);
    cr_assert_not_null(strstr(v.log, "could not be written to the drive"), "%s", v.log);
    cr_assert_eq(v_open(&v, "/f", N_O_RDWR, &other), 0);
    cr_assert_eq(v_close(&v, other), -N_EIO);
    v.writes_fail = false;
    cr_assert_eq(v_fsync(&v, sfid), 0);
    cr_assert_eq(v_close(&v, sfid), 0);
    volume_crash(&v);
    volume_mount(&v);
    cr_assert(v_has(&v, "/f", bytes, sizeof bytes));
    unmount();
}

static uint32_t sector_of(const void *bytes, size_t n)
{
    const uint8_t *at = memmem(v.bytes, v.size, bytes, n);

    cr_assert_not_null(at);
    return (uint32_t)((size_t)(at - v.bytes) / BLOCKDEV_SECTOR_BYTES);
}

/* No pointer to the data may be written; without the file, the others' are. */
Test(data_cache, a_bad_sector_holds_up_the_sync_until_its_file_is_gone)
{
    static uint8_t bytes[8192];
    uint64_t sfid = mount_and_open("back"), other;

    fill_pattern(bytes, sizeof bytes, 3);
    cr_assert_eq(v_write(&v, sfid, 0, bytes, sizeof bytes), sizeof bytes);
    cr_assert_eq(v_fsync(&v, sfid), 0);
    v.write_fails_at = sector_of(bytes + 4096, 4096);
    cr_assert_eq(v_write(&v, sfid, 5000, "new", 3), 3);
    cr_assert_eq(v_open(&v, "/g", N_O_CREAT | N_O_RDWR, &other), 0);
    cr_assert_eq(v_fsync(&v, other), -N_EIO);
    cr_assert_eq(v_close(&v, other), 0, "nothing of this file was refused");
    cr_assert_eq(v_close(&v, sfid), -N_EIO);
    cr_assert_eq(v_unlink(&v, "/f"), 0);
    cr_assert_eq(v_open(&v, "/g", N_O_RDWR, &other), 0);
    cr_assert_eq(v_fsync(&v, other), 0);
    cr_assert_eq(v_close(&v, other), 0);
    unmount();
}

Test(data_cache, a_full_cache_and_a_dead_drive_answer)
{
    static uint8_t bytes[400000];
    uint64_t sfid = mount_and_open("back");

    fill_pattern(bytes, sizeof bytes, 2);
    cr_assert_eq(v_write(&v, sfid, 0, bytes, sizeof bytes), sizeof bytes); /* more than fits: 64 KB */
    v.writes_fail = true;
    for (int i = 0; i < 40; i++) {
        uint32_t writes = v.writes;
        int32_t n = v_write(&v, sfid, i * 8192u, bytes + i * 8192, 8192);

        cr_assert(n == -N_EIO || n > 0, "%d", n);
        cr_assert_leq(v.writes - writes, 16, "write %d: %u commands", i, v.writes - writes);
    }
    uint32_t writes = v.writes;
    cr_assert_eq(v_write(&v, sfid, 300000, bytes, 8192), -N_EIO);
    cr_assert_eq(v.writes, writes, "each block was refused once");
    cr_assert_eq(v_fsync(&v, sfid), -N_EIO);
    v.writes_fail = false;
    cr_assert_eq(v_write(&v, sfid, 0, bytes, sizeof bytes), -N_EIO, "only a sync tries again");
    cr_assert_eq(v_fsync(&v, sfid), 0);
    cr_assert_eq(v_write(&v, sfid, 0, bytes, sizeof bytes), sizeof bytes);
    cr_assert_eq(v_close(&v, sfid), 0);
    cr_assert(v_has(&v, "/f", bytes, sizeof bytes));
    unmount();
}

Test(data_cache, a_write_through_tells_its_error_at_once)
{
    static uint8_t bytes[8192], in[8192];
    uint64_t sfid = mount_and_open("through");

    cr_assert_eq(v_write(&v, sfid, 0, bytes, sizeof bytes), sizeof bytes);
    v.writes_fail = true;
    memset(in, 'x', sizeof in);
    cr_assert_eq(v_write(&v, sfid, 0, in, sizeof in), -N_EIO);
    v.writes_fail = false;
    cr_assert_eq(v_read(&v, sfid, 0, in, sizeof in), sizeof in);
    cr_assert_arr_eq(in, bytes, sizeof in, "what the disk has, not what it refused");
    cr_assert_eq(v_fsync(&v, sfid), 0);
    cr_assert_eq(v_close(&v, sfid), 0);
    unmount();
}
