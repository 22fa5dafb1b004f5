/* What parallel files are made of: shapes, segments, modes, the text of .meta. Pure arithmetic, from tables. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/star/detect.h"
#include "libpio/star/meta.h"
#include "libpio/star/segments.h"
#include "libpio/star/shape.h"
#include "tests/libpio/unstar.h"

/* ---- Shapes ---- */

static void check_shape(int rank, const long *extent, const int *grid, int nodes)
{
    struct cs_shape *s[16];
    long vps = 1, sum = 0;

    for (int axis = 0; axis < rank; axis++)
        vps *= extent[axis];
    char *seen = calloc((size_t)vps, 1);
    for (int p = 0; p < nodes; p++) {
        cr_assert_eq(star_shape_make(rank, extent, grid, nodes, p, &s[p]), 0);
        sum += cs_local(s[p]);
        cr_assert_leq(cs_local(s[p]), s[p]->most);
        for (long i = 0; i < cs_local(s[p]); i++) {
            long vp = cs_number(s[p], i), again = 0;

            cr_assert(vp >= 0 && vp < vps && !seen[vp], "VP %ld", vp);
            seen[vp] = 1;
            for (int axis = 0; axis < rank; axis++)
                again = again * extent[axis] + cs_pcoord(s[p], i, axis);
            cr_assert_eq(again, vp);
        }
    }
    cr_assert_eq(sum, vps);
    /* The pattern of a row has each VP's block at its node, in the order of local numbers. */
    struct pattern *pattern;
    cr_assert_eq(star_shape_pattern(s[0], 3, 100, &pattern), 0);
    for (int p = 0; p < nodes; p++)
        for (long i = 0; i < cs_local(s[p]); i++) {
            int32_t element;
            int64_t offset;

            cr_assert_eq(pattern_place(pattern, 100 + 3 * cs_number(s[p], i), &element, &offset), 0);
            cr_assert(element == p && offset == 3 * i, "node %d: VP %ld", p, i);
        }
    pattern_free(pattern);
    for (int p = 0; p < nodes; p++)
        cs_shape_free(s[p]);
    free(seen);
}

Test(star_parts, each_vp_has_one_node)
{
    check_shape(1, (long[]){1}, NULL, 8);
    check_shape(1, (long[]){37}, NULL, 8);
    check_shape(2, (long[]){5, 7}, NULL, 3);
    check_shape(3, (long[]){4, 3, 5}, NULL, 1);
    check_shape(2, (long[]){5, 7}, (int[]){2, 4}, 8);
    check_shape(2, (long[]){5, 7}, (int[]){4, 2}, 8); /* cells of two rows: the last has one */
    check_shape(2, (long[]){3, 9}, (int[]){4, 1}, 4);
    check_shape(3, (long[]){4, 3, 5}, (int[]){1, 3, 2}, 6);
    check_shape(3, (long[]){2, 2, 2}, (int[]){1, 1, 5}, 5);
    long many[CS_RANK_MAX];
    int grid[CS_RANK_MAX];
    for (int axis = 0; axis < CS_RANK_MAX; axis++)
        many[axis] = axis % 8 == 0 ? 2 : 1, grid[axis] = axis == 8 ? 2 : 1;
    check_shape(CS_RANK_MAX, many, NULL, 3);
    check_shape(CS_RANK_MAX, many, grid, 2);
}

/* ---- Orders of rows ---- */

/* Each VP's place, against the judge's list. */
static void check_places(const struct star_row_order *o, const struct unstar *u, const char *about)
{
    bool is_by_number = true;

    for (long vp = 0; vp < u->vps; vp++) {
        cr_assert_eq(star_row_order_place(o, vp), u->place[vp], "%s: VP %ld", about, vp);
        cr_assert_eq(star_row_order_vp(o, u->place[vp]), vp, "%s: VP %ld", about, vp);
        is_by_number = is_by_number && u->place[vp] == vp;
    }
    cr_assert(!o->is_by_number || is_by_number, "%s", about);
}

