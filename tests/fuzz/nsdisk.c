/* nsdisk: random requests, damaged images and several clients, each made out of a seed (tests/nsdisk/fuzz.h). */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/fuzz.h"
#include "tests/nsdisk/fuzz.h"
#include "tests/nsdisk/several.h"
#include "tests/nsdisk/volume.h"

#define IMAGES      20
#define ALLOCATIONS 6

static void expect_nothing(const char *wrong)
{
    if (!wrong)
        return;
    fprintf(stderr, "fuzz: %s\n", wrong);
    abort();
}

static void play_messages(uint32_t seed)
{
    expect_nothing(fuzz_messages(20000, seed, 0));
}

static void play_caches(uint32_t seed)
{
    for (uint32_t cache = 1; cache < VOLUME_CACHES; cache++)
        expect_nothing(fuzz_messages(3000, seed, cache));
}

static void play_images(uint32_t seed)
{
    for (uint32_t i = 0; i < IMAGES; i++)
        fuzz_image(seed * IMAGES + i);
}

static void play_allocation(uint32_t seed)
{
    for (uint32_t i = 0; i < ALLOCATIONS; i++)
        expect_nothing(fuzz_allocation(seed * ALLOCATIONS + i));
}

/* Half of the runs with writes that fail. */
static void play_clients(uint32_t seed)
{
    struct several_settings settings = {
        .seed = seed, .steps = 60, .commands = 1 + seed % 5, .io_bytes = 20000, .fail_per_mill = seed % 2 * 20};
    struct loop_statistics statistics;

    expect_nothing(several_run(&settings, &statistics));
}

const struct fuzz_target fuzz_nsdisk_messages = {"nsdisk-messages", .play = play_messages, .short_runs = 1};
const struct fuzz_target fuzz_nsdisk_caches = {"nsdisk-caches", .play = play_caches, .short_runs = 1};
const struct fuzz_target fuzz_nsdisk_images = {"nsdisk-images", .play = play_images, .short_runs = 1};
const struct fuzz_target fuzz_nsdisk_allocation = {"nsdisk-allocation", .play = play_allocation, .short_runs = 1};
const struct fuzz_target fuzz_nsdisk_clients = {"nsdisk-clients", .play = play_clients, .short_runs = 1};
