/*
 * pattern_place: which element has a byte, and where; and the tables that make it fast (places.h).
 */
#include "libpio/map/places.h"

#include <errno.h>
#include <stdlib.h>

#define GROUPS_MAX   64
#define FEW_ELEMENTS 4         /* are tried as fast */
#define RUNS_MAX     (1 << 14) /* of an index */

/* Bits of a file offset that stay together: (x & mask) >> right << left. One of both is 0. */
struct bit_group {
    uint64_t mask;
    int32_t right, left;
};

struct place_dimension {
    int64_t size, k, procs;
    int64_t rounds, rest; /* whole rounds over all processes, and the indices behind them */
    int64_t weight;       /* of a process in the element's number */
};

struct run_start {
    int64_t at;
    int32_t element;
};

struct pattern_places {
    enum { BY_BITS, BY_ARRAY, BY_INDEX } way;
    int offset_groups, element_groups, bits,
        offset_bits; /* BY_BITS: group[] has those of the offset, then the others */
    int dims;
    int64_t item;
    int32_t runs;
    union {
        struct bit_group group[0];
        struct place_dimension dimension[0];
        struct run_start run[0];
    };
};

static struct pattern_places *new_places(struct pattern *p, int way, size_t bytes)
{
    p->places = calloc(1, sizeof *p->places + bytes);
    if (p->places)
        p->places->way = way;
    return p->places;
}

void places_free(struct pattern *p)
{
    free(p->places);
}

/* ---- Bits ---- */

/* Adds the groups of one kind, offset or element, behind those that there are. */
static int add_groups(struct pattern_places *l, int n, int bits, const uint8_t *bit, bool names)
{
    for (int i = 0, end; i < bits; i = end) {
        bool here = bit[i] >= PATTERN_BIT_ELEMENT;
        int to = bit[i] % PATTERN_BIT_ELEMENT;

        for (end = i + 1; end < bits && bit[end] == bit[end - 1] + 1; end++)
            ;
        if (here == names)
            l->group[n++] = (struct bit_group){.mask = (((uint64_t)1 << (end - i)) - 1) << i,
                                               .right = i > to ? i - to : 0,
                                               .left = to > i ? to - i : 0};
    }
    return n;
}

int places_of_bits(struct pattern *p, int bits, const uint8_t *bit)
{
    struct pattern_places *l = new_places(p, BY_BITS, GROUPS_MAX * sizeof l->group[0]);

    if (!l)
        return -ENOMEM;
    l->bits = bits;
    for (int i = 0; i < bits; i++)
        l->offset_bits += bit[i] < PATTERN_BIT_ELEMENT;
    l->offset_groups = add_groups(l, 0, bits, bit, false);
    l->element_groups = add_groups(l, l->offset_groups, bits, bit, true) - l->offset_groups;
    return 0;
}

static uint64_t gather_bits(const struct bit_group *group, int n, uint64_t x)
{
    uint64_t all = 0;

    for (const struct bit_group *g = group, *end = group + n; g < end; g++)
        all |= (x & g->mask) >> g->right << g->left;
    return all;
}

static void place_by_bits(const struct pattern_places *l, uint64_t x, int32_t *element, int64_t *offset)
{
    *element = (int32_t)gather_bits(l->group + l->offset_groups, l->element_groups, x);
    *offset = (int64_t)(gather_bits(l->group, l->offset_groups, x) | x >> l->bits << l->offset_bits);
}

/* ---- Arrays ---- */

