/* Patterns as text, the examples of the papers, and where [P3]'s printed algorithms go wrong. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/random_pattern.h"

static struct pattern *parse(const char *text)
{
    struct pattern *p = NULL;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse(text, &p, why), 0, "%s: %s", text, why);
    return p;
}

Test(pattern_text, is_read_and_printed)
{
    static const struct {
        const char *text, *printed;
    } row[] = {
        {"cyclic 16384 8", "cyclic 16384 8"},
        {"stripe 4 1 +7", "cyclic 4 1 +7"},
        {"array 100x8 block on 4", "cyclic 200 4"},
        {"array 10x1 block(4) on 3", "falls 10 {(0,3,-,1)@0,(4,7,-,1)@1,(8,9,-,1)@2}"},
        {"array 5x1 cyclic on 2", "falls 5 {(0,0,2,3)@0,(1,1,2,2)@1}"},
        {"array 4x4x1 *,block on 1x2", "falls 16 {(0,1,4,4)@0,(2,3,4,4)@1}"},
        {"array 2x3 *", "cyclic 6 1"},
        {"bits o10- p1-0 o9-0", "cyclic 1024 4"},
        {"bits o0-0 p0-0 o2-1", "bits o0-0 p0-0 o2-1"},
        {"(0,3,8,2,4,2,{(0,0,2,2,1,2)})",
         "falls 16 {(0,2,8,2,{(0,0,2,2)})@0,(1,3,8,2,{(0,0,2,2)})@1,(4,6,8,2,{(0,0,2,2)})@2,(5,7,8,2,{(0,0,2,2)})@3}"},
        {"falls (0,15,-,1,16,3) (48,55,-,1)@2", "falls 56 {(0,15,-,1)@0,(16,31,-,1)@1,(32,55,-,1)@2}"},
        {" falls 12 { ( 0 , 5 , - , 1 , 6 , 2 ) } +3 ", "cyclic 6 2 +3"},
        {"view 16 (0,3,8,2)", "view 16 {(0,3,8,2)@0}"},
        {"view 4611686018427387904 (0,0,4611686018427387903,2)",
         "view 4611686018427387904 {(0,0,4611686018427387903,2)@0}"},
        {"array 1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2x8 *,*,*,*,*,*,*,*,*,*,*,*,*,*,*,block"
         " on 1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x2",
         "cyclic 8 2"},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct pattern *p = parse(row[i].text);
        char text[400];

        cr_expect_eq(pattern_format(p, text, sizeof text), strlen(row[i].printed), "%s", row[i].text);
        cr_expect_str_eq(text, row[i].printed);
        pattern_free(p);
    }
}

Test(pattern_text, what_is_printed_makes_the_same_pattern)
{
    static char text[20000];
    uint64_t state = 5;

    for (int round = 0; round < 1500; round++) {
        struct pattern *p = random_pattern(&state, 60, false);
        size_t n = pattern_format(p, text, sizeof text);

        if (p->element[0].bytes == 0 && p->elements == 1) { /* an empty view has no text */
            pattern_free(p);
            continue;
        }
        struct pattern *q;

        cr_assert_lt(n, sizeof text);
        q = parse(text);
        cr_assert_eq(p->period, q->period);
        for (int64_t x = p->displacement; x < p->displacement + p->period; x++) {
            int64_t at_p = -1, at_q = -1;
            int32_t e_p = -1, e_q = -1;

            pattern_place(p, x, &e_p, &at_p);
            pattern_place(q, x, &e_q, &at_q);
            cr_assert(e_p == e_q && (e_p < 0 || at_p == at_q), "%s: byte %ld", text, (long)x);
        }
        pattern_free(p);
        pattern_free(q);
    }
}

Test(pattern_text, a_short_buffer_is_filled_and_the_length_told)
{
    struct pattern *p = parse("cyclic 16384 8");
    char text[8] = "zzzzzzz";

    cr_expect_eq(pattern_format(p, text, 6), 14);
    cr_expect_str_eq(text, "cycli");
    cr_expect_eq(pattern_format(p, NULL, 0), 14);
    pattern_free(p);
}

