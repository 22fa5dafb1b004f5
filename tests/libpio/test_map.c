/* The striping rule: bytes to volumes and back, and sizes of subfiles. */
#include "libpio/file/map.h"

#include <criterion/criterion.h>

#include "libpio/map/pattern.h"
#include "tests/libpio/random_pattern.h"

struct locate_case {
    const char *name;
    struct pio_map map;
    int64_t offset;
    struct pio_place place;
};

static const struct locate_case locate_cases[] = {
    {"first byte", {8, 16384, NULL}, 0, {0, 0, 16384}},
    {"last byte of block 0", {8, 16384, NULL}, 16383, {0, 16383, 1}},
    {"first byte of block 1", {8, 16384, NULL}, 16384, {1, 0, 16384}},
    {"last volume", {8, 16384, NULL}, 7 * 16384 + 5, {7, 5, 16379}},
    {"second row", {8, 16384, NULL}, 8 * 16384, {0, 16384, 16384}},
    {"middle of block 10", {8, 4096, NULL}, 10 * 4096 + 100, {2, 4196, 3996}},
    {"one volume is a plain file", {1, 4096, NULL}, 5 * 4096 + 7, {0, 5 * 4096 + 7, 4089}},
    {"blocks of one byte", {3, 1, NULL}, 7, {1, 2, 1}},
    {"beyond 32 bits", {8, 16384, NULL}, 1ll << 40, {0, 1ll << 37, 16384}},
};

Test(map, locates_bytes_by_the_striping_rule)
{
    for (size_t i = 0; i < sizeof locate_cases / sizeof locate_cases[0]; i++) {
        const struct locate_case *c = &locate_cases[i];
        struct pio_place place = pio_map_locate(&c->map, c->offset);

        cr_expect_eq(place.volume, c->place.volume, "%s: volume %d", c->name, place.volume);
        cr_expect_eq(place.subfile_offset, c->place.subfile_offset, "%s: subfile offset %ld", c->name,
                     (long)place.subfile_offset);
        cr_expect_eq(place.block_left_bytes, c->place.block_left_bytes, "%s: %d left", c->name, place.block_left_bytes);
    }
}

struct size_case {
    const char *name;
    int64_t logical;
    int64_t subfile[3];
};

/* D = 3, B = 10 */
static const struct size_case size_cases[] = {
    {"empty", 0, {0, 0, 0}},
    {"one byte", 1, {1, 0, 0}},
    {"one block", 10, {10, 0, 0}},
    {"into the second volume", 11, {10, 1, 0}},
    {"last byte of a stripe missing", 29, {10, 10, 9}},
    {"one stripe", 30, {10, 10, 10}},
    {"a stripe and a byte", 31, {11, 10, 10}},
    {"two stripes and a half", 75, {30, 25, 20}},
};

Test(map, splits_a_size_over_the_subfiles_and_back)
{
    static const struct pio_map map = {3, 10, NULL};

    for (size_t i = 0; i < sizeof size_cases / sizeof size_cases[0]; i++) {
        const struct size_case *c = &size_cases[i];

        for (int k = 0; k < 3; k++)
            cr_expect_eq(pio_map_subfile_bytes(&map, k, c->logical), c->subfile[k], "%s: volume %d", c->name, k);
        cr_expect_eq(pio_map_logical_bytes(&map, c->subfile), c->logical, "%s: logical size", c->name);
    }
}

Test(map, takes_the_size_from_the_volume_that_reaches_furthest)
{
    static const struct pio_map map = {3, 10, NULL};

    cr_expect_eq(pio_map_logical_bytes(&map, (int64_t[]){0, 0, 1}), 21, "only the last volume has a byte");
    cr_expect_eq(pio_map_logical_bytes(&map, (int64_t[]){0, 15, 0}), 45, "second row of the middle volume");
    cr_expect_eq(pio_map_logical_bytes(&map, (int64_t[]){11, 10, 10}), 31, "no hole");
}

Test(map, stays_within_its_range_for_an_absurd_subfile)
{
    static const struct pio_map map = {256, 1 << 20, NULL};

    cr_expect_eq(pio_map_logical_end(&map, 255, INT64_MAX), PIO_OFFSET_MAX + 1);
}

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return *state >> 33;
}

