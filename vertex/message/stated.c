/*
 * Stated costs (stated.h): clients first, then servers.
 */
#include "vertex/message/stated.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/trap/syscall.h"

/* A message that has come, and is taken. */
struct stated_message {
    uint32_t node, tag;
    uint64_t bytes;
    uint64_t done_cycles;
    const void *payload;
    bool landed; /* no copy of it is made */
};

/* Returns the row; NULL: it states nothing. */
static const struct stated_cost *cost_of(uint32_t row)
{
    const struct stated_cost *cost = &MAILBOX->stated[row];

    return cost->begin_cycles ? cost : NULL;
}

static void add(const struct stated_cost *cost, uint32_t cycles, uint64_t bytes, uint64_t head_bytes)
{
    MAILBOX->stated_cycles += cycles + (bytes > head_bytes ? (bytes - head_bytes) * cost->kb_cycles / 1024 : 0);
}

static uint64_t later_of(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t copied_bytes(const struct stated_message *m)
{
    return m->landed ? 0 : m->bytes;
}

/* Returns when the work of a call begins. A process that ends has waited for more than replies. */
static uint64_t begin_of(const struct proc *p)
{
    if (p->works)
        return 0;
    return p->state == PROC_ENDING ? ncu_time() : ncu_entered();
}

/* What other processes of the node do meanwhile is no excess. */
static void hold(const struct proc *p, uint32_t row, uint64_t late_cycles)
{
    late_cycles += MAILBOX->stated[STATED_REAP].begin_cycles;
    late_cycles += p->inbox.count * MAILBOX->stated[STATED_ARRIVAL].begin_cycles;
    ncu_stated(proc_count() > 1 ? STATED_ROWS : row, late_cycles);
}

/* ---- Clients ---- */

static uint32_t taken; /* row of the reply that was taken last; STATED_ROWS: it states nothing */

static uint32_t row_of_call(const struct proc *p, uint32_t type)
{
    if (type == N_FREAD)
        return p->works ? STATED_PIO_READ : STATED_TRANSFER;
    if (type == N_FWRITE)
        return p->works ? STATED_PIO_WRITE : STATED_TRANSFER;
    return STATED_CALL;
}

void stated_request(struct proc *p, uint32_t node, uint32_t type, uint64_t bytes)
{
    uint32_t row = row_of_call(p, type);
    const struct stated_cost *cost = NODE_IS_IO(node) ? cost_of(row) : NULL;

    if (!cost)
        return;
    stated_wait(begin_of(p));
    add(cost, cost->begin_cycles, bytes, sizeof(struct file_request));
    hold(p, row, 0);
}

static void take_reply(const struct proc *p, const struct stated_message *m)
{
    uint32_t row = row_of_call(p, TAG_TYPE(m->tag) - N_REPLY(0));
    const struct stated_cost *cost = NODE_IS_IO(m->node) ? cost_of(row) : NULL;

    taken = cost ? row : STATED_ROWS;
    stated_wait(later_of(cost ? begin_of(p) : 0, m->done_cycles));
    if (!cost)
        return;
    add(cost, cost->end_cycles, copied_bytes(m), sizeof(struct file_reply));
}

/* A process that ends does not return: what it then sends has no stated time. */
void stated_return(const struct proc *p)
{
    if (!p->works && taken != STATED_ROWS && p->state != PROC_ENDING)
        hold(p, taken, 0);
}

RARE void stated_return_is_free(void)
{
    taken = STATED_ROWS;
}

int64_t sys_work(struct proc *p, const uint64_t *arg)
{
    const struct stated_cost *cost = cost_of(STATED_PIO_CALL);
    bool works = arg[0] != 0;

    if (!cost || p->builtin || works == p->works)
        return 0;
    stated_wait(begin_of(p));
    add(cost, works ? cost->begin_cycles : cost->end_cycles, 0, 0);
    p->works = works;
    if (!works)
        hold(p, STATED_PIO_CALL, 0);
    return 0;
}

RARE void stated_exclude_trap(void)
{
    MAILBOX->stated_cycles += ncu_time() - ncu_entered();
}

/* ---- Servers ---- */

static uint32_t serving; /* row of the request that was taken last, */
static bool changed;     /* which has written to a drive */

/* What a request by a view takes depends on the pattern more than on its bytes. */
static bool is_by_view(const struct stated_message *m)
{
    return TAG_TYPE(m->tag) != N_FVIEW && m->bytes >= sizeof(struct file_request) &&
           ((const struct file_request *)m->payload)->view != 0;
}

static void take_request(struct proc *p, const struct stated_message *m)
{
    uint32_t row = STATED_OF(TAG_TYPE(m->tag));
    const struct stated_cost *cost = row < STATED_REQUESTS && !is_by_view(m) ? cost_of(row) : NULL;

    stated_wait(later_of(begin_of(p), m->done_cycles));
    p->works = cost != NULL;
    if (!cost)
        return;
    serving = row;
    changed = false;
    add(cost, cost->begin_cycles, copied_bytes(m), sizeof(struct file_request));
}

static void take(struct proc *p, const struct stated_message *m)
{
    if (p->builtin)
        take_request(p, m);
    else
        take_reply(p, m);
}

RARE void stated_take_cause(struct proc *p, const struct ncu_cause *cause, const void *payload)
{
    take(p,
         &(struct stated_message){cause->node, (uint32_t)cause->tag, cause->bytes, cause->done_cycles, payload, false});
}

RARE void stated_take_message(struct proc *p, const struct message *m, bool landed)
{
    take(p, &(struct stated_message){m->node, m->tag, m->bytes, m->done_cycles, m->payload, landed});
}

void stated_reply(struct proc *p, uint32_t type, uint64_t bytes)
{
    uint32_t row = type - N_REPLY(N_FOPEN);
    const struct stated_cost *cost = p->works && row < STATED_REQUESTS ? cost_of(row) : NULL;

    if (!cost)
        return;
    add(cost, cost->end_cycles, bytes, sizeof(struct file_reply));
    hold(p, row, 0);
}

void stated_command(const struct proc *p, uint32_t type, bool write)
{
    uint32_t row = type ? STATED_OF(type & ~DISK_CHANGES) : serving;
    const struct stated_cost *cost = p->works && row < STATED_REQUESTS ? cost_of(row) : NULL;
    bool changes = write && (type ? (type & DISK_CHANGES) != 0 : !changed);

    if (!type)
        changed |= write;
    if (!cost)
        return;
    add(cost, cost->command_cycles + (changes ? cost->change_cycles : 0), 0, 0);
    hold(p, row, cost->change_cycles);
}
