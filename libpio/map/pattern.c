/*
 * Patterns: made of stripes, arrays and bit permutations; the byte of a place; the check that each byte is in one
 * element.
 */
#include "libpio/map/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/falls.h"
#include "libpio/map/places.h"
#include "vertex/shared/text.h"

struct pattern *pattern_new(int64_t displacement, int64_t period, int32_t elements)
{
    struct pattern *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    p->element = calloc((size_t)elements, sizeof *p->element);
    if (!p->element) {
        free(p);
        return NULL;
    }
    p->displacement = displacement;
    p->period = period;
    p->elements = elements;
    return p;
}

void pattern_free(struct pattern *p)
{
    if (!p)
        return;
    for (int32_t e = 0; e < (p->one_node_array ? 1 : p->elements); e++)
        free((void *)p->element[e].node);
    free(p->element);
    free(p->dimension);
    places_free(p);
    free(p);
}

int pattern_hand_over(struct pattern *p, int error, struct pattern **to)
{
    if (error)
        pattern_free(p);
    else
        *to = p;
    return error;
}

int pattern_finish_view(struct falls_build *b, int error, struct pattern *p, struct pattern **to)
{
    if (!error)
        error = falls_finish_by_rank(b, &p->element[0]);
    falls_build_free(b);
    return pattern_hand_over(p, error, to);
}

/* ---- Arrays ---- */

static int deal(const struct pattern_dimension *d, struct dealt *to)
{
    if (d->size < 1 || d->k < 0 || d->procs < 1 || (d->kind == '*' && d->procs != 1))
        return -EINVAL;
    int64_t block = d->size / d->procs + (d->size % d->procs != 0);
    int64_t k = d->kind == '*' ? d->size : d->k > 0 ? d->k : d->kind == 'b' ? block : 1;
    if ((d->kind != '*' && d->kind != 'b' && d->kind != 'c') || (d->kind == 'b' && k < block))
        return -EINVAL; /* BLOCK(k) must reach the end */
    if ((k < d->size ? k : d->size) > PATTERN_OFFSET_MAX / d->procs)
        return -EOVERFLOW;
    *to = (struct dealt){.size = d->size, .k = k < d->size ? k : d->size, .procs = d->procs};
    return 0;
}

/* What process `proc` has of dimension d and those within it; `bytes[d]` is an index's extent. Pushed to the list that
 * begins at `mark`. */
static void push_dimension(struct falls_build *b, int dims, const struct dealt *dealt, const int64_t *bytes,
                           const int32_t *proc, int d, int32_t mark)
{
    int64_t k = dealt[d].k, round = k * dealt[d].procs, first = k * proc[d];
    int64_t rounds = first < dealt[d].size ? (dealt[d].size - first) / round : 0;
    int64_t rest = dealt[d].size - first - rounds * round; /* indices of a last, shorter block */

    /* whole blocks, then the last block, which may be whole, too */
    for (int part = 0; part < 2; part++) {
        int64_t count = part == 0 ? rounds : 1, indices = part == 0 || rest > k ? k : rest;
        struct falls outer = {
            .left = (first + (part == 0 ? 0 : rounds * round)) * bytes[d], .stride = round * bytes[d], .count = count};
        struct falls each = {.length = bytes[d], .stride = bytes[d], .count = indices};
        int32_t outer_mark = b->listed;

        falls_lies_as_in_file(&outer);
        falls_lies_as_in_file(&each);
        if (count < 1 || indices < 1)
            continue;
        if (d == dims - 1) {
            each.length *= indices;
            each.count = 1;
            falls_push(b, outer_mark, &each);
        } else {
            push_dimension(b, dims, dealt, bytes, proc, d + 1, b->listed);
            falls_wrap(b, outer_mark, outer_mark, &each);
        }
        falls_wrap(b, mark, outer_mark, &outer);
    }
}

