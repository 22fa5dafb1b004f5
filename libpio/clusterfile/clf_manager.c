/*
 * Requests to cache managers [P3 section 3.1.3] (clf_client.h): messages to programs on compute nodes, which take the
 * requests of servers (vertex/contract/clusterfile.h). A reply has its request's slot in its type, so several are under
 * way and end in any order.
 *
 * A manager has a presence at the server of the file's first part, which hears of its end: who has waited for a reply
 * for a second asks there, and then less and less often. One that has never answered has no presence: it is given up
 * after some minutes.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/servers/server_calls.h"
#include "vertex/contract/errors.h"

#define PATIENCE 16 /* questions about a manager without a presence: 11 minutes (clf_take) */

static struct request {
    int node; /* -1: free */
    uint32_t seq;
    int questions; /* about its manager's end, while the reply is waited for */
} asked[CLF_ASKED_MAX];
static uint32_t sequence; /* the last request's; 0: there was none yet */
static struct clf_managers *all;
static struct clf_open *dropping; /* whose managers are told to drop it; NULL: none are */

/* ---- Ends ---- */

static int say_ended(const struct clf_managers *m, int32_t i)
{
    return clf_fail(-N_EIO, "cache manager %d, on node %d, %s", (int)i, m->at[i].node,
                    m->at[i].presence == 0 ? "does not answer" : "has ended");
}

/* Whether the manager is known to have ended. */
static int check_node(int node)
{
    for (const struct clf_managers *m = all; m; m = m->next)
        for (int32_t i = 0; i < m->n; i++)
            if (m->at[i].node == node && m->at[i].ended)
                return say_ended(m, i);
    return 0;
}

/* The error of a message to or from a node, as that of its manager. */
static long say_lost(int node, long error)
{
    if (error != -N_EHOSTUNREACH && error != -N_EIO)
        return error;
    return check_node(node) < 0 ? -N_EIO : clf_fail(-N_EIO, "the cache manager on node %d cannot be reached", node);
}

/* Asks about one manager of a file. Errors of the server are not the manager's. */
static int ask_about(struct clf_managers *m, int32_t i, int questions)
{
    uint32_t ended = 0;

    if (m->at[i].presence == 0)
        m->at[i].ended = questions >= PATIENCE;
    else if (m->of->part[0].attachment != 0 &&
             clf_presence_ended(m->of, m->of->part[0].attachment, m->at[i].presence, &ended) == 0)
        m->at[i].ended = ended != 0;
    return m->at[i].ended ? say_ended(m, i) : 0;
}

/* The job's managers that have the file's part f->managed - 1. Returns how many they are. */
static long list(const struct clf_open *f, int32_t node[CLF_LISTED_MOST])
{
    struct clf_question q = clf_part_question(f, f->managed - 1, N_CLF_MANAGER);

    q.r.offset = (uint64_t)server_calls.node();
    return clf_end(clf_start(q.volume, q.type, q.r, NULL, 0), NULL, 0, node, CLF_LISTED_MOST * sizeof *node);
}

/* One that has ended has no file any more. */
static int ask_whether_listed(int manager)
{
    int32_t node[CLF_LISTED_MOST];
    const long n = list(dropping, node);

    for (long i = 0; i < n; i++)
        if (node[i] == manager)
            return 0;
    return -N_ESRCH;
}

/* Of all who are concerned with a request to a node: the manager, and the members of the groups of its files. Of a node
 * that is dead or cut off no server hears, but who sends something there does. The manager takes no notice of it. */
static int find_ended(void *ctx)
{
    const struct clf_asked nothing = {0, 0};
    struct request *r = ctx;
    const int node = r->node, questions = ++r->questions;
    int error = (int)say_lost(node, server_calls.send(&nothing, sizeof nothing, node, CLF_TYPE_REQUEST, CONTEXT_GROUP));

    if (error == 0 && dropping)
        return ask_whether_listed(node);
    for (struct clf_managers *m = all; m && error == 0; m = m->next)
        for (int32_t i = 0; i < m->n && error == 0; i++)
            if (m->at[i].node == node) {
                error = ask_about(m, i, questions);
                if (error == 0 && m->of->members)
                    error = clf_group_find_ended(m->of->members);
            }
    return error;
}

/* ---- Requests ---- */

static uint32_t find_slot(void)
{
    uint32_t slot = 0;

    for (uint32_t i = 0; i < CLF_ASKED_MAX && sequence == 0; i++)
        asked[i].node = -1;
    while (slot < CLF_ASKED_MAX && asked[slot].node >= 0)
        slot++;
    return slot;
}

static long start(int node, int type, struct clf_request r, const void *data, size_t bytes)
{
    const uint32_t slot = find_slot();
    const struct clf_asked head = {(uint32_t)type, 0};
    char *message = malloc(sizeof head + sizeof r + bytes);
    long result = slot == CLF_ASKED_MAX ? -N_EAGAIN : message ? check_node(node) : -N_ENOMEM;

    if (result == 0) {
        r.seq = CLF_SEQ(++sequence, slot);
        memcpy(message, &head, sizeof head);
        memcpy(message + sizeof head, &r, sizeof r);
        if (bytes > 0)
            memcpy(message + sizeof head + sizeof r, data, bytes);
        result =
            server_calls.send(message, (long)(sizeof head + sizeof r + bytes), node, CLF_TYPE_REQUEST, CONTEXT_GROUP);
    }
    free(message);
    if (result < 0)
        return result;
    asked[slot] = (struct request){node, r.seq, 0};
    return CLF_CARRIER_NUMBER + slot;
}

