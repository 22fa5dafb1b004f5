/*
 * Records messages that are given up, and reports them to both ends (lost.h).
 */
#include "vertex/message/lost.h"

#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/panic.h"
#include "vertex/contract/errors.h"
#include "vertex/file/request.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/message/charge.h"
#include "vertex/message/console_line.h"
#include "vertex/message/delivery.h"
#include "vertex/message/sends.h"
#include "vertex/trap/event.h"

struct lost { /* messages to one node, with one tag; or with N_FEXIT, that it is to be told of the process's end */
    struct lost *next;
    uint32_t node, tag;
    int32_t status;      /* error of the first that has not been reported to the process; 0: all have been */
    uint32_t unreported; /* losses not reported to the process */
    uint32_t owed;       /* losses for which the receiver has got no notice */
    void *kept;          /* lost_owe_end */
};

/* ---- Records ---- */

/* Returns the record of these losses, a new one at the end of the list if there is none; NULL: no memory. */
static struct lost *find_or_add(struct proc *p, uint32_t node, uint32_t tag)
{
    struct lost **end = &p->lost;

    while (*end && ((*end)->node != node || (*end)->tag != tag))
        end = &(*end)->next;
    if (*end)
        return *end;
    *end = kmem_alloc(MEM_PROCESS, sizeof **end);
    if (!*end)
        return NULL;
    **end = (struct lost){.node = node, .tag = tag};
    return *end;
}

/* Messages of programs do not have this type. */
static bool is_end(const struct lost *l)
{
    return l->tag == N_FEXIT;
}

static void remove(struct lost **link)
{
    struct lost *l = *link;

    *link = l->next;
    if (l->kept)
        kmem_free(MEM_PROCESS, l->kept, LOST_KEPT_BYTES);
    kmem_free(MEM_PROCESS, l, sizeof *l);
}

/* ---- Notices ---- */

/* The front end reads no messages of programs. File requests and loads are reported in other ways (lost.h). */
static bool has_notice(uint32_t node, uint32_t tag)
{
    return node != NODE_HOST && (!TAG_IS_SYSTEM(tag) || N_IS_FILE_REPLY(TAG_TYPE(tag)));
}

/* resend.h orders messages by their start: the notice takes the place of the lost message. False: no memory. */
static bool send_notice(struct proc *p, uint32_t node, const struct lost_notice *notice, uint64_t start_cycles)
{
    struct message *m = message_new(sizeof *notice);

    if (!m)
        return false;
    *(struct lost_notice *)m->payload = *notice;
    m->bytes = sizeof *notice;
    m->owner = p->procid;
    m->start_cycles = start_cycles;
    if (p->last_sent == m) /* a freed message, whose memory the notice reuses */
        p->last_sent = NULL;
    message_post(m, node, TAG(N_LOST, p->procid, TAG_TO(notice->tag)));
    return true;
}

static void pay(struct proc *p, struct lost *l)
{
    if (l->owed && send_notice(p, l->node, &(struct lost_notice){.tag = l->tag, .count = l->owed}, ncu_time()))
        l->owed = 0;
}

/* ---- The sender's side ---- */

static int32_t error_of(const struct ncu_cause *cause)
{
    return delivery_error_of_status(cause->status);
}

static void note_message(struct proc *p, const struct message *m, const struct ncu_cause *cause)
{
    uint32_t tag = cause->tag, sequence = N_IS_FILE_REPLY(TAG_TYPE(tag)) ? message_sequence(m) : 0;
    const struct lost_notice notice = {.tag = tag, .count = 1, .sequence = sequence};
    bool owed = has_notice(cause->node, tag) && !send_notice(p, cause->node, &notice, m->start_cycles);

    if (p->builtin)
        return; /* a server never learns of lost replies */
    struct lost *l = find_or_add(p, cause->node, tag);
    if (!l) {
        p->lost_status = error_of(cause);
        p->long_way = true;
        return;
    }
    p->long_way = true;
    l->status = l->status ? l->status : error_of(cause);
    l->unreported++;
    l->owed += owed;
}