/* A node's view has its blocks, and nothing else, in the order of the list. */
static void check_view(const struct star_row_order *o, const struct cs_shape *s, const struct unstar *u,
                       const char *about)
{
    uint32_t *local = malloc((size_t)(s->local + 1) * sizeof *local);
    struct pattern *view;
    long own = 0;
    bool follow = true;

    cr_assert_eq(star_row_order_view(o, s, 3, 100, &view), 0, "%s", about);
    star_row_order_list(o, s, view, local);
    cr_assert_eq(view->element[0].bytes, 3 * s->local, "%s", about);
    for (long vp = 0; vp < u->vps; vp++) {
        bool has = star_shape_local(s, vp) >= 0;

        for (int k = 0; k < 3; k++)
            cr_assert_eq(falls_find(&view->element[0], 3 * u->place[vp] + k, PLAN_A, NULL), has, "%s: VP %ld", about,
                         vp);
    }
    for (long k = 0; k < s->local; k++) {
        long place = u->place[cs_number(s, local[k])];

        cr_assert_eq(falls_select(&view->element[0], 3 * k), 3 * place, "%s: block %ld", about, k);
        follow = follow && u->place[cs_number(s, k)] == u->place[cs_number(s, 0)] + k;
        own++;
    }
    cr_assert_eq(own, s->local);
    cr_assert(follow || !star_row_order_fits(o, s), "%s", about);
    pattern_free(view);
    free(local);
}

static void check_order(int rank, const long *extent, const char *order, const int *grid, int nodes, const int *over)
{
    struct unstar u = {.vps = 1, .rank = rank};
    char about[80];

    for (int axis = 0; axis < rank; axis++)
        u.vps *= u.extent[axis] = extent[axis];
    snprintf(about, sizeof about, "%s, %ld VPs on %d nodes%s", order, u.vps, nodes, over ? " in a grid" : "");
    cr_assert(unstar_places(&u, order), "%s", about);
    struct star_row_order o = star_row_order_make(rank, extent,
                                                  grid                              ? STAR_GRID
                                                  : strcmp(order, "order row") == 0 ? STAR_ROW
                                                                                    : STAR_COLUMN,
                                                  grid);
    check_places(&o, &u, about);
    for (int node = 0; node < nodes; node++) {
        struct cs_shape *s;

        cr_assert_eq(star_shape_make(rank, extent, over, nodes, node, &s), 0, "%s", about);
        if (!o.is_by_number)
            check_view(&o, s, &u, about);
        cs_shape_free(s);
    }
    unstar_free(&u);
}

Test(star_parts, an_order_is_what_the_description_says)
{
    static const long column[] = {0, 2, 4, 1, 3, 5}, /* of VPs (0,0) (0,1) (0,2) (1,0) ... */
        grid[] = {0, 1, 4, 2, 3, 5};                 /* columns 0, 1 and column 2 */
    struct star_row_order c = star_row_order_make(2, (long[]){2, 3}, STAR_COLUMN, NULL),
                          g = star_row_order_make(2, (long[]){2, 3}, STAR_GRID, (int[]){1, 2});

    for (long vp = 0; vp < 6; vp++) {
        cr_assert_eq(star_row_order_place(&c, vp), column[vp]);
        cr_assert_eq(star_row_order_place(&g, vp), grid[vp]);
    }
    cr_assert(star_row_order_make(3, (long[]){1, 9, 1}, STAR_COLUMN, NULL).is_by_number);
    cr_assert(star_row_order_make(2, (long[]){4, 6}, STAR_GRID, (int[]){4, 3}).is_by_number); /* cells of one row */
    cr_assert(star_row_order_make(2, (long[]){4, 6}, STAR_GRID, (int[]){2, 1}).is_by_number);
    cr_assert(!star_row_order_make(2, (long[]){4, 6}, STAR_GRID, (int[]){2, 2}).is_by_number);
}

/* Random shapes, orders and distributions; extents that do not divide, cells that are empty. */
Test(star_parts, orders_give_each_node_its_blocks)
{
    static const int nodes[] = {1, 2, 3, 5, 7, 8};
    uint64_t state = 1;

    for (int round = 0; round < 600; round++) {
        int rank, grid[4], over[4] = {1, 1, 1, 1}, n = nodes[round % 6];
        long extent[4];
        char order[80] = "order column";

        state = state * 6364136223846793005u + 1442695040888963407u;
        rank = 1 + (int)((state >> 60) % 4);
        for (int axis = 0; axis < rank; axis++) {
            extent[axis] = 1 + (long)((state >> (8 * axis + 10)) % (rank > 2 ? 6 : 14));
            grid[axis] = 1 + (int)((state >> (8 * axis + 14)) % 9 % 7);
        }
        over[(state >> 50) % (uint64_t)rank] = n;
        if (n == 8 && rank > 1)
            over[0] = 2, over[1] = 4, over[2] = over[3] = 1;
        if (round % 3)
            strcpy(order, "order grid");
        for (int axis = 0; axis < rank && round % 3; axis++)
            snprintf(order + strlen(order), 16, " %d", grid[axis]);
        check_order(rank, extent, order, round % 3 ? grid : NULL, n, round % 2 ? over : NULL);
    }
    check_order(2, (long[]){37, 1}, "order column", NULL, 8, NULL);
    check_order(2, (long[]){5, 7}, "order grid 100 100", (int[]){100, 100}, 3, NULL);
    check_order(2, (long[]){5, 7}, "order row", NULL, 3, NULL);
    check_order(2, (long[]){6, 9}, "order grid 4 2", (int[]){4, 2}, 8, (int[]){4, 2});
}

