/*
 * Broadcast and reduction in a schedule (schedule.h), by binomial trees: position v has the children v + 2^k for each
 * 2^k below v's lowest bit that is set, and what it combines are the positions from v on.
 */
#include "libpio/mpi/collectives/schedule.h"

struct tree {
    int n, root, position, reach;
};

static struct tree tree_of(const struct schedule *s, int root)
{
    const struct group *g = schedule_own_group(s);
    struct tree t = {g->size, root, (g->rank - root + g->size) % g->size, 1};

    while (t.reach < t.n && (t.position & t.reach) == 0)
        t.reach <<= 1;
    return t;
}

static int rank_at(const struct tree *t, int position)
{
    return (position + t->root) % t->n;
}

void schedule_broadcast(struct schedule *s, void *buf, int count, const struct mpi_type *t, int root)
{
    const struct tree tree = tree_of(s, root);

    if (tree.position > 0)
        schedule_receive_local(s, buf, count, t, rank_at(&tree, tree.position & (tree.position - 1)));
    schedule_round(s);
    for (int distance = tree.reach / 2; distance > 0; distance /= 2)
        if (tree.position + distance < tree.n)
            schedule_send_local(s, buf, count, t, rank_at(&tree, tree.position + distance));
    schedule_round(s);
}

/* One after the other, as there is room for the elements of one. */
void schedule_reduce(struct schedule *s, int root)
{
    struct reduction *r = &s->reduction;
    const struct tree tree = tree_of(s, r->commutes ? root : 0);
    int bytes = (int)r->bytes, rank = schedule_own_group(s)->rank;

    for (int distance = 1; distance < tree.reach && tree.position + distance < tree.n; distance <<= 1) {
        schedule_receive_local(s, r->room, bytes, SCHEDULE_BYTES, rank_at(&tree, tree.position + distance));
        schedule_round(s);
        schedule_combine(s, r->elements, r->elements, r->room);
    }
    if (tree.position > 0)
        schedule_send_local(s, r->elements, bytes, SCHEDULE_BYTES, rank_at(&tree, tree.position & (tree.position - 1)));
    schedule_round(s);
    if (r->commutes || root == 0)
        return;
    if (rank == 0)
        schedule_send_local(s, r->elements, bytes, SCHEDULE_BYTES, root);
    else if (rank == root)
        schedule_receive_local(s, r->elements, bytes, SCHEDULE_BYTES, 0);
    schedule_round(s);
}