static struct pio_map random_map(uint64_t *state)
{
    return (struct pio_map){.disks = 1 + next_random(state) % 256, .block_bytes = 1 + next_random(state) % 70000};
}

Test(map, maps_back_to_the_same_offset)
{
    uint64_t state = 1;

    for (int i = 0; i < 20000; i++) {
        struct pio_map map = random_map(&state);
        int64_t offset = (int64_t)(next_random(&state) << 10 ^ next_random(&state));
        struct pio_place place = pio_map_locate(&map, offset);

        cr_assert(place.volume >= 0 && place.volume < map.disks);
        cr_assert(place.block_left_bytes >= 1 && place.block_left_bytes <= map.block_bytes);
        cr_assert_eq(pio_map_logical(&map, place.volume, place.subfile_offset), offset, "D=%d B=%d offset %ld",
                     map.disks, map.block_bytes, (long)offset);
    }
}

Test(map, keeps_sizes_through_the_subfiles)
{
    uint64_t state = 2;

    for (int i = 0; i < 2000; i++) {
        struct pio_map map = random_map(&state);
        int64_t logical = next_random(&state), sum = 0, subfile[256];

        for (int k = 0; k < map.disks; k++) {
            subfile[k] = pio_map_subfile_bytes(&map, k, logical);
            sum += subfile[k];
        }
        cr_assert_eq(sum, logical, "no byte is on two volumes or on none");
        cr_assert_eq(pio_map_logical_bytes(&map, subfile), logical, "D=%d B=%d size %ld", map.disks, map.block_bytes,
                     (long)logical);
    }
}

Test(map, counts_in_a_subfile_exactly_the_bytes_that_are_located_there)
{
    for (int disks = 1; disks <= 4; disks++)
        for (int block_bytes = 1; block_bytes <= 5; block_bytes++) {
            struct pio_map map = {disks, block_bytes, NULL};
            int64_t count[4] = {0};

            for (int64_t offset = 0; offset < 64; offset++) {
                struct pio_place place = pio_map_locate(&map, offset);

                cr_assert_eq(place.subfile_offset, count[place.volume], "D=%d B=%d offset %ld", disks, block_bytes,
                             (long)offset);
                count[place.volume]++;
                for (int k = 0; k < disks; k++)
                    cr_assert_eq(pio_map_subfile_bytes(&map, k, offset + 1), count[k]);
            }
        }
}

/* A plain file's striping is the pattern "cyclic B D": both ways of computing it agree. */
Test(map, places_bytes_as_the_pattern_of_its_stripes_does)
{
    uint64_t state = 31;

    for (int round = 0; round < 3000; round++) {
        struct pio_map map = {.disks = 1 + (int)random_below(&state, 256),
                              .block_bytes = 1 + (int)random_below(&state, round % 2 ? 1 << 20 : 64)};
        struct pattern *stripes;

        cr_assert_eq(pattern_stripe(map.block_bytes, map.disks, &stripes), 0);
        for (int i = 0; i < 20; i++) {
            int64_t at = (int64_t)random_below(&state, 1u << 30) << random_below(&state, 21), block_end;
            int64_t period = (int64_t)map.block_bytes * map.disks, offset = 0;
            int32_t element = -1;

            if (i % 4 == 0) /* at and around the ends of blocks and stripes */
                at = at / map.block_bytes * map.block_bytes - (i % 8 == 0 && at >= map.block_bytes);
            struct pio_place place = pio_map_locate(&map, at);
            block_end = at % period + place.block_left_bytes;
            cr_assert_eq(pattern_place(stripes, at, &element, &offset), 0);
            cr_assert(place.volume == element && place.subfile_offset == offset,
                      "D %d, B %d, byte %ld: volume %d, offset %ld; element %d, offset %ld", map.disks, map.block_bytes,
                      (long)at, place.volume, (long)place.subfile_offset, element, (long)offset);
            cr_assert_eq(pattern_file(stripes, element, offset), at);
            cr_assert_eq(pio_map_logical(&map, element, offset), at);
            cr_assert_eq(falls_rank(&stripes->element[element], block_end) -
                             falls_rank(&stripes->element[element], at % period),
                         place.block_left_bytes, "all bytes up to the end of the block");
            cr_assert_eq(block_end % map.block_bytes, 0);
        }
        pattern_free(stripes);
    }
}
