/* Elements as bytes: what is packed comes back equal; damaged bytes are refused, or make another set that is in
 * order. */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/random_pattern.h"

#define ROUNDS     2000
#define HEAD_BYTES 24
#define NODE_BYTES 40

/* Packs an element into memory of exactly its size, so that the sanitizers notice a byte too many. */
static uint8_t *pack(const struct pattern *p, int32_t element, size_t *n)
{
    int64_t bytes = pattern_pack(p, element, NULL, 0);

    cr_assert_geq(bytes, HEAD_BYTES);
    uint8_t *packed = malloc((size_t)bytes);
    cr_assert_eq(pattern_pack(p, element, packed, (size_t)bytes), bytes);
    *n = (size_t)bytes;
    return packed;
}

/* Siblings ascend and stay in their block; counts of bytes are those of the parts. Returns the bytes of the list. */
static int64_t check_list(const struct falls_set *set, int32_t first, int32_t n, int64_t within)
{
    int64_t end = 0, bytes = 0;

    cr_assert(n >= 0 && first >= 0 && first + n <= set->nodes);
    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        cr_assert(f->left >= end && f->length >= 1 && f->count >= 1 && f->before == bytes);
        cr_assert(f->count == 1 || f->stride >= f->length);
        end = f->left + (f->count - 1) * f->stride + f->length;
        cr_assert_leq(end, within);
        cr_assert_eq(f->bytes, f->children > 0 ? check_list(set, f->child, f->children, f->length) : f->length);
        bytes += f->count * f->bytes;
    }
    return bytes;
}

static void check_set(const struct pattern *p)
{
    const struct falls_set *set = &p->element[0];

    cr_assert(p->elements == 1 && p->period >= 1 && p->displacement >= 0 && set->ascending);
    cr_assert_eq(check_list(set, set->top, set->tops, p->period), set->bytes);
    if (set->bytes > 0) {
        cr_assert_eq(falls_rank(set, falls_select(set, 0)), 0);
        cr_assert_eq(falls_rank(set, falls_select(set, set->bytes - 1)), set->bytes - 1);
    }
}

/* Words of a message are read as words, where they are aligned: the sanitizers see one that is not. */
Test(pattern_wire, at_any_address_too)
{
    uint64_t state = 23;

    for (int round = 0; round < 64; round++) {
        struct pattern *p = random_pattern(&state, 200, true), *q = NULL;
        size_t n;
        uint8_t *packed = pack(p, 0, &n), *moved = malloc(n + 8), *at = moved + round % 8;

        cr_assert_eq(pattern_pack(p, 0, at, n), (int64_t)n);
        cr_assert_eq(memcmp(at, packed, n), 0, "%d", round % 8);
        cr_assert_eq(pattern_unpack(at, n, &q), 0, "%d", round % 8);
        pattern_free(q);
        pattern_free(p);
        free(moved);
        free(packed);
    }
}

Test(pattern_wire, what_is_packed_comes_back)
{
    uint64_t state = 17;

    for (int round = 0; round < ROUNDS; round++) {
        struct pattern *p = random_pattern(&state, 200, true), *q = NULL;
        int32_t e = (int32_t)random_below(&state, (uint32_t)p->elements);
        size_t n, again;
        uint8_t *packed = pack(p, e, &n);

        cr_assert_eq(pattern_unpack(packed, n, &q), 0, "round %d", round);
        check_set(q);
        cr_assert(q->displacement == p->displacement && q->period == p->period);
        cr_assert_eq(q->element[0].bytes, p->element[e].bytes);
        for (int64_t x = 0; x <= p->period; x++)
            cr_assert_eq(falls_rank(&q->element[0], x), falls_rank(&p->element[e], x), "round %d, byte %ld", round,
                         (long)x);
        free(pack(q, 0, &again));
        cr_assert_leq(again, n, "round %d: simplified once more, perhaps", round);
        free(packed);
        pattern_free(p);
        pattern_free(q);
    }
}

