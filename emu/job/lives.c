/*
 * Which nodes of a job have exited, the programs that its nodes load on each other, and the requests that wait for
 * them.
 *
 * A claim makes a load and counts its nodes as running. Each node then reports the result of the load (N_STARTED, or
 * N_EXIT of the kind EXIT_LOAD), which answers N_RBEGUN; its exit answers N_RWAIT.
 */
#include "emu/job/lives.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

struct load { /* of one claim; kept until the job is freed, because faults name the program */
    SLIST_ENTRY(load) entry;
    uint32_t life;
    bool is_separate;       /* its nodes have numbers of their own, or it was loaded by such a program */
    bool in_place;          /* it replaces the process that loaded it, so no process waits for the result */
    uint32_t starting;      /* nodes that have not reported the result */
    int32_t error;          /* of the first node on which it did not start */
    uint32_t holders;       /* nodes on which it runs: the program's file is open for them, to say where it faults */
    struct host_file *file; /* NULL: closed, or never open */
    int fd;                 /* the same for a program that the front end has loaded; -1 */
    char name[];
};

struct wait { /* a request to be answered later */
    TAILQ_ENTRY(wait) entry;
    uint32_t from, tag, seq;
    uint64_t what; /* N_RBEGUN: the life; N_RWAIT: the node */
};

struct node {
    struct load *load; /* NULL: life 0 */
    bool exited;
    bool holds;     /* the load runs there, or is about to */
    int32_t status; /* of its last program that has ended */
    uint32_t first; /* node 0 of its program */
};

struct lives {
    struct lives_options options;
    SLIST_HEAD(, load) loads;          /* newest first */
    TAILQ_HEAD(wait_list, wait) waits; /* oldest first */
    uint32_t last;                     /* highest number of a life */
    uint32_t exits;
    bool refuses_claims;
    struct node node[];
};

/* ---- Life ----------------------------------------------------------------------------------------- */

struct lives *lives_new(const struct lives_options *o)
{
    struct lives *l = calloc(1, sizeof *l + o->nodes * sizeof *l->node);

    if (!l)
        return NULL;
    l->options = *o;
    SLIST_INIT(&l->loads);
    TAILQ_INIT(&l->waits);
    return l;
}

static void close_file(struct lives *l, struct load *load)
{
    if (load->file)
        hostfs_close_program(l->options.files, load->file);
    load->file = NULL;
    if (load->fd >= 0)
        close(load->fd);
    load->fd = -1;
}

/* The load no longer runs on the node. */
static void let_go(struct lives *l, struct node *node)
{
    if (node->holds && --node->load->holders == 0)
        close_file(l, node->load);
    node->holds = false;
}

static void drop_wait(struct lives *l, struct wait *w)
{
    TAILQ_REMOVE(&l->waits, w, entry);
    free(w);
}

void lives_free(struct lives *l)
{
    if (!l)
        return;
    while (!SLIST_EMPTY(&l->loads)) {
        struct load *load = SLIST_FIRST(&l->loads);

        SLIST_REMOVE_HEAD(&l->loads, entry);
        close_file(l, load);
        free(load);
    }
    while (!TAILQ_EMPTY(&l->waits))
        drop_wait(l, TAILQ_FIRST(&l->waits));
    free(l);
}

bool lives_has_exited(const struct lives *l, uint32_t logical)
{
    return l->node[logical].exited;
}

uint32_t lives_exits(const struct lives *l)
{
    return l->exits;
}

uint32_t lives_of(const struct lives *l, uint32_t logical)
{
    return l->node[logical].load ? l->node[logical].load->life : 0;
}

const char *lives_program(const struct lives *l, uint32_t logical, int *fd)
{
    const struct load *load = l->node[logical].load;

    if (!load)
        return NULL;
    *fd = load->file ? load->file->fd : load->fd;
    return load->name;
}

uint32_t lives_first(const struct lives *l, uint32_t logical)
{
    return l->node[logical].first;
}

void lives_set_first(struct lives *l, uint32_t logical, uint32_t first)
{
    l->node[logical].first = first;
}

