/*
 * pattern_place, which finds the element and place of a byte, and the tables that make it fast (places.h).
 */
#include "libpio/map/places.h"

#include <errno.h>
#include <stdlib.h>

#include "libpio/map/numbers.h"

#define GROUPS_MAX   64
#define FEW_ELEMENTS 4         /* are tried as fast */
#define RUNS_MAX     (1 << 14) /* of an index */

/* Bits of a file offset that stay together: (x >> right & mask) << left. Only permutations move bits to the left. */
struct bit_group {
    uint64_t mask;
    int32_t right, left;
};

/* Division by a number d > 0 that is known beforehand, which costs a node 40 cycles otherwise: the quotient of x < 2^63
 * is x * factor >> 64 >> shift, with 2^shift < d <= 2^(shift+1) and factor = 2^(64+shift) / d, rounded up (Granlund,
 * Montgomery: Division by Invariant Integers using Multiplication, PLDI 1994, theorem 4.2 with N = 63). */
struct divisor {
    uint64_t factor;
    int32_t shift; /* -1: d is 1 */
    int64_t d;
};

struct place_dimension {
    struct divisor block; /* bytes of a block */
    struct divisor index; /* bytes of an index */
    struct divisor procs;
    int64_t k;
    int64_t whole, rest; /* indices that every process has, and those behind them, of a last round that is not full */
    int64_t weight;      /* of a process in the element's number */
    bool once;           /* dealt out in one round */
};

struct run_start {
    int64_t at;
    int32_t element;
};

struct pattern_places {
    enum { BY_BITS, BY_ARRAY, BY_INDEX } way;
    int offset_groups, element_groups; /* BY_BITS: group[] has those of the offset, then the others */
    int bits, offset_bits;
    bool moves_left;
    int dims;
    struct divisor period;
    int32_t runs;
    union {
        struct bit_group group[0];
        struct place_dimension dimension[0];
        struct run_start run[0];
    };
};

static int log2_of(int64_t n) /* rounded down */
{
    return 63 - __builtin_clzll((unsigned long long)n);
}

static bool is_power(int64_t n)
{
    return (n & (n - 1)) == 0;
}

static struct divisor divisor_of(int64_t d)
{
    int shift = d > 1 ? log2_of(d - 1) : -1;
    unsigned __int128 power = (unsigned __int128)1 << (64 + shift);

    return (struct divisor){
        .factor = d > 1 ? (uint64_t)((power + (uint64_t)d - 1) / (uint64_t)d) : 0, .shift = shift, .d = d};
}

static inline int64_t divide(int64_t x, const struct divisor *by)
{
    if (by->shift < 0)
        return x;
    return (int64_t)((uint64_t)((unsigned __int128)by->factor * (uint64_t)x >> 64) >> by->shift);
}

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