Test(pattern_wire, any_damaged_byte_is_refused_or_makes_a_set_in_order)
{
    uint64_t state = 23;
    int refused = 0, made = 0;

    for (int round = 0; round < ROUNDS / 4; round++) {
        struct pattern *p = random_pattern(&state, 200, true);
        size_t n;
        uint8_t *packed = pack(p, (int32_t)random_below(&state, (uint32_t)p->elements), &n);

        for (size_t i = 0; i < n; i++) {
            uint8_t before = packed[i];
            const uint8_t damaged[] = {0,
                                       1,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       (uint8_t)(before + 1),
                                       (uint8_t)(before - 1),
                                       (uint8_t)random_below(&state, 256)};

            for (size_t k = 0; k < sizeof damaged; k++) {
                struct pattern *q = NULL;

                packed[i] = damaged[k];
                if (pattern_unpack(packed, n, &q) == 0) {
                    check_set(q);
                    pattern_free(q);
                    made++;
                } else {
                    cr_assert_null(q);
                    refused++;
                }
            }
            packed[i] = before;
        }
        for (size_t cut = 0; cut < n; cut++) {
            struct pattern *q = NULL;
            uint8_t *part = malloc(cut ? cut : 1);

            memcpy(part, packed, cut);
            cr_assert_eq(pattern_unpack(part, cut, &q), -EINVAL, "cut to %zu of %zu bytes", cut, n);
            free(part);
        }
        free(packed);
        pattern_free(p);
    }
    cr_assert(refused > 10000 && made > 10000, "%d refused, %d made", refused, made);
}

static void put(uint8_t *to, int64_t value)
{
    for (int i = 0; i < 8; i++)
        to[i] = (uint8_t)((uint64_t)value >> 8 * i);
}

/* `nodes` nodes of five numbers each. */
static int unpack_nodes(int64_t displacement, int64_t period, int64_t nodes, const int64_t (*node)[5])
{
    static uint8_t bytes[HEAD_BYTES + 64 * NODE_BYTES];
    struct pattern *p = NULL;

    put(bytes, displacement);
    put(bytes + 8, period);
    put(bytes + 16, nodes);
    for (int64_t i = 0; i < nodes * 5; i++)
        put(bytes + HEAD_BYTES + 8 * i, node[i / 5][i % 5]);
    int error = pattern_unpack(bytes, HEAD_BYTES + (size_t)nodes * NODE_BYTES, &p);
    pattern_free(p);
    return error;
}

Test(pattern_wire, each_rule_has_its_error)
{
    static const struct {
        const char *name;
        int64_t displacement, period, nodes, node[3][5]; /* left, length, stride, count, children */
        int error;
    } row[] = {
        {"nothing", 0, 8, 0, {{0}}, 0},
        {"a row", 3, 16, 1, {{0, 4, 8, 2, 0}}, 0},
        {"a nest", 0, 16, 2, {{0, 4, 8, 2, 1}, {0, 1, 2, 2, 0}}, 0},
        {"a displacement below zero", -1, 16, 1, {{0, 4, 8, 2, 0}}, -EINVAL},
        {"a displacement out of reach", INT64_MAX, 16, 1, {{0, 4, 8, 2, 0}}, -EOVERFLOW},
        {"no period", 0, 0, 0, {{0}}, -EINVAL},
        {"beyond the period", 0, 11, 1, {{0, 4, 8, 2, 0}}, -EINVAL},
        {"a left below zero", 0, 16, 1, {{-1, 4, 8, 2, 0}}, -EINVAL},
        {"no length", 0, 16, 1, {{0, 0, 8, 2, 0}}, -EINVAL},
        {"no block", 0, 16, 1, {{0, 4, 4, 0, 0}}, -EINVAL},
        {"blocks overlap", 0, 16, 1, {{0, 4, 3, 2, 0}}, -EINVAL},
        {"a stride of one block", 0, 16, 1, {{0, 4, 8, 1, 0}}, -EINVAL},
        {"siblings in the wrong order", 0, 16, 2, {{8, 4, 4, 1, 0}, {0, 4, 4, 1, 0}}, -EINVAL},
        {"siblings that interleave", 0, 16, 2, {{0, 1, 4, 2, 0}, {2, 1, 4, 2, 0}}, -EINVAL},
        {"a child beyond its block", 0, 16, 2, {{0, 4, 8, 2, 1}, {0, 2, 3, 2, 0}}, -EINVAL},
        {"a child that does not follow", 0, 16, 1, {{0, 4, 8, 2, 1}}, -EINVAL},
        {"children below zero", 0, 16, 1, {{0, 4, 8, 2, 0x80000000}}, -EINVAL},
        {"bits behind the children", 0, 16, 1, {{0, 4, 8, 2, 0x100000000}}, -EINVAL},
        {"blocks without end", 0, 16, 1, {{0, 4, INT64_MAX / 2, 4, 0}}, -EOVERFLOW},
        {"the last block ends too far", 0, 16, 1, {{INT64_MAX, 4, 4, 1, 0}}, -EOVERFLOW},
    };

    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        cr_expect_eq(unpack_nodes(row[i].displacement, row[i].period, row[i].nodes, row[i].node), row[i].error, "%s",
                     row[i].name);
}

