/*
 * Reductions of long data (halves.h) [Rabenseifner: Optimization of collective reduction operations, ICCS 2004, LNCS
 * 3036].
 *
 * 2^k members take part, by numbers in the order of places. In step i, number v and its partner v ^ 2^i share out what
 * both have combined so far: each sends the half that the partner goes on with. Afterwards each has a 2^k-th of the
 * result; the same steps backwards bring the halves together, at all members or on the ways to the root. So every byte
 * passes a member twice instead of k times. Of n members that are no power of two, the first 2(n - 2^k) are pairs, of
 * which the second gives all it has to the first, before, and gets the result, after.
 *
 * Partners are the nearest first, so what is combined belongs to neighbouring places, the lower ones on the left.
 */
#include "libpio/group/halves.h"

#include "libpio/group/collect.h"

#define PIECE_BYTES (16 << 10)
#define STEPS_MAX   16 /* 2^16 processes and more are not in a group */

struct halves {
    struct group *g;
    const struct collect_reduction *x;
    int type;
    int extra;                                    /* pairs */
    int number;                                   /* of this member, or of its pair */
    int count;                                    /* of numbers: 2^k */
    int first[STEPS_MAX + 1], end[STEPS_MAX + 1]; /* before each step, the elements that this member goes on with */
};

/* Of the second of a pair: the first one's. */
static int number_of(const struct halves *h, int place)
{
    return place < 2 * h->extra ? place / 2 : place - h->extra;
}

static int place_of(const struct halves *h, int number)
{
    return number < h->extra ? 2 * number : number + h->extra;
}

static char *element(const struct halves *h, int i)
{
    return (char *)h->x->elements + (long)i * h->x->element_bytes;
}

static int give(const struct halves *h, int place, int first, int end)
{
    return collect_give(h->g, place, element(h, first), (long)(end - first) * h->x->element_bytes, h->type);
}

static int take(const struct halves *h, int place, void *into, int n)
{
    return collect_take(h->g, place, into, (long)n * h->x->element_bytes, h->type);
}

/* Takes a partner's elements, and combines them with this member's; or keeps them. */
static int take_and_combine(const struct halves *h, int place, bool is_higher, int first, int end)
{
    const struct collect_reduction *x = h->x;
    char *own = element(h, first);
    int result = take(h, place, x->room, end - first);

    if (result >= 0 && end > first)
        x->operation(own, is_higher ? own : x->room, is_higher ? x->room : own, end - first);
    return result;
}

struct part {
    int first, end;
};

/* Takes the next piece off a part. */
static struct part cut(struct part *p, int piece)
{
    struct part next = {p->first, p->end - p->first > piece ? p->first + piece : p->end};

    p->first = next.end;
    return next;
}

/* Swaps parts with a partner, in pieces, one of which is on its way while the one before is copied and combined. */
static int swap(const struct halves *h, int place, struct part give_all, struct part take_all, bool combines,
                bool is_higher)
{
    int piece = PIECE_BYTES / h->x->element_bytes + 1, result = 0;
    struct part given = cut(&give_all, piece);

    if (given.end > given.first)
        result = give(h, place, given.first, given.end);
    while (result >= 0 && (give_all.end > give_all.first || take_all.end > take_all.first)) {
        given = cut(&give_all, piece);
        if (given.end > given.first)
            result = give(h, place, given.first, given.end);
        struct part taken = cut(&take_all, piece);
        if (result < 0 || taken.end == taken.first)
            continue;
        result = combines ? take_and_combine(h, place, is_higher, taken.first, taken.end)
                          : take(h, place, element(h, taken.first), taken.end - taken.first);
    }
    return result;
}

static int share_out(struct halves *h, int step)
{
    struct part all = {h->first[step], h->end[step]}, lower = all, upper = all;
    bool is_upper = h->number >> step & 1;

    lower.end = upper.first = all.first + (all.end - all.first) / 2;
    struct part own = is_upper ? upper : lower;
    h->first[step + 1] = own.first;
    h->end[step + 1] = own.end;
    return swap(h, place_of(h, h->number ^ 1 << step), is_upper ? lower : upper, own, true, !is_upper);
}

/* Undoes a step: with all, or only towards the number `root`. `step` is then the last of this member's. */
static int bring_together(const struct halves *h, int step, int root, bool *ends)
{
    struct part own = {h->first[step + 1], h->end[step + 1]}, none = {0, 0};
    bool is_upper = h->number >> step & 1, gives = root < 0 || ((h->number ^ root) >> step & 1);
    struct part other = {is_upper ? h->first[step] : own.end, is_upper ? own.first : h->end[step]};

    *ends = gives && root >= 0;
    return swap(h, place_of(h, h->number ^ 1 << step), gives ? own : none, *ends ? none : other, false, false);
}

static int reduce_numbers(struct halves *h, int root)
{
    int steps = __builtin_ctz((unsigned)h->count), result = 0;
    bool ends = false;

    h->end[0] = h->x->n;
    for (int step = 0; result >= 0 && step < steps; step++)
        result = share_out(h, step);
    for (int step = steps - 1; result >= 0 && step >= 0 && !ends; step--)
        result = bring_together(h, step, root, &ends);
    return result;
}

int halves_reduce(struct group *g, const struct collect_reduction *x, int root, int type)
{
    struct halves h = {.g = g, .x = x, .type = type, .count = 1};
    int result = 0, n = x->n;

    while (2 * h.count <= g->size)
        h.count *= 2;
    h.extra = g->size - h.count;
    h.number = number_of(&h, g->place);
    bool is_of_pair = h.number < h.extra, is_second = is_of_pair && g->place % 2 != 0;
    if (is_second)
        result = give(&h, g->place - 1, 0, n);
    else if (is_of_pair)
        result = take_and_combine(&h, g->place + 1, true, 0, n);
    if (result >= 0 && !is_second)
        result = reduce_numbers(&h, root < 0 ? root : number_of(&h, root));
    if (result >= 0 && is_second && (root < 0 || root == g->place))
        result = take(&h, g->place - 1, x->elements, n);
    else if (result >= 0 && is_of_pair && !is_second && (root < 0 || root == g->place + 1))
        result = give(&h, g->place + 1, 0, n);
    return result < 0 ? result : 0;
}