/* Appends the groups of one kind, offset or element. */
static int add_groups(struct pattern_places *l, int n, int bits, const uint8_t *bit, bool names)
{
    for (int i = 0, end; i < bits; i = end) {
        bool here = bit[i] >= PATTERN_BIT_ELEMENT;
        int to = bit[i] % PATTERN_BIT_ELEMENT;

        for (end = i + 1; end < bits && bit[end] == bit[end - 1] + 1; end++)
            ;
        if (here == names)
            l->group[n++] = (struct bit_group){.mask = (((uint64_t)1 << (end - i)) - 1) << (to < i ? to : i),
                                               .right = i > to ? i - to : 0,
                                               .left = to > i ? to - i : 0};
        l->moves_left |= here == names && to > i;
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

static inline uint64_t gather_bits(const struct bit_group *group, const struct bit_group *end, uint64_t x, bool left)
{
    uint64_t all = 0;

    for (const struct bit_group *g = group; g < end; g++)
        all |= left ? (x >> g->right & g->mask) << g->left : x >> g->right & g->mask;
    return all;
}

static inline void place_by_bits(const struct pattern_places *l, uint64_t x, int32_t *element, int64_t *offset)
{
    const struct bit_group *middle = l->group + l->offset_groups, *end = middle + l->element_groups;
    uint64_t high = x >> l->bits << l->offset_bits;

    if (l->moves_left) {
        *element = (int32_t)gather_bits(middle, end, x, true);
        *offset = (int64_t)(gather_bits(l->group, middle, x, true) | high);
    } else {
        *element = (int32_t)gather_bits(middle, end, x, false);
        *offset = (int64_t)(gather_bits(l->group, middle, x, false) | high);
    }
}

/* ---- Arrays ---- */

/* An array whose sizes are powers of two, all dealt out evenly, as a permutation of bits. Returns the number of bits,
 * or 0 if it is none. */
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
    int64_t weight = 1, extent = item;

    if (bits > 0)
        return places_of_bits(p, bits, bit);
    struct pattern_places *l = new_places(p, BY_ARRAY, (size_t)dims * sizeof l->dimension[0]);
    if (!l)
        return -ENOMEM;
    l->dims = dims;
    l->period = divisor_of(p->period);
    for (int d = dims - 1; d >= 0; d--) {
        int64_t size = dealt[d].size, k = dealt[d].k, procs = dealt[d].procs, rounds = size / (k * procs);

        l->dimension[d] = (struct place_dimension){.block = divisor_of(k * extent),
                                                   .index = divisor_of(extent),
                                                   .procs = divisor_of(procs),
                                                   .k = k,
                                                   .whole = rounds * k,
                                                   .rest = size - rounds * k * procs,
                                                   .weight = weight,
                                                   .once = k * procs >= size};
        weight *= procs;
        extent *= size;
    }
    return 0;
}

/* How many indices of a dimension a process has. */
static inline int64_t indices_of(const struct place_dimension *d, int64_t proc)
{
    if (d->rest == 0)
        return d->whole;
    int64_t rest = d->rest - proc * d->k;
    return d->whole + (rest < 0 ? 0 : rest < d->k ? rest : d->k);
}

/* From the outermost dimension on: the block that x is in, whose it is, and the index in it. */
static void place_by_array(const struct pattern *p, int64_t x, int32_t *element, int64_t *offset)
{
    const struct pattern_places *l = p->places;
    const struct place_dimension *d = l->dimension, *last = d + l->dims - 1;
    int64_t number = 0, place = 0, periods = divide(x, &l->period);

    x -= periods * l->period.d;
    for (;; d++) {
        int64_t block = divide(x, &d->block), round = 0, proc = block;

        x -= block * d->block.d;
        if (!d->once) {
            round = divide(block, &d->procs);
            proc -= round * d->procs.d;
        }
        number += proc * d->weight;
        place *= indices_of(d, proc);
        if (d == last) { /* x is the byte in the block */
            place = place * d->index.d + round * d->block.d + x;
            break;
        }
        int64_t index = d->k > 1 ? divide(x, &d->index) : 0;
        x -= index * d->index.d;
        place += round * d->k + index;
    }
    if (periods > 0)
        place += periods * p->element[number].bytes;
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

/* Returns the element of the last run that begins at or before x. */
static int32_t element_in_index(const struct pattern_places *l, int64_t x)
{
    return l->run[FIRST_NOT(1, l->runs, i, l->run[i].at <= x) - 1].element; /* the first one begins at 0 */
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

/* Apart, so that the short ways save no registers for it. x is counted from the displacement on. */
__attribute__((noinline)) static int search(const struct pattern *p, int64_t x, int32_t *element, int64_t *offset)
{
    int64_t periods = x / p->period, within = x - periods * p->period;

    if (p->places)
        return has(p, element_in_index(p->places, within), within, periods, element, offset) ? 0 : -EINVAL;
    for (int32_t e = 0; e < p->elements; e++)
        if (has(p, e, within, periods, element, offset))
            return 0;
    return -EINVAL;
}

int pattern_place(const struct pattern *p, int64_t x, int32_t *element, int64_t *offset)
{
    const struct pattern_places *l = p->places;

    if (x < p->displacement)
        return -EINVAL;
    x -= p->displacement;
    if (!l || l->way == BY_INDEX)
        return search(p, x, element, offset);
    if (l->way == BY_BITS)
        place_by_bits(l, (uint64_t)x, element, offset);
    else
        place_by_array(p, x, element, offset);
    return 0;
}