static void note_notice(struct proc *p, const struct lost_notice *notice, uint32_t node)
{
    struct lost *l = p->builtin ? NULL : find_or_add(p, node, notice->tag);

    if (!l)
        return;
    p->long_way = true;
    l->owed += notice->count;
}

void lost_note(struct proc *p, const struct message *m, const struct ncu_cause *cause)
{
    if (TAG_TYPE(cause->tag) == N_LOST)
        note_notice(p, (const struct lost_notice *)m->payload, cause->node);
    else
        note_message(p, m, cause);
}

/* Returns `status`, or the error of a loss there if that is 0. *kept: a record of losses is left. */
static RARE int tell(struct proc *p, uint32_t node, int status, bool *kept)
{
    for (struct lost **link = &p->lost; *link;) {
        struct lost *l = *link;

        if (is_end(l) || (node != LOST_TO_ANY && l->node != node)) {
            *kept |= !is_end(l);
            link = &l->next;
            continue;
        }
        status = status ? status : l->status;
        l->status = l->unreported = 0;
        pay(p, l);
        *kept |= l->owed > 0;
        if (l->owed)
            link = &l->next;
        else
            remove(link);
    }
    return status;
}

int lost_tell(struct proc *p, uint32_t node)
{
    int status = p->lost_status;
    bool kept = false;

    p->lost_status = 0;
    if (p->lost)
        status = tell(p, node, status, &kept);
    p->long_way = kept || charge_is_due();
    return status;
}

void **lost_owe_end(struct proc *p, uint32_t node)
{
    struct lost *l = find_or_add(p, node, N_FEXIT);

    return l ? &l->kept : NULL;
}

static RARE void tell_end(struct proc *p, uint32_t node)
{
    struct message *reply, *m;

    if (proc_new_message_late(p, sizeof(struct file_request), false, &m) != 0)
        return;
    *(struct file_request *)m->payload = (struct file_request){0};
    m->bytes = sizeof(struct file_request);
    uint32_t sequence = request_send_of_family(p, m, node, N_FEXIT);
    request_await_since(p, node, N_FEXIT, sequence, ncu_time(), &reply);
    reply_release(reply);
}

void lost_pay(struct proc *p)
{
    for (struct lost *l = p->lost; l; l = l->next)
        if (is_end(l))
            tell_end(p, l->node);
        else
            pay(p, l);
}

void lost_end(struct proc *p)
{
    const struct lost *first = NULL;
    uint32_t unreported = 0;

    for (const struct lost *l = p->lost; l; l = l->next) {
        first = first || !l->unreported ? first : l;
        unreported += l->unreported;
    }
    if (first && p->death.how == EXIT_NORMAL)
        console_line("messages of the program that did not arrive: %u, the first to node %u, type %u: error %d",
                     unreported, first->node - p->base, TAG_NUMBER(first->tag), -first->status);
    while (p->lost)
        remove(&p->lost);
}

/* ---- The receiver's side ---- */

static void become_reply(struct message *m, const struct lost_notice *notice)
{
    *(struct file_reply *)m->payload = (struct file_reply){notice->sequence, -N_EIO};
    m->bytes = sizeof(struct file_reply);
}

void lost_arrived(struct message *m)
{
    const struct lost_notice notice = *(const struct lost_notice *)m->payload;
    struct proc *p = proc_find(TAG_TO(notice.tag));

    if (m->bytes != sizeof notice || !has_notice(MAILBOX->node, notice.tag)) {
        message_release(m);
        return;
    }
    m->tag = notice.tag;
    if (N_IS_FILE_REPLY(TAG_TYPE(m->tag)))
        become_reply(m, &notice);
    else
        m->bytes = LOST_BYTES;
    if (p)
        p->monitor.missed += notice.count;
    delivery_give(m);
}