/* One block for each element: the nodes without a builder, which would cost some 5,000 cycles of a node for each. */
static int make_blocks(struct pattern *p, int64_t block)
{
    struct falls *node = calloc((size_t)p->elements, sizeof *node);

    if (!node)
        return -ENOMEM;
    p->one_node_array = true;
    for (int32_t e = 0; e < p->elements; e++) {
        node[e].left = e * block;
        node[e].length = node[e].stride = node[e].bytes = node[e].in[0].step = block;
        node[e].count = 1;
        p->element[e] = (struct falls_set){.node = &node[e], .nodes = 1, .tops = 1, .bytes = block, .ascending = true};
    }
    return 0;
}

static int make_elements(struct pattern *p, int dims, const struct dealt *dealt, const int64_t *bytes)
{
    int error = 0;

    if (dims == 1 && dealt[0].k * dealt[0].procs == dealt[0].size)
        return make_blocks(p, dealt[0].k * bytes[0]);
    for (int32_t e = 0; e < p->elements && !error; e++) {
        struct falls_build b = {0};
        int32_t proc[PATTERN_DEPTH_MAX], left = e;

        for (int d = dims - 1; d >= 0; d--) {
            proc[d] = left % dealt[d].procs;
            left /= dealt[d].procs;
        }
        push_dimension(&b, dims, dealt, bytes, proc, 0, 0);
        error = falls_finish_by_rank(&b, &p->element[e]);
        falls_build_free(&b);
    }
    return error;
}

static int note_dimensions(struct pattern *p, int dims, const struct pattern_dimension *dimension, int64_t item)
{
    p->dimension = malloc((size_t)dims * sizeof *dimension);
    if (!p->dimension)
        return -ENOMEM;
    memcpy(p->dimension, dimension, (size_t)dims * sizeof *dimension);
    p->dims = dims;
    p->item = item;
    return 0;
}

int pattern_array(int dims, const struct pattern_dimension *dimension, int64_t item, struct pattern **p)
{
    struct dealt dealt[PATTERN_DEPTH_MAX];
    int64_t bytes[PATTERN_DEPTH_MAX + 1], elements = 1;
    int error = dims < 1 || item < 1 ? -EINVAL : dims > PATTERN_DEPTH_MAX ? -E2BIG : 0;

    for (int d = 0; d < dims && !error; d++) {
        error = deal(&dimension[d], &dealt[d]);
        if (!error && (elements *= dealt[d].procs) > PATTERN_ELEMENTS_MAX)
            error = -E2BIG;
    }
    if (error)
        return error;
    bytes[dims] = item; /* bytes[d + 1] is the extent of one index of d, until they are moved down */
    for (int d = dims - 1; d >= 0; d--)
        if (__builtin_mul_overflow(bytes[d + 1], dealt[d].size, &bytes[d]) || bytes[d] > PATTERN_OFFSET_MAX)
            return -EOVERFLOW;
    struct pattern *new = pattern_new(0, bytes[0], (int32_t)elements);
    if (!new)
        return -ENOMEM;
    new->row = dims > 1 ? bytes[dims - 1] : 0;
    error = note_dimensions(new, dims, dimension, item);
    if (!error)
        error = make_elements(new, dims, dealt, &bytes[1]);
    return pattern_hand_over(new, error ? error : places_of_array(new, dims, dealt, item), p);
}

int pattern_stripe(int64_t block, int32_t elements, struct pattern **p)
{
    struct pattern_dimension d = {.size = elements, .kind = 'c', .k = 1, .procs = elements};

    return elements < 1 ? -EINVAL : pattern_array(1, &d, block, p);
}

/* ---- Bits ---- */

/* Each bit must be there once, none left out. *element_bits: how many name the element. */
static int check_bits(int bits, const uint8_t *bit, int *element_bits)
{
    uint64_t seen[2] = {0};

    *element_bits = 0;
    for (int i = 0; i < bits; i++) {
        bool names = bit[i] >= PATTERN_BIT_ELEMENT;
        uint64_t one = (uint64_t)1 << (bit[i] & 63);

        if (bit[i] >= 2 * PATTERN_BIT_ELEMENT || (seen[names] & one))
            return -EINVAL;
        seen[names] |= one;
        *element_bits += names;
    }
    if (seen[0] != ((uint64_t)1 << (bits - *element_bits)) - 1 || seen[1] != ((uint64_t)1 << *element_bits) - 1)
        return -EINVAL;
    return (int64_t)1 << *element_bits > PATTERN_ELEMENTS_MAX ? -E2BIG : 0;
}

