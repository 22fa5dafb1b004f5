/* Random operations against a model: every answer, every byte, and e2fsck, for every block size. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/nsdisk/model.h"

static struct volume v;
static struct model m;

#define STEPS 400

static void run_steps(uint32_t block_bytes, uint32_t seed)
{
    for (int i = 0; i < STEPS; i++) {
        cr_assert(model_step(&m, &v),
                  "%u bytes, seed %u, data cache of %u KB (%u), step %d: %s gave %d, expected %d; %s", block_bytes,
                  seed, v.data_cache.kb, v.data_cache.write, i, m.last, m.got, m.expected, v.log);
        cr_assert_eq(cache_held_blocks(server_volume(v.server, 0)->cache), 0, "seed %u, step %d", seed, i);
    }
    const char *wrong = model_compare(&m, &v);
    cr_assert_null(wrong, "%u bytes, seed %u: %s", block_bytes, seed, wrong);
}

static void unmount(uint32_t block_bytes, uint32_t seed)
{
    cr_assert_eq(server_volume(v.server, 0)->errors, false, "%s", v.log);
    cr_assert_eq(volume_unmount(&v), 0);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0, "%u bytes, seed %u: e2fsck", block_bytes, seed);
}

static void run_seed(uint32_t block_bytes, uint32_t seed, const struct volume_cache *cache)
{
    volume_make(&v, block_bytes, 12000, seed % 2 ? "-g 2048" : "");
    volume_set_cache(&v, cache);
    v.cache_bytes = (64 + seed % 3 * 64) * block_bytes;
    model_init(&m, seed);
    volume_mount(&v);
    run_steps(block_bytes, seed);
    unmount(block_bytes, seed);
    volume_mount(&v);
    const char *wrong = model_compare(&m, &v);
    cr_assert_null(wrong, "%u bytes, seed %u, remounted: %s", block_bytes, seed, wrong);
    run_steps(block_bytes, seed);
    unmount(block_bytes, seed);
    volume_free(&v);
    model_free(&m);
}

static void run_seeds(uint32_t block_bytes)
{
    const char *wanted = getenv("NSDISK_SEEDS"); /* more than usual */
    uint32_t seeds = wanted ? (uint32_t)atoi(wanted) : 12;

    for (uint32_t seed = 0; seed < seeds; seed++)
        run_seed(block_bytes, seed, &volume_caches[0]);
    for (const struct volume_cache *cache = volume_caches + 1; cache->name; cache++)
        for (uint32_t seed = 0; seed < (seeds + 3) / 4; seed++)
            run_seed(block_bytes, seed, cache);
}

Test(model, agrees_with_blocks_of_1_kb)
{
    run_seeds(1024);
}

Test(model, agrees_with_blocks_of_2_kb)
{
    run_seeds(2048);
}

Test(model, agrees_with_blocks_of_4_kb)
{
    run_seeds(4096);
}