Test(pattern_wire, too_many_levels_and_nodes_are_refused)
{
    int64_t node[40][5];
    uint8_t head[HEAD_BYTES];
    struct pattern *p = NULL;

    for (int i = 0; i < 40; i++)
        memcpy(node[i], (int64_t[]){0, 64, 64, 1, 1}, sizeof node[i]);
    node[PATTERN_LEVELS_MAX - 1][4] = 0;
    cr_expect_eq(unpack_nodes(0, 64, PATTERN_LEVELS_MAX, node), 0);
    node[PATTERN_LEVELS_MAX - 1][4] = 1;
    node[PATTERN_LEVELS_MAX][4] = 0;
    cr_expect_eq(unpack_nodes(0, 64, PATTERN_LEVELS_MAX + 1, node), -E2BIG);
    put(head, 0);
    put(head + 8, 8);
    put(head + 16, PATTERN_NODES_MAX + 1);
    cr_expect_eq(pattern_unpack(head, sizeof head, &p), -E2BIG);
}

Test(pattern_wire, an_element_that_is_not_there_or_not_in_file_order_is_refused)
{
    struct pattern *p = NULL;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse("bits o0-0 p0-0 o2-1", &p, why), 0);
    cr_expect_eq(pattern_pack(p, 0, NULL, 0), -EINVAL);
    cr_expect_eq(pattern_pack(p, 2, NULL, 0), -EINVAL);
    pattern_free(p);
}

/* ---- Whole patterns ---- */

static int unpack_copy(const uint8_t *bytes, size_t n, struct pattern **p)
{
    uint8_t *copy = malloc(n + 1);

    memcpy(copy, bytes, n);
    int error = pattern_unpack_all(copy, n, p);
    free(copy);
    return error;
}

/* The last element says that it is longer than what there is: nothing behind is read. */
Test(pattern_wire, an_element_that_is_cut_off_is_refused)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p, *back;

    cr_assert_eq(pattern_parse("falls 16 (0,1,8,2,2,4)", &p, why), 0, "%s", why);
    int64_t n = pattern_pack_all(p, NULL, 0), length;
    uint8_t *packed = malloc((size_t)n);

    cr_assert_eq(pattern_pack_all(p, packed, (size_t)n), n);
    for (length = n - 15; length < n + 64; length++) {
        memcpy(packed + 8, &length, sizeof length);
        cr_expect_eq(unpack_copy(packed, (size_t)n, &back), -EINVAL, "%ld of %ld bytes", (long)length, (long)n);
    }
    free(packed);
    pattern_free(p);
}