/* ---- Segments and modes ---- */

Test(star_parts, an_offset_has_one_place)
{
    struct star_segments s = {.vps = 5, .nb_block = 8, .nb_rows = 2, .cb_block = 3, .cb_bytes = 7};
    static const struct {
        long at, block, file, begin;
    } rows[] = {{0, 8, 0, 0},    {7, 8, 0, 0},    {8, 8, 40, 8},   {16, 3, 80, 16},
                {18, 3, 80, 16}, {19, 3, 95, 19}, {40, 3, 200, 40}};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct star_row row = star_segments_row(&s, rows[i].at);

        cr_assert(row.block == rows[i].block && row.file == rows[i].file && row.at == rows[i].begin, "%ld", rows[i].at);
    }
    cr_assert_eq(star_segments_nb_end(&s), 80);
    cr_assert_eq(star_segments_end(&s), 23);
    cr_assert_eq(star_segments_file_end(&s), 80 + 3 * 15);
    star_segments_cut(&s, 17);
    cr_assert(s.nb_rows == 2 && s.cb_bytes == 1);
    star_segments_cut(&s, 15);
    cr_assert(s.nb_rows == 1 && s.nb_block == 8 && s.cb_bytes == 0);
    star_segments_cut(&s, 7);
    cr_assert(s.nb_rows == 0 && s.nb_block == 0);
}