/* Makes element e: from the lowest bit up, the set so far is kept once, or repeated. */
static int finish_bits(int bits, const uint8_t *bit, int32_t e, struct falls_set *element)
{
    struct falls_build b = {0};
    struct falls run = {.length = 1, .count = 1};

    falls_push(&b, 0, &run);
    for (int i = 0; i < bits; i++) {
        bool names = bit[i] >= PATTERN_BIT_ELEMENT;
        struct falls outer = {.stride = (int64_t)1 << i, .count = names ? 1 : 2};

        if (names)
            outer.left = (int64_t)(e >> (bit[i] - PATTERN_BIT_ELEMENT) & 1) << i;
        falls_lies_as_in_file(&outer);
        outer.in[PLAN_A].at = 0;
        outer.in[PLAN_A].step = names ? 0 : (int64_t)1 << bit[i];
        falls_wrap(&b, 0, 0, &outer);
    }
    int error = falls_finish(&b, element);
    falls_build_free(&b);
    return error;
}

int pattern_bits(int bits, const uint8_t *bit, struct pattern **p)
{
    int element_bits;

    if (bits < 1 || bits > 61)
        return bits < 1 ? -EINVAL : -EOVERFLOW;
    int error = check_bits(bits, bit, &element_bits);
    if (error)
        return error;
    struct pattern *new = pattern_new(0, (int64_t)1 << bits, (int32_t)1 << element_bits);
    if (!new)
        return -ENOMEM;
    for (int32_t e = 0; e < new->elements && !error; e++)
        error = finish_bits(bits, bit, e, &new->element[e]);
    return pattern_hand_over(new, error ? error : places_of_bits(new, bits, bit), p);
}

/* ---- Looking up ---- */

int64_t pattern_file(const struct pattern *p, int32_t element, int64_t offset)
{
    const struct falls_set *set = &p->element[element];

    if (!set->ascending || set->bytes == 0 || offset < 0)
        return -EINVAL;
    int64_t periods = offset < set->bytes ? 0 : offset / set->bytes, from;
    if (__builtin_mul_overflow(periods, p->period, &from) || from > PATTERN_OFFSET_MAX - p->displacement - p->period)
        return -EOVERFLOW;
    return p->displacement + from + falls_select(set, periods == 0 ? offset : offset % set->bytes);
}

int64_t pattern_rank(const struct pattern *p, int32_t element, int64_t x)
{
    const struct falls_set *set = &p->element[element];
    const int64_t from = x - p->displacement;

    if (from <= 0 || set->bytes == 0)
        return 0;
    if (from / p->period > PATTERN_OFFSET_MAX / set->bytes)
        return PATTERN_OFFSET_MAX;
    return from / p->period * set->bytes + falls_rank(set, from % p->period);
}

/* ---- Checking ---- */

#define SWEEP_MAX (1 << 22) /* runs of a period that are looked at one by one */

/* Returns the end of the element's run that contains byte x. Within a run the rank grows by one for each byte. */
static int64_t run_end(const struct falls_set *set, int64_t x, int64_t most)
{
    int64_t rank = falls_rank(set, x), step = 1;

    while (x + step < most && falls_rank(set, x + 2 * step) == rank + 2 * step)
        step *= 2;
    for (int64_t jump = step; jump > 0; jump /= 2) /* ranks at x + step are as in a run; how much further? */
        while (x + step + jump <= most && falls_rank(set, x + step + jump) == rank + step + jump)
            step += jump;
    return x + step;
}

/* Returns the element that has byte x of the period, or -1. Tries `likely` first. */
static int32_t owner_of(const struct pattern *p, int64_t x, int32_t likely)
{
    for (int32_t i = 0; i < p->elements; i++) {
        int32_t e = (likely + i) % p->elements;

        if (falls_find(&p->element[e], x, PLAN_A, NULL))
            return e;
    }
    return -1;
}

