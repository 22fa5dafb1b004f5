/* Blocks that go to other cache managers, and come back (peers.h). */
#include "nsdisk/managers/peers.h"

#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

#define PART_BYTES 4096u
#define AWAY_MOST  1024u     /* blocks that others have of this manager's */
#define PATIENCE   20000000u /* cycles; who does not answer within a second is not asked again */

enum peer_op { PEER_KEEP, PEER_GIVE, PEER_LOAD };

struct peer_message {
    uint32_t op, seq;
    uint32_t home;       /* the place of the manager whose block it is */
    uint32_t entry;      /* the block, in the home's numbers */
    uint32_t valid;      /* of KEEP and of a reply: a bit for each part, whose bytes follow */
    uint32_t free;       /* blocks of the sender */
    uint64_t asked_last; /* cycles, when a client has asked it */
};

struct peer {
    int node;
    bool silent; /* it has not answered */
    uint32_t free;
    uint64_t asked_last;
};

struct away {
    struct index_entry at; /* the first member; the number is that of the first part / PEER_PARTS */
    bool used;
    uint32_t holder; /* its place */
};

static struct {
    struct data_cache *d;
    uint32_t slot_shift, n, own;
    struct peer peer[PEERS_MOST];
    struct away away[AWAY_MOST];
    struct block_index index;
    uint32_t next; /* entry of `away` that is used next */
    uint32_t seq;
    bool takes_in; /* a block of another one, for which others may have to go */
    uint64_t asked_last;
    struct manager_counts *counts; /* of which those of blocks that had to go are counted here */
    struct {
        struct peer_message head;
        uint8_t bytes[PEER_PARTS * PART_BYTES];
    } out, in;
} p;

/* ---- Messages ---- */

static void send(uint32_t to, struct peer_message m, int type, size_t bytes)
{
    m.free = data_cache_free_blocks(p.d);
    m.asked_last = p.asked_last;
    p.out.head = m;
    trap_cwrite(&p.out, (long)(sizeof m + bytes), p.peer[to].node, type, CONTEXT_GROUP);
}

/* The place of a node; p.n: none. */
static uint32_t place_of(int from)
{
    uint32_t i = 0;

    while (i < p.n && p.peer[i].node != from)
        i++;
    return i;
}

static void note_load(uint32_t place, const struct peer_message *m)
{
    p.peer[place].free = m->free;
    p.peer[place].asked_last = m->asked_last;
}

/* ---- What is away ---- */

static struct away *find_away(uint32_t first_part)
{
    return (struct away *)index_find(&p.index, first_part / PEER_PARTS);
}

static void come_back(struct away *a)
{
    index_remove(&p.index, &a->at);
    a->used = false;
}

void peers_forget(uint32_t first, uint32_t count)
{
    const uint32_t from = first / PEER_PARTS, blocks = (first + count - 1) / PEER_PARTS - from + 1;

    for (uint32_t i = 0; i < blocks && blocks < AWAY_MOST && p.n > 1; i++) {
        struct away *a = find_away((from + i) * PEER_PARTS);

        if (a)
            come_back(a);
    }
    for (uint32_t i = 0; i < AWAY_MOST && blocks >= AWAY_MOST && p.n > 1; i++)
        if (p.away[i].used && p.away[i].at.number - from < blocks)
            come_back(&p.away[i]);
}

/* Chooses the manager with the most room; if none has any, the one that was asked for something longest ago. Returns
 * p.n if there is no other manager that answers. */
static uint32_t choose(void)
{
    uint32_t best = p.n;

    for (uint32_t i = 0; i < p.n; i++) {
        const struct peer *x = &p.peer[i], *b = &p.peer[best];

        if (i == p.own || x->silent)
            continue;
        if (best == p.n || x->free > b->free || (x->free == b->free && x->asked_last < b->asked_last))
            best = i;
    }
    return best;
}

/* A block of this manager's files has to go. */
static void evicted(void *ctx, uint32_t first_part, uint32_t valid, const uint8_t *bytes)
{
    const uint32_t to = choose();
    struct away *a = p.n > 1 ? find_away(first_part) : NULL;

    (void)ctx;
    p.counts->evicted++;
    if (a)
        come_back(a);
    if (p.takes_in || to == p.n || first_part >> p.slot_shift >= GUEST_SLOTS)
        return;
    a = &p.away[p.next];
    if (a->used)
        come_back(a);
    a->used = true;
    a->at.number = first_part / PEER_PARTS;
    a->holder = to;
    index_insert(&p.index, &a->at);
    memcpy(p.out.bytes, bytes, sizeof p.out.bytes);
    send(to, (struct peer_message){.op = PEER_KEEP, .home = p.own, .entry = p.next, .valid = valid}, PEER_TYPE,
         sizeof p.out.bytes);
    if (p.peer[to].free > 0)
        p.peer[to].free--;
    p.counts->given++;
    p.next = (p.next + 1) % AWAY_MOST;
}

/* ---- Other managers' blocks ---- */

static uint32_t guest_part(const struct peer_message *m)
{
    return (GUEST_SLOTS + m->home) << p.slot_shift | m->entry * PEER_PARTS;
}