static bool is_power(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static int log2_of(int64_t power)
{
    return 63 - __builtin_clzll((unsigned long long)power);
}

/* An array whose sizes are powers of two, all dealt out evenly, as a permutation of bits. Returns the number of bits, or 0 if it
 * is none. */
static int bits_of_array(int dims, const struct dealt *dealt, int64_t item, uint8_t bit[PATTERN_BIT_ELEMENT])
{
    int bits = 0, offset = 0, element = 0;

    if (!is_power(item))
        return 0;
    while (offset < log2_of(item))
        bit[bits++] = (uint8_t)offset++;
    for (int d = dims - 1; d >= 0; d--) {
        int64_t size = dealt[d].size, k = dealt[d].k, procs = dealt[d].procs;

        if (!is_power(size) || !is_power(k) || !is_power(procs) || k > size / procs)
            return 0;
        for (int i = log2_of(k); i > 0; i--)
            bit[bits++] = (uint8_t)offset++;
        for (int i = log2_of(procs); i > 0; i--)
            bit[bits++] = (uint8_t)(PATTERN_BIT_ELEMENT + element++);
        for (int i = log2_of(size / procs / k); i > 0; i--)
            bit[bits++] = (uint8_t)offset++;
    }
    return bits;
}

int places_of_array(struct pattern *p, int dims, const struct dealt *dealt, int64_t item)
{
    uint8_t bit[PATTERN_BIT_ELEMENT];
    int bits = bits_of_array(dims, dealt, item, bit);
    int64_t weight = 1;

    if (bits > 0)
        return places_of_bits(p, bits, bit);
    struct pattern_places *l = new_places(p, BY_ARRAY, (size_t)dims * sizeof l->dimension[0]);
    if (!l)
        return -ENOMEM;
    l->dims = dims;
    l->item = item;
    for (int d = dims - 1; d >= 0; d--) {
        int64_t round = dealt[d].k * dealt[d].procs;

        l->dimension[d] = (struct place_dimension){.size = dealt[d].size,
                                                   .k = dealt[d].k,
                                                   .procs = dealt[d].procs,
                                                   .rounds = dealt[d].size / round,
                                                   .rest = dealt[d].size % round,
                                                   .weight = weight};
        weight *= dealt[d].procs;
    }
    return 0;
}

/* How many indices of a dimension a process has. */
static int64_t indices_of(const struct place_dimension *d, int64_t proc)
{
    int64_t rest = d->rest - proc * d->k;

    return d->rounds * d->k + (rest < 0 ? 0 : rest < d->k ? rest : d->k);
}

/* x lies within a period. */
static void place_by_array(const struct pattern_places *l, int64_t x, int32_t *element, int64_t *offset)
{
    int64_t index = x / l->item, extent = l->item, place = x % l->item, number = 0;

    for (int i = l->dims - 1; i >= 0; i--) {
        const struct place_dimension *d = &l->dimension[i];
        int64_t here = i > 0 ? index % d->size : index; /* the outermost index is within its size */
        int64_t proc = 0, local = here;

        index = i > 0 ? index / d->size : 0;
        if (d->procs > 1) {
            int64_t block = here / d->k, round = block / d->procs;

            proc = block - round * d->procs;
            local = round * d->k + here - block * d->k;
        }
        number += proc * d->weight;
        place += local * extent;
        extent *= indices_of(d, proc);
    }
    *element = (int32_t)number;
    *offset = place;
}

/* ---- Any sets ---- */

static int64_t runs_in(const struct falls_set *set, int32_t first, int32_t n, int64_t most)
{
    int64_t runs = 0;

    for (int32_t i = first; i < first + n && runs <= most; i++) {
        const struct falls *f = &set->node[i];
        int64_t inner = f->children > 0 ? runs_in(set, f->child, f->children, most) : 1;

        runs = f->count > most / inner ? most + 1 : runs + f->count * inner;
    }
    return runs;
}

static void add_runs(struct pattern_places *l, const struct falls_set *set, int32_t first, int32_t n, int64_t at,
                     int32_t element)
{
    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        for (int64_t block = 0; block < f->count; block++) {
            int64_t x = at + f->left + block * f->stride;

            if (f->children > 0)
                add_runs(l, set, f->child, f->children, x, element);
            else
                l->run[l->runs++] = (struct run_start){x, element};
        }
    }
}

static int compare_runs(const void *a, const void *b)
{
    int64_t x = ((const struct run_start *)a)->at, y = ((const struct run_start *)b)->at;

    return (x > y) - (x < y);
}

int places_of_runs(struct pattern *p)
{
    int64_t runs = 0;

    for (int32_t e = 0; e < p->elements && runs <= RUNS_MAX; e++)
        runs += runs_in(&p->element[e], p->element[e].top, p->element[e].tops, RUNS_MAX);
    if (p->elements <= FEW_ELEMENTS || runs > RUNS_MAX)
        return 0;
    struct pattern_places *l = new_places(p, BY_INDEX, (size_t)runs * sizeof l->run[0]);
    if (!l)
        return -ENOMEM;
    for (int32_t e = 0; e < p->elements; e++)
        add_runs(l, &p->element[e], p->element[e].top, p->element[e].tops, 0, e);
    qsort(l->run, (size_t)l->runs, sizeof *l->run, compare_runs);
    return 0;
}

/* The element whose run begins last at or before x. */
static int32_t element_in_index(const struct pattern_places *l, int64_t x)
{
    int32_t low = 1, high = l->runs; /* run[low - 1] begins at or before x: the first one begins at 0 */

    while (low < high) {
        int32_t middle = low + (high - low) / 2;

        if (l->run[middle].at <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return l->run[low - 1].element;
}

/* ---- Looking up ---- */

static bool has(const struct pattern *p, int32_t e, int64_t within, int64_t periods, int32_t *element, int64_t *offset)
{
    if (!falls_find(&p->element[e], within, PLAN_A, offset))
        return false;
    *element = e;
    *offset += periods * p->element[e].bytes;
    return true;
}

int pattern_place(const struct pattern *p, int64_t x, int32_t *element, int64_t *offset)
{
    const struct pattern_places *l = p->places;

    if (x < p->displacement)
        return -EINVAL;
    x -= p->displacement;
    if (l && l->way == BY_BITS) {
        place_by_bits(l, (uint64_t)x, element, offset);
        return 0;
    }
    int64_t periods = x / p->period, within = x % p->period;
    if (l && l->way == BY_ARRAY) {
        place_by_array(l, within, element, offset);
        *offset += periods * p->element[*element].bytes;
        return 0;
    }
    if (l)
        return has(p, element_in_index(l, within), within, periods, element, offset) ? 0 : -EINVAL;
    for (int32_t e = 0; e < p->elements; e++)
        if (has(p, e, within, periods, element, offset))
            return 0;
    return -EINVAL;
}