/* Returns the first byte of the period that no element has, or the period if there is none; -1: too many runs to
 * check. */
static int64_t first_missing(const struct pattern *p)
{
    int32_t owner = 0, runs = 0;
    int64_t x = 0;

    while (x < p->period && (owner = owner_of(p, x, owner)) >= 0) {
        if (++runs > SWEEP_MAX)
            return -1;
        x = run_end(&p->element[owner], x, p->period);
    }
    return x;
}

/* Checks each pair of elements, and reports one that shares a byte. Returns 0 if there is none. */
static int report_common(const struct pattern *p, char *why)
{
    for (int32_t a = 0; a < p->elements; a++)
        for (int32_t b = a + 1; b < p->elements; b++) {
            struct plan *plan;
            int error = plan_make(p, a, p, b, &plan);

            if (error)
                return error;
            int64_t x = plan->body.bytes > 0 ? plan->body.node[plan->body.top].left : -1;
            plan_free(plan);
            if (x >= 0) {
                text_print(why, PATTERN_WHY_BYTES, "elements %d and %d both have byte %lld", a, b, (long long)x);
                return -EINVAL;
            }
        }
    return 0;
}

int pattern_check(const struct pattern *p, char *why)
{
    int64_t all = 0, missing;

    for (int32_t e = 0; e < p->elements; e++) {
        const struct falls_set *set = &p->element[e];

        if (!set->ascending) /* made by pattern_bits */
            return 0;
        if (__builtin_add_overflow(all, set->bytes, &all))
            return -EOVERFLOW;
    }
    if (all > p->period)
        return report_common(p, why);
    missing = first_missing(p);
    if (missing < 0)
        return p->elements <= 1024 ? report_common(p, why) : -E2BIG;
    if (missing == p->period)
        return 0; /* all bytes are covered, and the elements have no more than those: none twice */
    int error = report_common(p, why);
    if (error)
        return error;
    text_print(why, PATTERN_WHY_BYTES, "byte %lld is in no element", (long long)missing);
    return -EINVAL;
}

/* ---- The plan of a file and an element ---- */

static int32_t count_nodes(const struct falls_set *set, int32_t first, int32_t n)
{
    int32_t nodes = n;

    for (int32_t i = first; i < first + n; i++)
        nodes += count_nodes(set, set->node[i].child, set->node[i].children);
    return nodes;
}

/* Copies siblings, and all that is below them, behind the *used nodes of `to`. Element A, the file, has them where they
 * lie; `origin` is that of their places there. Returns the first one's index. */
static int32_t copy_into_file(struct falls *to, int32_t *used, const struct falls_set *set, int32_t first, int32_t n,
                              int64_t origin)
{
    int32_t copied = *used;

    *used += n;
    for (int32_t i = 0; i < n; i++) {
        struct falls f = set->node[first + i];

        f.in[PLAN_B] = f.in[PLAN_A];
        f.in[PLAN_A].at = origin + f.left;
        f.in[PLAN_A].step = f.stride;
        f.child = copy_into_file(to, used, set, f.child, f.children, 0);
        to[copied + i] = f;
    }
    return copied;
}

/* What both have in common is the element's set. */
int plan_make_file(const struct pattern *p, int32_t element, struct plan **plan)
{
    if (element < 0 || element >= p->elements)
        return -EINVAL;
    const struct falls_set *set = &p->element[element];
    int32_t nodes = count_nodes(set, set->top, set->tops), used = 0;
    struct falls *node = malloc((size_t)(nodes + 1) * sizeof *node);
    struct plan *new = calloc(1, sizeof *new);

    if (!node || !new) {
        free(node);
        free(new);
        return -ENOMEM;
    }
    copy_into_file(node, &used, set, set->top, set->tops, p->displacement);
    *new = (struct plan){.from = p->displacement,
                         .period = p->period,
                         .step = {p->period, set->bytes},
                         .body = {.node = node, .nodes = nodes, .tops = set->tops, .bytes = set->bytes}};
    *plan = new;
    return 0;
}