static void keep(const struct peer_message *m, const uint8_t *bytes)
{
    p.takes_in = true;
    p.counts->received++;
    for (uint32_t i = 0; i < PEER_PARTS; i++)
        if (m->valid >> i & 1)
            data_cache_keep(p.d, guest_part(m) + i, bytes + i * PART_BYTES);
        else
            data_cache_forget(p.d, guest_part(m) + i, 1);
    p.takes_in = false;
}

static void give(uint32_t to, const struct peer_message *m)
{
    struct peer_message reply = {.op = PEER_GIVE, .seq = m->seq};

    for (uint32_t i = 0; i < PEER_PARTS; i++)
        if (data_cache_is_there(p.d, guest_part(m) + i)) {
            memcpy(p.out.bytes + i * PART_BYTES, data_cache_look(p.d, guest_part(m) + i), PART_BYTES);
            reply.valid |= 1u << i;
        }
    data_cache_forget(p.d, guest_part(m), PEER_PARTS);
    p.counts->given_back += reply.valid != 0;
    send(to, reply, PEER_TYPE_REPLY, reply.valid != 0 ? sizeof p.out.bytes : 0);
}

/* While this manager waits for another one, it keeps nothing: a command of the data cache is under way. */
static void take(const uint8_t *message, size_t n, int from, bool may_keep)
{
    const uint32_t place = place_of(from);
    struct peer_message m;

    if (n < sizeof m || place == p.n || place == p.own)
        return;
    memcpy(&m, message, sizeof m);
    note_load(place, &m);
    if (m.home >= p.n || m.entry >= AWAY_MOST)
        return;
    if (m.op == PEER_GIVE)
        give(place, &m);
    if (m.op != PEER_KEEP)
        return;
    if (may_keep && n == sizeof m + sizeof p.in.bytes)
        keep(&m, message + sizeof m);
    send(place, (struct peer_message){.op = PEER_LOAD, .home = p.own}, PEER_TYPE, 0);
}

void peers_take(const uint8_t *message, size_t n, int from)
{
    if (p.n > 1)
        take(message, n, from, true);
}

/* ---- Fetching ---- */

static struct abi_poll entry_of(int node, int type)
{
    return (struct abi_poll){
        .kind = ABI_POLL_MESSAGE, .events = ABI_POLL_IN, .context = CONTEXT_GROUP, .ufid = node, .type = type};
}

/* Waits for a holder's answer in p.in; others are answered meanwhile. False: there is none. */
static bool await(uint32_t holder, uint32_t seq)
{
    const uint64_t until = (uint64_t)trap_cycles() + PATIENCE;

    for (;;) {
        struct abi_poll entry[2] = {entry_of(p.peer[holder].node, PEER_TYPE_REPLY), entry_of(-1, PEER_TYPE)};
        const long ready = trap_poll(entry, 2, until, 0);
        int from = -1, type = PEER_TYPE;

        if (ready == 0 || (ready < 0 && ready != -N_EINTR))
            return false;
        if (ready > 0 && entry[0].ready != 0) {
            from = p.peer[holder].node;
            type = PEER_TYPE_REPLY;
        }
        const long n = ready < 0 ? ready : trap_read_context(&p.in, sizeof p.in, &from, &type, CONTEXT_GROUP);
        if (n < (long)sizeof p.in.head)
            continue;
        if (type == PEER_TYPE)
            take((const uint8_t *)&p.in, (size_t)n, from, false);
        else if (p.in.head.seq == seq)
            return true;
    }
}

uint32_t peers_fetch(uint32_t first_part, uint8_t *buf)
{
    struct away *a = p.n > 1 ? find_away(first_part) : NULL;

    if (!a)
        return 0;
    const uint32_t holder = a->holder, seq = ++p.seq;
    come_back(a);
    if (p.peer[holder].silent)
        return 0;
    p.counts->asked_back++;
    send(holder, (struct peer_message){.op = PEER_GIVE, .seq = seq, .home = p.own, .entry = (uint32_t)(a - p.away)},
         PEER_TYPE, 0);
    if (!await(holder, seq)) {
        p.peer[holder].silent = true;
        return 0;
    }
    note_load(holder, &p.in.head);
    for (uint32_t i = 0; i < PEER_PARTS; i++)
        if (p.in.head.valid >> i & 1)
            memcpy(buf + i * PART_BYTES, p.in.bytes + i * PART_BYTES, PART_BYTES);
    return p.in.head.valid;
}

/* ---- Beginning ---- */

void peers_begin(struct data_cache *d, uint32_t slot_shift, struct manager_counts *counts)
{
    p.d = d;
    p.slot_shift = slot_shift;
    p.counts = counts;
    data_cache_tell_evictions(d, evicted, NULL);
}

void peers_set(const int *node, uint32_t n, uint32_t own)
{
    if (p.n > 0 || n < 2 || n > PEERS_MOST || index_init(&p.index, AWAY_MOST) < 0)
        return;
    p.n = n;
    p.own = own;
    for (uint32_t i = 0; i < n; i++)
        p.peer[i] = (struct peer){.node = node[i], .free = data_cache_free_blocks(p.d)};
}

void peers_note_request(void)
{
    if (p.n > 1)
        p.asked_last = (uint64_t)trap_cycles();
}
