#include "emu/model/owed.h"

#include <stdlib.h>

#include "emu/base/memory.h"

void owed_keep(struct owed *o, uint32_t to, uint32_t tag, const struct lost_notice *notice)
{
    struct owed_notice **end = &o->first, *kept = memory_new(1, sizeof *kept);

    *kept = (struct owed_notice){.to = to, .tag = tag, .notice = *notice};
    while (*end)
        end = &(*end)->next;
    *end = kept;
}

struct owed_notice *owed_take(struct owed *o)
{
    struct owed_notice *oldest = o->first;

    if (oldest)
        o->first = oldest->next;
    return oldest;
}

void owed_free(struct owed *o)
{
    for (struct owed_notice *n; (n = owed_take(o));)
        free(n);
}
