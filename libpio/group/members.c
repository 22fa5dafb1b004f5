/*
 * The group of all nodes, and messages by place (collect.h).
 */
#include <stddef.h>
#include <sysn.h>

#include "libpio/group/collect.h"
#include "vertex/contract/traps.h"

void collect_all(struct group *g, int context)
{
    const struct group *domain = endpoint_domain ? endpoint_domain() : NULL;

    if (domain) {
        *g = *domain;
        return;
    }
    const struct abi_whoami *self = trap_self();
    *g = (struct group){.size = self->nodes,
                        .rank = self->node,
                        .place = self->node,
                        .context = context,
                        .procid = self->proc,
                        .is_subcube = (self->nodes & (self->nodes - 1)) == 0,
                        .has_broadcast = self->broadcasts != 0};
}

int collect_note(struct group *g, int place, long result)
{
    if (result < 0)
        g->failed = collect_rank(g, place);
    return (int)result;
}

int collect_give(struct group *g, int place, const void *buf, long bytes, int type)
{
    return collect_note(g, place, trap_cwrite(buf, bytes, collect_process_at(g, place), type, g->context));
}

int collect_take(struct group *g, int place, void *buf, long bytes, int type)
{
    int from = collect_process_at(g, place);

    if (g->take)
        return collect_note(g, place, g->take(g, from, buf, bytes, type));
    return collect_note(g, place, trap_read_context(buf, bytes, &from, &type, g->context));
}
