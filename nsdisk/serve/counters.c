/*
 * Counters of open files (N_FADD). They are in a list of their own, so that files without one pay nothing for it; those
 * of closed files are dropped when the next is looked for.
 */
#include <stdlib.h>

#include "nsdisk/serve/serve_state.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/file_parts.h"

struct counter {
    uint64_t owner; /* SFID */
    const struct ext2_inode *inode;
    int64_t value;
};

static struct counter *find(struct server *s, uint64_t owner)
{
    struct counter *found = NULL;
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->counters; i++)
        if (open_table_has(&s->opens, s->counter[i].owner)) {
            s->counter[n] = s->counter[i];
            if (s->counter[n++].owner == owner)
                found = &s->counter[n - 1];
        }
    s->counters = n;
    return found;
}

/* NULL: no memory. */
static struct counter *make(struct server *s, const struct open_file *file)
{
    struct counter *grown = realloc(s->counter, (s->counters + 1) * sizeof *grown);

    if (!grown)
        return NULL;
    s->counter = grown;
    grown[s->counters] = (struct counter){.owner = file->sfid, .inode = file->inode};
    return &grown[s->counters++];
}

int64_t invoke_add(struct server *s, struct call *c)
{
    struct file_counter k;

    if (c->r.bytes != sizeof k)
        return -N_EPROTO;
    memcpy(&k, c->data, sizeof k);
    const bool own = k.owner == 0;
    struct counter *at = find(s, own ? c->r.sfid : k.owner);
    if (!at && !own)
        return -N_ESTALE;
    if (!at && k.value >= 0 && !(at = make(s, c->file)))
        return -N_ENOMEM;
    if (at && at->inode != c->file->inode)
        return -N_EBADF;
    int error = at ? file_counter_add(&at->value, &k) : -N_EINVAL;
    if (error == 0) {
        k.owner = at->owner;
        reply_payload(c, &k, sizeof k);
    }
    return error;
}
