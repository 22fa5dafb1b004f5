#include "emu/model/owed_notices.h"

#include <stdlib.h>

#include "emu/base/memory.h"

void owed_init(struct owed *o)
{
    STAILQ_INIT(o);
}

void owed_keep(struct owed *o, uint32_t to, uint32_t tag, const struct lost_notice *notice)
{
    struct owed_notice *kept = memory_new(1, sizeof *kept);

    *kept = (struct owed_notice){.to = to, .tag = tag, .notice = *notice};
    STAILQ_INSERT_TAIL(o, kept, queued);
}

struct owed_notice *owed_take(struct owed *o)
{
    struct owed_notice *oldest = STAILQ_FIRST(o);

    if (oldest)
        STAILQ_REMOVE_HEAD(o, queued);
    return oldest;
}

void owed_move(struct owed *to, struct owed *from)
{
    STAILQ_INIT(to);
    STAILQ_CONCAT(to, from);
}

void owed_free(struct owed *o)
{
    for (struct owed_notice *n; (n = owed_take(o));)
        free(n);
}