Test(pattern_wire, a_whole_pattern_comes_back)
{
    static const char *const text[] = {"cyclic 10 3 +7",
                                       "array 31x37x3 cyclic(5),* on 4x1",
                                       "cyclic 4 1",
                                       "falls 16 (0,1,8,2,2,4)",
                                       "falls (0,3,-,1,4,3)",
                                       "array 5x4x1 block,* on 8x1",
                                       "array 9x5x4x2 block(3),cyclic,cyclic(2) on 3x2x2 +100"};

    for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
        char why[PATTERN_WHY_BYTES], before[4096], after[4096];
        struct pattern *p, *back;

        cr_assert_eq(pattern_parse(text[i], &p, why), 0, "%s", why);
        int64_t n = pattern_pack_all(p, NULL, 0);
        uint8_t *packed = malloc((size_t)n);
        cr_assert_eq(pattern_pack_all(p, packed, (size_t)n), n);
        cr_assert_eq(unpack_copy(packed, (size_t)n, &back), 0, "%s", text[i]);
        pattern_format(p, before, sizeof before);
        pattern_format(back, after, sizeof after);
        cr_expect_str_eq(after, before);
        cr_expect_eq(back->elements, p->elements);
        pattern_free(back);
        for (int64_t cut = 0; cut < n; cut++)
            cr_expect_lt(unpack_copy(packed, (size_t)cut, &back), 0, "%s, cut at %lld", text[i], (long long)cut);
        pattern_free(p);
        free(packed);
    }
}

Test(pattern_wire, elements_of_different_patterns_are_no_pattern)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p, *back;
    uint8_t packed[1000];

    cr_assert_eq(pattern_parse("falls (0,3,-,1,4,2)", &p, why), 0);
    int64_t n = pattern_pack_all(p, packed, sizeof packed);
    pattern_free(p);
    packed[16 + 8]++; /* the first element's period */
    cr_expect_eq(unpack_copy(packed, (size_t)n, &back), -EINVAL);
    packed[16 + 8]--;
    packed[0] = 0;
    cr_expect_eq(unpack_copy(packed, 8, &back), -EINVAL, "no element");
    packed[0] = 3;
    cr_expect_eq(unpack_copy(packed, (size_t)n, &back), -EINVAL, "an element that is missing");
    cr_assert_eq(pattern_parse("bits o0-0 p0-0 o2-1", &p, why), 0);
    cr_expect_eq(pattern_pack_all(p, packed, sizeof packed), -EINVAL, "a permutation");
    pattern_free(p);
}

Test(pattern_wire, an_array_that_cannot_be_made_is_refused)
{
    static const struct {
        const char *name;
        int at;
        int64_t value;
        int error;
    } row[] = {
        {"no dimension fewer", 0, -1, -EINVAL},
        {"more dimensions than there may be", 0, -1000, -EINVAL},
        {"the most negative number of dimensions", 0, INT64_MIN, -EINVAL},
        {"a displacement below zero", 8, -1, -EINVAL},
        {"a displacement out of reach", 8, INT64_MAX, -EOVERFLOW},
        {"items of nothing", 16, 0, -EINVAL},
        {"items too long", 16, INT64_MAX, -EOVERFLOW},
        {"no index", 24, 0, -EINVAL},
        {"another kind", 32, 'x', -EINVAL},
        {"a kind beyond characters", 32, 'c' + 256, -EINVAL},
        {"blocks below zero", 40, -1, -EINVAL},
        {"no process", 48, 0, -EINVAL},
        {"more processes than there may be", 48, (int64_t)1 << 32 | 2, -EINVAL},
        {"more elements than there may be", 48, PATTERN_ELEMENTS_MAX, -E2BIG},
        {"blocks dealt out beyond reach", 24, PATTERN_OFFSET_MAX / 2, -EOVERFLOW},
    };
    char why[PATTERN_WHY_BYTES];
    struct pattern *p, *back;
    uint8_t packed[100];

    cr_assert_eq(pattern_parse("array 6x8x4 cyclic(2),block on 3x2 +5", &p, why), 0);
    int64_t n = pattern_pack_all(p, packed, sizeof packed);
    pattern_free(p);
    cr_assert_eq(n, 24 + 2 * 32);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint8_t wrong[100];

        memcpy(wrong, packed, sizeof wrong);
        put(wrong + row[i].at, row[i].value);
        cr_expect_eq(unpack_copy(wrong, (size_t)n, &back), row[i].error, "%s", row[i].name);
    }
}
