/* See ask_disk.h. */
#include "tests/nsdisk/ask_disk.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

uint64_t random_state;

uint32_t below(uint32_t n)
{
    return random_next(&random_state) % n;
}

uint32_t steps_wanted(uint32_t usual)
{
    const char *wanted = getenv("NSDISK_STEPS");

    return wanted ? (uint32_t)atoi(wanted) : usual;
}

/* ---- A disk whose commands end when the test says so, the oldest first ---- */

struct ask_disk disk;

static void disk_start(void *ctx, bool write, uint64_t sector, void *buf, uint32_t sectors, struct blockdev_command *c)
{
    struct given g = {c, write, (uint32_t)sector / 2, sectors / 2, buf};

    (void)ctx;
    for (uint32_t i = 0; i < disk.under_way; i++)
        cr_assert(write || disk.line[i].write || g.first >= disk.line[i].first + disk.line[i].count ||
                      disk.line[i].first >= g.first + g.count,
                  "part %u is read twice", g.first);
    for (uint32_t i = 0; i < g.count && !write; i++)
        cr_assert(!disk.gone[g.first + i], "part %u is read, though dropped", g.first + i);
    cr_assert_lt(disk.under_way, 80);
    disk.line[disk.under_way++] = g;
    disk.commands++;
}

void end_oldest(void)
{
    struct given g = disk.line[0];
    bool fails = g.write && below(1000) < disk.fail_per_mill;

    memmove(disk.line, disk.line + 1, --disk.under_way * sizeof *disk.line);
    for (uint32_t i = 0; i < g.count && !fails; i++) {
        memcpy(g.write ? disk.medium[g.first + i] : g.buf + i * PART,
               g.write ? g.buf + i * PART : disk.medium[g.first + i], PART);
        if (g.write && disk.written)
            cr_assert(disk.written(g.first + i), "part %u on the medium", g.first + i);
    }
    g.command->status = fails ? -N_EIO : 0;
    g.command->done = true;
}

static void disk_wait(void *ctx, struct blockdev_command *c)
{
    (void)ctx;
    while (!c->done) {
        if (disk.meanwhile)
            disk.meanwhile();
        if (!c->done)
            end_oldest();
    }
}

static void write_log(void *ctx, const char *text)
{
    (void)ctx;
    (void)text;
}

static const struct blockdev dev = {.sectors = PARTS * 2, .start = disk_start, .wait = disk_wait};
static const struct cache_log quiet = {write_log, NULL};
struct cache *cache;
struct data_cache *d;

void make(const struct drive_cache *set)
{
    memset(&disk, 0, sizeof disk);
    cache = cache_new(&dev, "df07", PART, CACHE_MIN_BLOCKS * PART, quiet);
    d = data_cache_new(cache, "df07", PART, set, quiet, (struct data_clock){0});
    cr_assert(cache && d);
    cache_attach_data(cache, d);
}

void unmake(void)
{
    disk.meanwhile = NULL;
    data_cache_free(d);
    cache_free(cache);
}

/* ---- Askers ---- */

struct data_waiter waiter[WAITERS];
bool waits[WAITERS];
uint32_t waiting;

struct data_waiter *free_waiter(void)
{
    for (uint32_t i = 0; i < WAITERS; i++)
        if (!waits[i])
            return &waiter[i];
    return NULL;
}

void extent_of(uint32_t part, uint32_t group, uint32_t *first, uint32_t *count)
{
    *first = part & ~(group - 1);
    *count = group;
    if (group > 1 && *first / group % 3 == 0) {
        *count = part == *first ? 1 : group - 1;
        *first += part != *first;
    }
}
