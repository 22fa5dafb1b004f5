#include "tests/libpio/random_pattern.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "libpio/map/falls.h"

uint32_t random_below(uint64_t *state, uint32_t below)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*state >> 33) % below);
}

/* Random nested FALLS in a block of `bytes`, pushed to the list at `mark`. */
static void push_random(struct falls_build *b, uint64_t *state, int bytes, int depth, int32_t mark)
{
    int at = (int)random_below(state, 3);

    for (int siblings = 1 + (int)random_below(state, 3); siblings > 0 && at < bytes; siblings--) {
        int length = 1 + (int)random_below(state, (uint32_t)(bytes - at) / 2 + 1);
        int stride = length + (int)random_below(state, 4);
        int most = (bytes - at - length) / stride + 1,
            count = most < 1 ? 0 : 1 + (int)random_below(state, (uint32_t)most);
        struct falls f = {.left = at, .length = length, .stride = stride, .count = count};

        if (count < 1 || at + length > bytes)
            break;
        falls_lies_as_in_file(&f);
        if (depth > 0 && random_below(state, 3) > 0) {
            int32_t inner = b->listed;

            push_random(b, state, length, depth - 1, inner);
            falls_wrap(b, mark, inner, &f);
        } else {
            int32_t inner = b->listed;
            struct falls all = {.length = length, .count = 1};

            falls_push(b, inner, &all);
            falls_wrap(b, mark, inner, &f);
        }
        at += (count - 1) * stride + length + (int)random_below(state, 3);
    }
}

static struct pattern *random_set(uint64_t *state, int most)
{
    struct pattern *p = calloc(1, sizeof *p);
    struct falls_build b = {0};
    int bytes = 1 + (int)random_below(state, (uint32_t)most);

    *p = (struct pattern){
        .period = bytes + random_below(state, 5), .elements = 1, .element = calloc(1, sizeof *p->element)};
    push_random(&b, state, bytes, (int)random_below(state, 4), 0);
    cr_assert_eq(falls_finish_by_rank(&b, p->element), 0);
    falls_build_free(&b);
    return p;
}

static struct pattern *random_array(uint64_t *state, int most)
{
    struct pattern_dimension d[4];
    struct pattern *p;
    int dims = 1 + (int)random_below(state, 4), item = 1 + (int)random_below(state, 4);

    for (int i = 0; i < dims; i++) {
        d[i] = (struct pattern_dimension){.size = 1 + random_below(state, most > 8 ? 8 : (uint32_t)most),
                                          .kind = "*bc"[random_below(state, 3)],
                                          .procs = 1 + (int)random_below(state, 4)};
        if (d[i].kind == '*')
            d[i].procs = 1;
        if (d[i].kind == 'c')
            d[i].k = random_below(state, 4);
    }
    cr_assert_eq(pattern_array(dims, d, item, &p), 0);
    return p;
}

static struct pattern *random_bits(uint64_t *state)
{
    uint8_t bit[8];
    struct pattern *p;
    int bits = 1 + (int)random_below(state, 8), names = (int)random_below(state, (uint32_t)(bits < 4 ? bits + 1 : 4));

    for (int i = 0; i < bits; i++)
        bit[i] = (uint8_t)(i < names ? PATTERN_BIT_ELEMENT + i : i - names);
    for (int i = bits - 1; i > 0; i--) {
        uint32_t j = random_below(state, (uint32_t)i + 1);
        uint8_t swap = bit[i];

        bit[i] = bit[j];
        bit[j] = swap;
    }
    cr_assert_eq(pattern_bits(bits, bit, &p), 0);
    return p;
}

struct pattern *random_pattern(uint64_t *state, int most, bool ascending_only)
{
    struct pattern *p;

    switch (random_below(state, ascending_only ? 3 : 4)) {
    case 0:
        p = random_set(state, most);
        break;
    case 1:
        p = random_array(state, most);
        break;
    case 2:
        cr_assert_eq(pattern_stripe(1 + random_below(state, 16), 1 + (int)random_below(state, 5), &p), 0);
        break;
    default:
        p = random_bits(state);
    }
    p->displacement = random_below(state, 20);
    return p;
}