Test(pattern_text, bad_text_gets_one_line_that_names_the_place)
{
    static const struct {
        const char *text;
        int error;
        const char *why;
    } row[] = {
        {"", -EINVAL, "column 1: 'cyclic', 'array', 'bits', 'falls' or 'view' expected"},
        {"cyclic", -EINVAL, "column 7: the size of a block expected"},
        {"cyclic 0 3", -EINVAL, "column 8: the size of a block is 0; it must be 1 to 562949953421312"},
        {"cyclic 4 3 3", -EINVAL, "column 12: nothing may follow"},
        {"cyclic 4 9000", -EINVAL, "column 10: the number of elements is 9000; it must be 1 to 8192"},
        {"cyclic 99999999999999999999 2", -EOVERFLOW,
         "column 8: the size of a block is 99999999999999999999; it must be 1 to 562949953421312"},
        {"cyclic 4 3 +99999999999999999999", -EOVERFLOW,
         "column 13: the displacement is 99999999999999999999; it must be 0 to 2305843009213693952"},
        {"array 8", -EINVAL, "column 8: an array has sizes and an item's size, such as 100x100x8"},
        {"array 1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x8 *", -E2BIG, "column 41: more than 16 dimensions"},
        {"array 4x8 star", -EINVAL, "column 11: '*', 'block' or 'cyclic' expected"},
        {"array 4x4x8 block", -EINVAL, "column 18: ',' expected"},
        {"array 4x8 * on 2", -EINVAL, "column 17: dimension 0 is not distributed: its grid has 1"},
        {"array 10x8 block(3) on 2", -EINVAL, "column 25: array: sizes and grid do not fit"},
        {"array 4000000000x4000000000x8 *,*", -EOVERFLOW, "column 34: array: larger than a file can be"},
        {"array 4x4x8 cyclic,cyclic on 100x100", -E2BIG, "column 37: array: too many elements or nodes"},
        {"bits", -EINVAL, "column 5: a group of bits such as o9-0 or p2-0 expected"},
        {"bits o3-0 o3-0", -EINVAL, "column 15: each bit must be there once, none left out"},
        {"bits o2-2 p0-0", -EINVAL, "column 15: each bit must be there once, none left out"},
        {"bits o0-0 p1-1", -EINVAL, "column 15: each bit must be there once, none left out"},
        {"bits o63-0 p0-0", -EINVAL, "column 7: a bit is 63; it must be 0 to 62"},
        {"bits o3- p1-0 o9-0", -EINVAL, "column 19: o3- does not follow on the 10 offset bits below it"},
        {"bits p1- o9-0", -EINVAL, "column 10: only the first group, of offset bits, may be open"},
        {"falls (0,1,-,1", -EINVAL, "column 15: ')' expected"},
        {"falls (3,1,-,1)", -EINVAL, "column 10: r is 1; it must be 3 to 4611686018427387904"},
        {"falls 8 (0,3,2,2)", -EINVAL, "column 17: s is 2: blocks of 4 bytes overlap"},
        {"falls 7 (0,3,4,2)", -EINVAL, "column 18: byte 7 is beyond the period of 7"},
        {"falls 10 (0,3,-,1)(3,9,-,1)", -EINVAL, "column 28: elements 0 and 1 both have byte 3"},
        {"falls 12 (0,3,-,1)(5,11,-,1)", -EINVAL, "column 29: byte 4 is in no element"},
        {"(0,7,-,1,{(0,8,-,1)})", -EINVAL, "column 22: a set reaches byte 8 of a block of 8"},
        {"(0,0,4,2)(2,2,4,2)@0", -EINVAL,
         "column 21: element 0: a set that begins at byte 2 interleaves with the one before it"},
        {"view (0,0,-,1,1,2)", -EINVAL, "column 19: a view is one element, not 2"},
        {"(0,4611686018427387904,-,1)", -EOVERFLOW, "column 28: beyond the end of what a file can be"},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct pattern *p = NULL;
        char why[PATTERN_WHY_BYTES];

        cr_expect_eq(pattern_parse(row[i].text, &p, why), row[i].error, "%s", row[i].text);
        cr_expect_str_eq(why, row[i].why, "%s: %s", row[i].text, why);
        cr_expect_null(p);
    }
}

Test(pattern_text, nested_seventeen_times_is_too_deep)
{
    char text[1000] = "", why[PATTERN_WHY_BYTES];
    struct pattern *p;

    for (int i = 0; i < 17; i++)
        strcat(text, "(0,3,-,1,");
    strcat(text, "(0,0,-,1)");
    for (int i = 0; i < 17; i++)
        strcat(text, ")");
    cr_expect_eq(pattern_parse(text, &p, why), -E2BIG);
    cr_expect(strstr(why, "more than 16 levels"), "%s", why);
}

