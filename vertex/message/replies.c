#include "vertex/message/replies.h"

#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/file/async.h"
#include "vertex/file/watch.h"
#include "vertex/message/delivery.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"

RARE bool replies_reader_gives_up(struct proc *p, int64_t *result)
{
    if (p->killed)
        *result = -N_EINTR;
    else if (signal_is_due(p))
        *result = SYSCALL_AGAIN;
    return p->reader.state == READER_OVERTAKEN || (*result && p->reader.state == READER_OPEN);
}

static void wait_for(const struct message_pattern *pattern)
{
    sched_wait(NCU_WAIT_MESSAGE, pattern->node == MESSAGE_ANY_NODE ? NCU_WAIT_ANY : pattern->node, pattern->type_low);
}

/* As calls_read.c waits for a message, but watches a server that is to answer. When that is given up, no other has
 * answered either. No reply lands in the program's memory
 * by itself: of a header alone nobody knows which start it answers. */
static int64_t await_one(struct proc *p, const struct async *a)
{
    struct reader *r = &p->reader;
    const struct message_pattern wanted = r->pattern;
    int64_t result = 0;
    bool silent = false;
    struct watch w;

    delivery_set_reader(p, READER_OPEN);
    async_watch(p, a, &w);
    do {
        wait_for(&wanted);
        silent = r->state == READER_OPEN && p->timed_out && !watch_goes_on(p, &w);
    } while (r->state != READER_CLOSED && !silent && !replies_reader_gives_up(p, &result));
    watch_end(p, &w, r->state == READER_CLOSED && r->pattern.node == w.node);
    if (r->state == READER_CLOSED)
        return 1;
    delivery_set_reader(p, READER_CLOSED);
    if (silent && !result && async_answer(p, w.node, wanted.type_low, -N_ETIMEDOUT) < 0)
        return -N_ETIMEDOUT;
    return result;
}

int64_t replies_await(struct proc *p)
{
    int64_t result = 0;

    while (!result && !async_find_arrived(p, &p->reader.pattern)) {
        const struct async *a = async_expected(p, &p->reader.pattern);

        result = a ? await_one(p, a) : -N_EINVAL;
    }
    return result;
}

int64_t replies_await_queued(struct proc *p, const struct message_pattern *pattern)
{
    p->reader.pattern = *pattern;
    p->reader.bytes = 0; /* for which every reply is too long */
    return replies_await(p);
}