bool lives_is_separate(const struct lives *l, uint32_t logical)
{
    return l->node[logical].load && l->node[logical].load->is_separate;
}

static struct load *find_load(const struct lives *l, uint64_t life)
{
    struct load *load = SLIST_FIRST(&l->loads);

    while (load && load->life != life)
        load = SLIST_NEXT(load, entry);
    return load;
}

void lives_refuse_claims(struct lives *l)
{
    l->refuses_claims = true;
}

void lives_note_exit(struct lives *l, uint32_t logical)
{
    l->exits += !l->node[logical].exited;
    l->node[logical].exited = true;
    lives_drop_client(l, l->options.base + logical, LIVES_ANY);
}

/* ---- Answers -------------------------------------------------------------------------------------- */

static void answer(struct lives *l, uint32_t from, uint32_t tag, uint32_t seq, int32_t status)
{
    const struct file_reply reply = {.seq = seq, .status = status};

    l->options.send(l->options.ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), &reply, sizeof reply);
}

static void answer_all(struct lives *l, uint32_t type, uint64_t what, int32_t status)
{
    struct wait *next;

    for (struct wait *w = TAILQ_FIRST(&l->waits); w; w = next) {
        next = TAILQ_NEXT(w, entry);
        if (TAG_TYPE(w->tag) != type || w->what != what)
            continue;
        answer(l, w->from, w->tag, w->seq, status);
        drop_wait(l, w);
    }
}

static const char *hold(struct lives *l, uint32_t from, uint32_t tag, const struct file_request *r)
{
    struct wait *w = malloc(sizeof *w);

    if (!w)
        return "there is no memory to hold it";
    *w = (struct wait){.from = from, .tag = tag, .seq = r->seq, .what = r->sfid};
    TAILQ_INSERT_TAIL(&l->waits, w, entry);
    return NULL;
}

void lives_drop_client(struct lives *l, uint32_t node, uint32_t procid)
{
    struct wait *next;

    for (struct wait *w = TAILQ_FIRST(&l->waits); w; w = next) {
        next = TAILQ_NEXT(w, entry);
        if (w->from == node && (procid == LIVES_ANY || TAG_FROM(w->tag) == procid))
            drop_wait(l, w);
    }
}

/* ---- Claims --------------------------------------------------------------------------------------- */

/* The programs of all the nodes must have ended; or the only node is the caller's own. */
static int32_t check_nodes(const struct lives *l, uint32_t from, uint64_t first, uint64_t nodes)
{
    if (first >= l->options.nodes || nodes == 0 || nodes > l->options.nodes - first)
        return -N_EINVAL;
    if (nodes == 1 && l->options.base + first == from)
        return 0;
    for (uint64_t i = first; i < first + nodes; i++)
        if (!l->node[i].exited)
            return -N_EBUSY;
    return 0;
}

static struct load *new_load(struct lives *l, uint32_t nodes, const char *name, size_t name_bytes)
{
    struct load *load = calloc(1, sizeof *load + name_bytes + 1);

    if (!load)
        return NULL;
    memcpy(load->name, name, name_bytes);
    load->starting = nodes;
    load->life = ++l->last;
    load->fd = -1;
    load->holders = nodes;
    SLIST_INSERT_HEAD(&l->loads, load, entry);
    return load;
}

/* Counts the nodes as running from now on. */
static void take_nodes(struct lives *l, struct load *load, uint64_t first, uint64_t nodes)
{
    load->in_place = !l->node[first].exited;
    for (uint64_t i = first; i < first + nodes; i++) {
        l->exits -= l->node[i].exited;
        l->node[i].exited = false;
        let_go(l, &l->node[i]);
        l->node[i].load = load;
        l->node[i].holds = true;
    }
}