Test(star_parts, modes_follow_table_1)
{
    const struct star_segments empty = {.vps = 4, .cb_block = 8},
                               nb = {.vps = 4, .nb_block = 8, .nb_rows = 3, .cb_block = 8},
                               both = {.vps = 4, .nb_block = 8, .nb_rows = 3, .cb_block = 8, .cb_bytes = 5};
    static const struct {
        const char *name;
        int file; /* 0 empty, 1 nb, 2 both */
        enum cs_mode mode;
        struct star_wish wish; /* writes, all active, uniform, at, bytes, stride */
        enum cs_mode wanted;
    } rows[] = {
        {"the first write", 0, CS_NB, {true, true, true, 0, 24, 24}, CS_NB},
        {"the first write has a stride", 0, CS_NB, {true, true, true, 0, 8, 24}, CS_CB},
        {"behind a hole", 0, CS_NB, {true, true, true, 16, 8, 8}, CS_NB},
        {"behind a hole of another size", 0, CS_NB, {true, true, true, 12, 8, 8}, CS_CB},
        {"in the file", 1, CS_NB, {true, true, true, 8, 8, 8}, CS_NB},
        {"at its end", 1, CS_NB, {true, true, true, 24, 8, 8}, CS_NB},
        {"between blocks", 1, CS_NB, {true, true, true, 4, 8, 8}, CS_CB},
        {"another size", 1, CS_NB, {true, true, true, 24, 16, 16}, CS_CB},
        {"two blocks", 1, CS_NB, {false, true, true, 0, 16, 16}, CS_CB},
        {"the mode is CB", 1, CS_CB, {true, true, true, 24, 8, 8}, CS_CB},
        {"the mode is IB", 1, CS_IB, {true, true, true, 24, 8, 8}, CS_IB},
        {"not all", 1, CS_NB, {true, false, true, 24, 8, 8}, CS_IB},
        {"not equal", 1, CS_NB, {true, true, false, 24, 8, 8}, CS_IB},
        {"a read at the end", 1, CS_NB, {false, true, true, 24, 8, 8}, CS_NB},
        {"the last block of NB", 2, CS_NB, {false, true, true, 16, 8, 8}, CS_NB},
        {"the NB segment is exhausted", 2, CS_NB, {false, true, true, 24, 8, 8}, CS_CB},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_assert_eq(star_detect(rows[i].file == 0   ? &empty
                                 : rows[i].file == 1 ? &nb
                                                     : &both,
                                 rows[i].mode, &rows[i].wish),
                     rows[i].wanted, "%s", rows[i].name);
    cr_assert_eq(star_detect_seek(&both, 16), CS_NB);
    cr_assert_eq(star_detect_seek(&both, 17), CS_CB);
    cr_assert_eq(star_detect_seek(&both, 24), CS_CB);
    cr_assert_eq(star_detect_seek(&nb, 24), CS_NB);
    cr_assert_eq(star_detect_seek(&empty, 5), CS_NB);
}

/* ---- The .meta ---- */

static const char whole[] = "star 1\nstate closed\nshape 256 128\norder row\nnodes 8\nnb 8 64\ncb 8 0\n"
                            "ib 64 2 32768 16777216\nsuperblocks 1024 128\nreason cs_fwrite of 12 bytes\nend\n";

Test(star_parts, a_meta_is_read_and_written)
{
    struct star_meta m;
    char text[STAR_META_BYTES];

    cr_assert_eq(star_meta_parse(whole, strlen(whole), &m), 0);
    cr_assert(m.rank == 2 && m.extent[1] == 128 && m.nodes == 8 && m.segments.nb_rows == 64 && m.ib_pointers == 2 &&
              m.superblocks == 1024 && m.directory_superblocks == 128 && m.segments.vps == 32768);
    cr_assert_eq(star_meta_format(&m, text), strlen(whole));
    cr_assert_str_eq(text, whole);
    m.order = STAR_GRID;
    m.grid[0] = 4, m.grid[1] = 2;
    size_t n = star_meta_format(&m, text);
    struct star_meta again;
    cr_assert_eq(star_meta_parse(text, n, &again), 0);
    cr_assert(again.order == STAR_GRID && again.grid[0] == 4 && again.grid[1] == 2);
}

Test(star_parts, a_meta_that_is_not_right_is_refused)
{
    static const char *const bad[][2] = {
        {"star 1", "star 2"},
        {"closed", "open"},
        {"256 128", "256  128"},
        {"256 128", "0256 128"},
        {"256 128", "256 0"},
        {"256 128", "-1 128"},
        {"256 128", "65536 65536"},
        {"256 128", ""},
        {"row", "rows"},
        {"nodes 8", "nodes 0"},
        {"nodes 8", "nodes 99999999999"},
        {"nb 8 64", "nb 0 64"},
        {"nb 8 64", "nb 8 0"},
        {"nb 8 64", "nb 8"},
        {"nb 8 64", "nb 8 99999999999999999"},
        {"cb 8 0", "cb 0 0"},
        {"cb 8 0", "cb 8 -1"},
        {"cb 8 0", "cb 70000 0"},
        {"ib 64", "ib 63"},
        {"ib 64 2", "ib 64 3"},
        {"16777216", "16777217"},
        {"16777216", "16777216 "},
        {"1024 128", "1024 99999999"},
        {"1024 128", "99999999 128"},
        {"reason ", "reason"},
        {"\nend", ""},
        {"end\n", "end"},
        {"end\n", "end\n\n"},
        {"cb 8 0\n", ""},
        {"nb 8 64\ncb 8 0", "cb 8 0\nnb 8 64"},
    };
    struct star_meta m;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[400];
        const char *at = strstr(whole, bad[i][0]);

        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - whole), whole, bad[i][1], at + strlen(bad[i][0]));
        cr_assert_eq(star_meta_parse(text, strlen(text), &m), -EPROTO, "%s for %s", bad[i][1], bad[i][0]);
    }
    cr_assert_eq(star_meta_parse(whole, sizeof whole, &m), -EPROTO, "with a NUL");
}

/* Texts with some bytes changed, cut, or twice: read as they stand, or refused. */
Test(star_parts, a_damaged_meta_is_never_half_read)
{
    uint64_t state = 1;
    struct star_meta m;
    int right = 0;

    for (int round = 0; round < 200000; round++) {
        char text[STAR_META_BYTES + 100], again[STAR_META_BYTES];
        size_t n = strlen(whole);

        memcpy(text, whole, n + 1);
        for (int k = 0; k < 1 + round % 3; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(state >> 33) % n;

            if (state >> 20 & 1)
                text[at] = "0123456789 \n-abcr"[state >> 24 & 15];
            else
                memmove(text + at, text + at + 1, n-- - at);
        }
        if (star_meta_parse(text, n, &m) == 0) {
            right++;
            cr_assert(star_meta_format(&m, again) == n && memcmp(again, text, n) == 0);
        }
    }
    cr_assert(right > 100, "%d", right);
}
