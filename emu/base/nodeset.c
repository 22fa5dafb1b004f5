#include "emu/base/nodeset.h"

#include <stdlib.h>

#include "emu/base/memory.h"

bool nodeset_has(const struct nodeset *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->node[i] == node)
            return true;
    return false;
}

void nodeset_add(struct nodeset *s, uint32_t node)
{
    if (nodeset_has(s, node))
        return;
    s->node = memory_grow(s->node, &s->room, s->n + 1, sizeof *s->node);
    s->node[s->n++] = node;
}

void nodeset_remove(struct nodeset *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->node[i] == node) {
            s->node[i] = s->node[--s->n];
            return;
        }
}

void nodeset_free(struct nodeset *s)
{
    free(s->node);
    *s = (struct nodeset){0};
}
