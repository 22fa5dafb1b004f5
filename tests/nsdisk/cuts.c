/* Power cuts: see cuts.h. */
#include "tests/nsdisk/cuts.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CUTS        25u /* of a scenario, unless NSDISK_ALL_CUTS is set */
#define CACHED_CUTS 2u  /* with each setting of the data cache */
#define MARKS       8

struct volume v;
uint8_t old[BIG], new[BIG];
static uint32_t mark[MARKS]; /* the number of blocks after which something was durable; UINT32_MAX: not yet */
static uint32_t written_at_start;
const struct volume_cache *cache = volume_caches;

void set_mark(int i)
{
    mark[i] = v.blocks_written - written_at_start;
}

bool was_durable(int i, uint32_t cut)
{
    return mark[i] <= cut;
}

uint64_t open_new(const char *name)
{
    uint64_t sfid = 0;

    cr_assert_eq(v_open(&v, name, N_O_CREAT | N_O_RDWR, &sfid), 0, "%s", name);
    return sfid;
}

static uint32_t run_during(const struct scenario *s, uint32_t cut)
{
    volume_mount(&v);
    written_at_start = v.blocks_written;
    v.blocks_allowed = cut;
    s->during();
    uint32_t writes = v.blocks_written - written_at_start;
    volume_crash(&v);
    return writes;
}

static void run_with_cache(const struct scenario *s, uint32_t block_bytes)
{
    fill_pattern(old, sizeof old, 1);
    fill_pattern(new, sizeof new, 2);
    memset(mark, 0xff, sizeof mark);
    uint32_t kilobytes = block_bytes / 1024 * s->blocks;
    const char *options = s->options != NULL ? s->options : block_bytes == 1024 ? "-g 512" : "";
    volume_make(&v, block_bytes, kilobytes > 3000 ? kilobytes : 3000, options);
    v.cache_bytes = 64 * block_bytes;
    volume_set_cache(&v, cache);
    volume_mount(&v);
    s->before();
    volume_unmount(&v);
    uint8_t *base = malloc(v.size);
    memcpy(base, v.bytes, v.size);
    uint32_t writes = run_during(s, UINT32_MAX);
    uint32_t cuts = cache == volume_caches ? CUTS : CACHED_CUTS;
    uint32_t step = getenv("NSDISK_ALL_CUTS") || writes < cuts ? 1 : writes / cuts + 1;
    for (uint32_t cut = 0; cut <= writes; cut += step) {
        memcpy(v.bytes, base, v.size);
        run_during(s, cut);
        int status = volume_fsck(&v, s->repair);
        cr_assert_leq(status, 1, "%s, %u, %s: cut after %u of %u: e2fsck %s gave %d", s->name, block_bytes, cache->name,
                      cut, writes, s->repair, status);
        cr_assert(status == 0 || volume_fsck(&v, "-fn") == 0, "%s, %u, %s: cut after %u: not repaired", s->name,
                  block_bytes, cache->name, cut);
        volume_mount(&v);
        s->after(cut);
        cr_assert_eq(server_volume(v.server, 0)->errors, false, "%s: cut after %u: %s", s->name, cut, v.log);
        volume_crash(&v);
    }
    free(base);
    volume_free(&v);
}

void run_scenario(const struct scenario *s, uint32_t block_bytes)
{
    for (cache = volume_caches; cache->name; cache++)
        run_with_cache(s, block_bytes);
    cache = volume_caches;
}
