#include <criterion/criterion.h>
#include <string.h>

#include "vertex/memory/copy.h"

enum { AREA = 512 };

static const size_t lengths[] = {0, 1, 7, 8, 9, 15, 16, 17, 31, 32, 63, 64, 65, 100, 127, 128, 200, 300};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

static void fill(unsigned char *area, int seed)
{
    for (int i = 0; i < AREA; i++)
        area[i] = i * 31 + seed;
}

static void check_copy(size_t to, size_t from, size_t bytes)
{
    _Alignas(8) unsigned char source[AREA], got[AREA], want[AREA];

    fill(source, 1);
    fill(got, 2);
    memcpy(want, got, AREA);
    memcpy(want + to, source + from, bytes);
    copy_bytes(got + to, source + from, bytes);
    cr_assert_eq(memcmp(got, want, AREA), 0, "%zu bytes from offset %zu to offset %zu", bytes, from, to);
}

Test(copy, every_alignment_copies_exactly_its_bytes)
{
    for (size_t to = 8; to < 16; to++)
        for (size_t from = 8; from < 16; from++)
            for (int i = 0; i < LENGTHS; i++)
                check_copy(to, from, lengths[i]);
}

Test(copy, zeroing_clears_exactly_its_bytes)
{
    _Alignas(8) unsigned char got[AREA], want[AREA];

    for (size_t to = 8; to < 16; to++)
        for (int i = 0; i < LENGTHS; i++) {
            fill(got, 3);
            fill(want, 3);
            memset(want + to, 0, lengths[i]);
            copy_zero(got + to, lengths[i]);
            cr_assert_eq(memcmp(got, want, AREA), 0, "%zu bytes at offset %zu", lengths[i], to);
        }
}
