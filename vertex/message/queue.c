#include "vertex/message/queue.h"

#include <stddef.h>

#include "vertex/contract/system.h"

void queue_add(struct msg_queue *q, struct message *m)
{
    m->next = NULL;
    if (q->last)
        q->last->next = m;
    else
        q->first = m;
    q->last = m;
}

void queue_remove(struct msg_queue *q, struct message *m)
{
    struct message *before = NULL;

    if (q->first == m) {
        q->first = m->next;
    } else {
        before = q->first;
        while (before->next != m)
            before = before->next;
        before->next = m->next;
    }
    if (q->last == m)
        q->last = before;
    m->next = NULL;
}

struct message *queue_take_first(struct msg_queue *q)
{
    struct message *m = q->first;

    if (m)
        queue_remove(q, m);
    return m;
}

static bool sequence_is(const struct message *m, uint32_t sequence)
{
    return m->bytes >= sizeof sequence && *(const uint32_t *)m->payload == sequence;
}

bool msg_matches(const struct message *m, const struct msg_pattern *p)
{
    return pattern_fits(p, m->node, m->tag) && (!p->by_sequence || sequence_is(m, p->sequence));
}

struct message *queue_find(const struct msg_queue *q, const struct msg_pattern *p)
{
    struct message *m = q->first;

    while (m && !msg_matches(m, p))
        m = m->next;
    return m;
}