/* The reply to the request in a slot; an earlier one that nobody has waited for is dropped. */
static long take_reply(uint32_t slot, struct file_reply *reply, long room)
{
    const struct clf_awaited from = {asked[slot].node, (int)(CLF_TYPE_REPLY + slot), CONTEXT_GROUP};
    long n;

    do
        n = clf_take(&from, reply, room, find_ended, &asked[slot]);
    while (n >= (long)sizeof *reply && reply->seq != asked[slot].seq);
    return n >= 0 && n < (long)sizeof *reply ? -N_EPROTO : n < 0 ? say_lost(from.process, n) : n;
}

static long give(const struct file_reply *reply, size_t n, void *head, size_t head_bytes, void *data, size_t bytes)
{
    const char *payload = (const char *)(reply + 1);

    n -= sizeof *reply;
    if (reply->status < 0)
        return reply->status;
    if (n < head_bytes || n - head_bytes > bytes)
        return -N_EPROTO;
    if (head_bytes > 0)
        memcpy(head, payload, head_bytes);
    if (n > head_bytes)
        memcpy(data, payload + head_bytes, n - head_bytes);
    return reply->status;
}

static long end(long number, void *head, size_t head_bytes, void *data, size_t bytes)
{
    const uint32_t slot = (uint32_t)(number - CLF_CARRIER_NUMBER);
    const size_t room = sizeof(struct file_reply) + head_bytes + bytes;
    struct file_reply *reply = malloc(room);
    long n = reply ? take_reply(slot, reply, (long)room) : -N_ENOMEM;

    if (n > 0)
        n = give(reply, (size_t)n, head, head_bytes, data, bytes);
    free(reply);
    asked[slot].node = -1;
    return n;
}

static const struct clf_carrier carrier = {start, end};

/* ---- Managers of a file ---- */

/* What a manager is told of the file: the managers' nodes, and the layout. */
static long describe(const struct clf_layout *of, const struct clf_layout *l, char *data)
{
    const size_t nodes_bytes = l->parts * sizeof(int32_t);

    for (uint32_t i = 0; i < l->parts; i++)
        memcpy(data + i * sizeof(int32_t), &(int32_t){(int32_t)(l->volume[i] - CLF_MANAGER_AT)}, sizeof(int32_t));
    const long n = clf_layout_format(of, data + nodes_bytes, CLF_TEXT_BYTES + 1);
    return n < 0 ? n : (long)nodes_bytes + n;
}

int clf_managers_new(struct clf_open *of, const struct clf_layout *l, int64_t block, struct clf_managers **out)
{
    struct clf_managers *m = calloc(1, sizeof *m + l->parts * sizeof m->at[0]);
    char *data = malloc(l->parts * sizeof(int32_t) + CLF_TEXT_BYTES + 1);
    long n = m && data ? describe(of->layout, l, data) : -N_ENOMEM;
    int error = n < 0 ? (int)n : n > (long)CLF_ATTACH_MOST ? -N_E2BIG : 0;

    if (error == 0) { /* the first part's server tells of ends */
        of->part[0].wanted = true;
        error = clf_parts_attach(of);
        of->part[0].wanted = false;
    }
    if (error < 0) {
        free(data);
        free(m);
        return error;
    }
    m->of = of;
    m->data = data;
    m->bytes = (size_t)n;
    m->block = block;
    m->n = (int32_t)l->parts;
    for (int32_t i = 0; i < m->n; i++)
        m->at[i].node = (int)(l->volume[i] - CLF_MANAGER_AT);
    m->next = all;
    all = m;
    clf_carrier = &carrier;
    *out = m;
    return 0;
}

int clf_managers_meet(struct clf_managers *m, struct clf_open *file)
{
    struct clf_manager *told = calloc((size_t)m->n, sizeof *told);
    struct clf_question *q = calloc((size_t)m->n, sizeof *q);
    int error = told && q ? 0 : -N_ENOMEM;

    for (int32_t i = 0; i < m->n; i++)
        file->part[i].wanted = true;
    if (error == 0)
        error = clf_parts_attach(file);
    for (int32_t i = 0; i < m->n && error == 0; i++) {
        file->part[i].wanted = false;
        q[i] = clf_part_question(file, (uint32_t)i, N_CLF_MANAGER);
        q[i].head = &told[i];
        q[i].head_bytes = sizeof told[i];
    }
    if (error == 0)
        error = clf_ask(q, (uint32_t)m->n);
    for (int32_t i = 0; i < m->n && error == 0; i++)
        m->at[i].presence = told[i].presence;
    free(told);
    free(q);
    return error;
}

void clf_managers_free(struct clf_managers *m)
{
    struct clf_managers **link = &all;

    if (!m)
        return;
    while (*link && *link != m)
        link = &(*link)->next;
    if (*link)
        *link = m->next;
    free(m->data);
    free(m);
}

/* ---- Changes without managers ---- */

/* One that does not answer has ended, and keeps nothing. */
void clf_managers_drop(struct clf_open *f)
{
    const struct clf_request r = {.handle = f->handle};
    int32_t node[CLF_LISTED_MOST];
    long number[CLF_UNDER_WAY], n = list(f, node);

    dropping = f;
    for (long first = 0, i; first < n; first += CLF_UNDER_WAY) {
        for (i = first; i < n && i < first + (long)CLF_UNDER_WAY; i++)
            number[i - first] = start(node[i], N_CLF_FREE, r, NULL, 0);
        for (i = first; i < n && i < first + (long)CLF_UNDER_WAY; i++)
            if (number[i - first] >= 0)
                end(number[i - first], NULL, 0, NULL, 0);
    }
    dropping = NULL;
    f->managed = 0;
    clf_why_begin();
}