/* The life, or a negative n_error. */
static int32_t claim(struct lives *l, uint32_t from, const struct file_request *r, const char *name)
{
    int32_t wrong = l->refuses_claims ? -N_EINTR : check_nodes(l, from, r->sfid, r->offset);
    struct load *load = wrong ? NULL : new_load(l, r->offset, name, r->name_bytes);

    if (!load)
        return wrong ? wrong : -N_ENOMEM;
    load->file = hostfs_open_program(l->options.files, load->name);
    load->is_separate = r->bytes == 1 || lives_is_separate(l, from - l->options.base);
    uint32_t first = r->bytes == 1 ? (uint32_t)r->sfid : l->node[from - l->options.base].first;
    take_nodes(l, load, r->sfid, r->offset);
    for (uint64_t i = r->sfid; i < r->sfid + r->offset; i++)
        l->node[i].first = first;
    return load->life;
}

int32_t lives_claim(struct lives *l, uint32_t first, uint32_t nodes, const char *name, int fd)
{
    int32_t wrong = l->refuses_claims ? -N_EINTR : check_nodes(l, LIVES_ANY, first, nodes);
    struct load *load = wrong ? NULL : new_load(l, nodes, name, strlen(name));

    if (!load) {
        if (fd >= 0)
            close(fd);
        return wrong ? wrong : -N_ENOMEM;
    }
    load->fd = fd;
    take_nodes(l, load, first, nodes);
    return load->life;
}

bool lives_has_begun(const struct lives *l, uint32_t life, int32_t *error)
{
    const struct load *load = find_load(l, life);

    *error = load ? load->error : -N_EINVAL;
    return !load || load->starting == 0;
}

/* ---- Requests ------------------------------------------------------------------------------------- */

static const char *await_begun(struct lives *l, uint32_t from, uint32_t tag, const struct file_request *r)
{
    const struct load *load = find_load(l, r->sfid);

    if (load && load->starting > 0)
        return hold(l, from, tag, r);
    answer(l, from, tag, r->seq, load ? load->error : -N_EINVAL);
    return NULL;
}

static const char *await_end(struct lives *l, uint32_t from, uint32_t tag, const struct file_request *r)
{
    if (r->sfid < l->options.nodes && !l->node[r->sfid].exited)
        return hold(l, from, tag, r);
    answer(l, from, tag, r->seq, r->sfid < l->options.nodes ? l->node[r->sfid].status : -N_EINVAL);
    return NULL;
}

const char *lives_request(struct lives *l, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct file_request r;

    if (n < sizeof r)
        return "it is too short";
    memcpy(&r, bytes, sizeof r);
    if (n != sizeof r + r.name_bytes) {
        answer(l, from, tag, r.seq, -N_EPROTO);
        return NULL;
    }
    switch (TAG_TYPE(tag)) {
    case N_RBEGUN:
        return await_begun(l, from, tag, &r);
    case N_RWAIT:
        return await_end(l, from, tag, &r);
    default:
        answer(l, from, tag, r.seq, claim(l, from, &r, (const char *)bytes + sizeof r));
        return NULL;
    }
}

/* ---- Reports of nodes ----------------------------------------------------------------------------- */

static void count_started(struct lives *l, struct load *load, int32_t error)
{
    load->error = load->error ? load->error : error;
    if (--load->starting == 0)
        answer_all(l, N_RBEGUN, load->life, load->error);
}

const char *lives_receive_started(struct lives *l, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job_exit e;

    if (n < sizeof e)
        return "it is too short";
    memcpy(&e, bytes, sizeof e);
    uint32_t logical = from - l->options.base;
    struct load *load = l->node[logical].load;
    if (e.job != l->options.job || e.node != logical - l->node[logical].first)
        return "it names another node";
    if (!load || load->life != (uint32_t)e.status || load->starting == 0 || l->node[logical].exited)
        return "nothing was to start there";
    count_started(l, load, 0);
    return NULL;
}

bool lives_fail(struct lives *l, uint32_t logical, int32_t status)
{
    struct load *load = l->node[logical].load;

    if (!load || load->in_place || load->starting == 0)
        return false;
    count_started(l, load, status);
    return true;
}

void lives_end(struct lives *l, uint32_t logical, int32_t status)
{
    l->node[logical].status = status;
    let_go(l, &l->node[logical]);
    answer_all(l, N_RWAIT, logical, status);
}
