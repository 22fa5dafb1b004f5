/* See watch.h. */
#include "vertex/file/watch.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/contract/system.h"
#include "vertex/file/drive_traps.h"
#include "vertex/message/buffers.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/event.h"
#include "vertex/trap/timer.h"

#define SOON 60u /* part of a limit in which a server that was given up must answer */
#define HELD_PROBES \
    128u /* that find a server idle: 64 limits; after them nothing is due, so that a deadlock is found */
#define DEAD_MAX 8u

static uint32_t dead[DEAD_MAX]; /* servers that were given up, by address; 0: none, which is no I/O node */
static uint32_t next_dead;      /* where the next one goes, in place of the oldest */
static bool some_are_dead;      /* usually none has ever been given up */

static uint64_t limit_cycles(void)
{
    return (uint64_t)MAILBOX->server_limit_s * CLOCK_HZ;
}

RARE bool watch_is_overdue(uint64_t sent_cycles)
{
    return ncu_time() >= sent_cycles + limit_cycles();
}

/* ---- Servers that were given up ---- */

static bool is_dead(uint32_t node)
{
    for (uint32_t i = 0; some_are_dead && i < DEAD_MAX; i++)
        if (dead[i] == node)
            return true;
    return false;
}

static void forget(uint32_t node)
{
    for (uint32_t i = 0; some_are_dead && i < DEAD_MAX; i++)
        if (dead[i] == node)
            dead[i] = 0;
}

static bool give_up(uint32_t node)
{
    if (!is_dead(node)) {
        dead[next_dead] = node;
        next_dead = (next_dead + 1) % DEAD_MAX;
        some_are_dead = true;
    }
    return false;
}

/* ---- Probes ---- */

static void release_probe(struct watch *w)
{
    if (w->probe)
        message_release(w->probe);
    w->probe = NULL;
}

/* Without memory for one, the next is tried later. */
static void send_probe(struct proc *p, struct watch *w)
{
    struct message *m = message_new(sizeof(struct server_count));

    if (!m)
        return;
    release_probe(w);
    *(struct server_count *)m->payload = (struct server_count){.procid = p->procid};
    m->bytes = sizeof(struct server_count);
    m->holds++;
    w->probe = m;
    p->server_answered = false;
    message_post(m, w->node, TAG(N_PROBE, 0, 0));
}

/* On an I/O node: answers with what its server and its drives have done since the start. The probe itself becomes the
 * answer: memory may be full of requests. */
RARE void watch_probe_arrived(struct message *m)
{
    const struct proc *server = proc_find(0);

    if (m->bytes != sizeof(struct server_count) || !server) {
        message_release(m);
        return;
    }
    struct server_count *count = (struct server_count *)m->payload;
    count->idle = server->reader.state == READER_OPEN;
    count->count = server->monitor.copied + server->monitor.landed + server->monitor.mapped + disk_commands_ended();
    message_post(m, m->node, TAG(N_PROGRESS, 0, 0));
}

RARE void watch_answer_arrived(struct message *m)
{
    const struct server_count *count = (const struct server_count *)m->payload;
    struct proc *p = m->bytes == sizeof *count && count->procid < PROCS_MAX ? proc_find(count->procid) : NULL;

    if (p && p->watched_node == m->node) {
        p->server_answered = true;
        p->server_count = count->count;
        p->server_idle = count->idle;
        timer_set(p, ncu_time() + 1); /* it is judged at once */
    }
    message_release(m);
}

/* ---- Watching ---- */

static void ask(struct proc *p, struct watch *w, uint64_t until_cycles)
{
    w->asked = true;
    send_probe(p, w);
    timer_set(p, until_cycles);
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void watch_begin(struct proc *p, struct watch *w, uint32_t node, uint64_t sent_cycles)
{
    uint64_t now = ncu_time();

    *w = (struct watch){.node = node, .sent_cycles = sent_cycles};
    if (node == NODE_HOST) {
        timer_set(p, NCU_TIMER_NONE);
        return;
    }
    p->watched_node = node;
    p->server_answered = false;
    if (is_dead(node))
        ask(p, w, now + limit_cycles() / SOON);
    else
        timer_set(p, later(sent_cycles + limit_cycles() / 2, now + 1));
}

/* The probe was answered: is there progress since the one before? */
static bool judge(struct proc *p, struct watch *w)
{
    bool works = !w->counted || w->count != p->server_count;

    forget(w->node);
    w->asked = false;
    w->counted = true;
    w->count = p->server_count;
    const bool holds = w->may_hold && p->server_idle;
    w->held = works || !holds ? 0 : w->held + 1;
    /* not from the probe on, which may have been long on its way */
    timer_set(p, w->held == HELD_PROBES ? NCU_TIMER_NONE : ncu_time() + limit_cycles() / 2);
    return works || holds || give_up(w->node);
}

/* A probe that is not delivered has a second hold, its send's. */
RARE bool watch_goes_on(struct proc *p, struct watch *w)
{
    uint64_t now = ncu_time(), half = limit_cycles() / 2, limit = w->sent_cycles + limit_cycles();

    event_reap();
    if (w->asked && p->server_answered)
        return judge(p, w);
    if (w->asked && w->probe && w->probe->holds == 1)
        return give_up(w->node);
    if (w->asked)
        timer_set(p, now + half);
    else
        ask(p, w, w->counted ? now + half : later(limit, now + limit_cycles() / SOON));
    return true;
}

RARE bool watch_is_held(struct proc *p, uint32_t node)
{
    struct watch w;

    watch_begin(p, &w, node, ncu_time());
    ask(p, &w, ncu_time() + limit_cycles() / SOON);
    while (!p->timed_out && proc_wait(p, NCU_WAIT_REPLY, node, N_PROGRESS) == 0)
        ;
    bool held = p->server_answered && p->server_idle;
    watch_end(p, &w, false);
    return held;
}

void watch_end(struct proc *p, struct watch *w, bool answered)
{
    timer_clear(p);
    release_probe(w);
    p->watched_node = 0;
    if (answered)
        forget(w->node);
}
