/* Pictures of patterns: each cell is its owner's. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "emu/tools/map_picture.h"
#include "tests/libpio/random_pattern.h"

static void print(const struct map_picture *m)
{
    FILE *nowhere = fopen("/dev/null", "w");

    cr_assert_not_null(nowhere);
    map_picture_print(m, nowhere, true);
    map_picture_write_svg(m, nowhere, (const char *const[2]){"one", "two < \"three\""});
    fclose(nowhere);
}

/* Compares what a cell says with each of its bytes. */
static void check_cell(const struct map_picture *m, const struct pattern *p, int32_t owner, int line, int column)
{
    int64_t start = line * m->lines_a_cell * m->row + column * m->cell;

    if (owner == MAP_BEYOND)
        cr_assert_geq(start, m->bytes);
    for (int64_t y = 0; y < m->lines_a_cell; y++)
        for (int64_t x = 0; x < m->cell && column * m->cell + x < m->row; x++) {
            int64_t at = start + y * m->row + x, offset;
            int32_t element;

            if (at >= m->bytes)
                continue;
            int error = pattern_place(p, m->from + at, &element, &offset);
            cr_assert(owner < 0 || (error == 0 && element == owner), "byte %ld", (long)(m->from + at));
            cr_assert(owner != MAP_NOBODY || error != 0, "byte %ld", (long)(m->from + at));
        }
}

Test(map_picture, a_cell_is_its_owners)
{
    uint64_t state = 9;

    for (int round = 0; round < 2000; round++) {
        struct pattern *a = random_pattern(&state, 400, false), *b = random_pattern(&state, 400, false);
        const struct pattern *const p[2] = {a, b};
        int patterns = 1 + round % 2;
        struct map_picture m;

        map_picture_make(&m, p, patterns, round % 3 ? 0 : 1 + random_below(&state, 500),
                         1 + (int)random_below(&state, 40));
        for (int k = 0; k < patterns; k++)
            for (int line = 0; line < m.lines; line++)
                for (int column = 0; column < m.columns; column++)
                    check_cell(&m, p[k], m.owner[k][line * m.columns + column], line, column);
        print(&m);
        map_picture_free(&m);
        pattern_free(a);
        pattern_free(b);
    }
}

Test(map_picture, is_made_of_patterns_as_large_as_files_can_be)
{
    static const char *const text[] = {"cyclic 500000000000000 8192",
                                       "array 1000000x1000000x1000 block,block on 7x9",
                                       "array 4611686018427387x1x1000 block,* on 7x1",
                                       "bits o50- p3-0 o49-0",
                                       "view 4000000000000000000 (0,0,4000000000,1000000000)",
                                       "array 3x4611686018427x1000 cyclic,block on 2x3 +2000000000000000000"};
    enum { TEXTS = sizeof text / sizeof *text };
    struct pattern *p[TEXTS];
    char why[PATTERN_WHY_BYTES];

    for (int i = 0; i < TEXTS; i++)
        cr_assert_eq(pattern_parse(text[i], &p[i], why), 0, "%s: %s", text[i], why);
    for (int i = 0; i < TEXTS; i++)
        for (int j = 0; j < TEXTS; j++) {
            struct map_picture m;

            map_picture_make(&m, (const struct pattern *const[2]){p[i], p[j]}, i == j ? 1 : 2, i % 2 ? 0 : 123456789,
                             32);
            cr_expect(m.lines >= 1 && m.lines <= 32 && m.columns >= 1 && m.columns <= 64, "%s, %s: %d x %d", text[i],
                      text[j], m.lines, m.columns);
            print(&m);
            map_picture_free(&m);
        }
    for (int i = 0; i < TEXTS; i++)
        pattern_free(p[i]);
}