/* ---- [P3], with the numbers of its errors in the order's list ---- */

Test(pattern_text, rank_is_right_where_the_printed_map_is_not)
{
    static const struct {
        const char *name, *text;
        int64_t x, rank;
    } row[] = {
        {"MAP-AUX_S takes the least where it must take the greatest", "view (0,0,-,1)(5,5,-,1)(9,9,-,1)", 9, 2},
        {"MAP-AUX_f overshoots in a hole", "view 5 (0,0,4,1)", 2, 1},
        {"what would interleave, said as a nest", "view (0,3,4,2,{(0,0,-,1),(2,2,-,1)})", 4, 2},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct pattern *p = parse(row[i].text);

        cr_expect_eq(falls_rank(&p->element[0], row[i].x), row[i].rank, "%s", row[i].name);
        pattern_free(p);
    }
}

static char common[200];

static bool note(void *ctx, const struct plan_run *run)
{
    (void)ctx;
    for (int64_t k = 0; k < run->bytes; k++)
        snprintf(common + strlen(common), sizeof common - strlen(common), "%ld:%ld,%ld ", (long)(run->file + k),
                 (long)(run->in[0] + k), (long)(run->in[1] + k));
    return true;
}

Test(pattern_text, intersections_are_right_where_the_printed_ones_are_not)
{
    static const struct {
        const char *name, *a, *b, *common; /* file byte:place in a, in b */
    } row[] = {
        {"INTERSECT-AUX without l_1 and l_2 finds nothing", "view 16 (0,15,16,1,{(2,13,12,1,{(0,1,4,3)})})",
         "view 16 (4,15,12,1,{(0,11,-,1,{(0,11,-,1)})})", "6:2,2 7:3,3 10:4,6 11:5,7 "},
        {"PROJ of {0,4,8} in {0,1,4,8} is no FALLS", "view 9 (0,1,-,1)(4,4,-,1)(8,8,-,1)", "view 9 (0,0,4,3)",
         "0:0,0 4:2,1 8:3,2 "},
        {"on itself the stride is two", "view 24 (1,2,6,4)", "view 24 (1,2,6,4)",
         "1:0,0 2:1,1 7:2,2 8:3,3 13:4,4 14:5,5 19:6,6 20:7,7 "},
        {"a leaf against a nest", "view 8 (0,7,-,1)", "view 8 (0,3,4,2,{(1,1,2,2)})", "1:1,0 3:3,1 5:5,2 7:7,3 "},
        {"results that would interleave come in file order", "view 24 (0,3,6,4)", "view 24 (0,2,4,6)",
         "0:0,0 1:1,1 2:2,2 6:4,5 8:6,6 9:7,7 12:8,9 13:9,10 14:10,11 18:12,14 20:14,15 21:15,16 "},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct pattern *a = parse(row[i].a), *b = parse(row[i].b);
        struct plan *plan;

        cr_assert_eq(plan_make(a, 0, b, 0, &plan), 0);
        common[0] = '\0';
        plan_runs(plan, 0, 24 < a->period ? 24 : a->period, note, NULL);
        cr_expect_str_eq(common, row[i].common, "%s: %s", row[i].name, common);
        plan_free(plan);
        pattern_free(a);
        pattern_free(b);
    }
}

static int64_t plan_nodes(const char *view, int32_t e, const char *layout, int32_t s)
{
    struct pattern *a = parse(view), *b = parse(layout);
    struct plan *plan;

    cr_assert_eq(plan_make(a, e, b, s, &plan), 0, "%s, %s", view, layout);
    int64_t nodes = plan->body.nodes;
    plan_free(plan);
    pattern_free(a);
    pattern_free(b);
    return nodes;
}

/* [P3 section 8.1]'s arrays of doubles over 64 KB stripes. */
Test(pattern_text, plans_of_large_arrays_are_small)
{
    static const struct {
        const char *view;
        int64_t most;
    } row[] = {
        {"array 1024x1024x8 block,block on 4x4", 16},
        {"array 1024x1024x8 *,block on 1x16", 16},
        {"array 1024x1024x8 cyclic(64),cyclic(64) on 4x4", 16},
        {"array 4096x4096x8 block,block on 4x4", 16},
        {"array 4096x4096x8 *,block on 1x16", 16},
        {"array 2304x2304x8 block,block on 4x4", 64},
        {"array 2304x2304x8 *,block on 1x16", 64},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int32_t s = 0; s < 4; s++) {
            int64_t nodes = plan_nodes(row[i].view, 5, "cyclic 65536 4", s);

            cr_expect_leq(nodes, row[i].most, "%s: %ld nodes", row[i].view, (long)nodes);
        }
}

Test(pattern_text, a_set_is_printed_alone)
{
    static const struct {
        const char *text, *printed; /* of element 1 */
    } row[] = {
        {"cyclic 4 2", "(4,7,-,1)"},
        {"array 4x4x1 cyclic,block on 2x2", "(2,3,8,2)"},
        {"array 8x8x2 cyclic,cyclic(3) on 2x2", "(6,11,32,4)"},
        {"falls 8 (0,7,-,1,{(0,1,4,2)})@0 (0,7,-,1,{(2,2,4,2)})@1 (0,7,-,1,{(3,3,4,2)})@2", "(2,2,4,2)"},
        {"falls 24 (0,11,12,2,{(0,0,4,2),(8,9,-,1)})@1 (0,11,12,2,{(1,3,4,2),(10,11,-,1)})@0",
         "(0,9,12,2,{(0,0,4,2),(8,9,-,1)})"},
        {"array 1x1x1 block,* on 2x1", ""},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char text[80], why[PATTERN_WHY_BYTES];
        struct pattern *p;

        cr_assert_eq(pattern_parse(row[i].text, &p, why), 0, "%s: %s", row[i].text, why);
        cr_expect_eq(falls_format(&p->element[1], text, sizeof text), strlen(row[i].printed), "%s", row[i].text);
        cr_expect_str_eq(text, row[i].printed, "%s: %s", row[i].text, text);
        cr_expect_eq(falls_format(&p->element[1], text, 4), strlen(row[i].printed));
        cr_expect_eq(strncmp(text, row[i].printed, 3), 0, "%s: cut: %s", row[i].text, text);
        pattern_free(p);
    }
}

Test(pattern_text, a_view_may_have_nothing)
{
    char text[80], why[PATTERN_WHY_BYTES];
    struct pattern *p;

    cr_assert_eq(pattern_parse("view 83 { } +3", &p, why), 0, "%s", why);
    cr_expect(p->elements == 1 && p->period == 83 && p->displacement == 3 && p->element[0].bytes == 0);
    pattern_format(p, text, sizeof text);
    cr_expect_str_eq(text, "view 83 {} +3");
    pattern_free(p);
    cr_expect_eq(pattern_parse("view {}", &p, why), -EINVAL, "its period must be given");
    cr_expect_eq(pattern_parse("falls 8 {}", &p, why), -EINVAL, "somebody must have each byte");
}

/* [P3 section 5.2.2] prints three pieces; its procedure makes five of them. */
Test(pattern_text, a_set_is_cut_into_a_part_full_blocks_and_a_part)
{
    char text[80], why[PATTERN_WHY_BYTES];
    struct falls_set cut;
    struct pattern *p;

    cr_assert_eq(pattern_parse("view 30 (3,5,6,5)", &p, why), 0);
    cr_assert_eq(falls_cut(&p->element[0], 4, 29, &cut), 0);
    falls_format(&cut, text, sizeof text);
    cr_expect_str_eq(text, "(0,1,-,1),(5,7,6,3),(23,24,-,1)");
    falls_free(&cut);
    pattern_free(p);
}

Test(pattern_text, bits_name_as_many_elements_as_there_may_be)
{
    static const struct {
        uint8_t names;
        int error;
    } cases[] = {{1, 0}, {13, 0}, {14, -E2BIG}};

    cr_assert_eq(1 << 13, PATTERN_ELEMENTS_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t bit[PATTERN_BIT_ELEMENT] = {0}, n = cases[i].names; /* the last one is of the offset */
        struct pattern *p = NULL;

        for (uint8_t k = 0; k < n; k++)
            bit[k] = (uint8_t)(PATTERN_BIT_ELEMENT + n - 1 - k);
        cr_expect_eq(pattern_bits(n + 1, bit, &p), cases[i].error, "%u bits", n);
        cr_expect(cases[i].error || (p && p->elements == 1 << n), "%u bits", n);
        pattern_free(p);
    }
}
