#include "emu/front/lives.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

struct load { /* of one claim; kept as long as the job: faults name the program */
    struct load *next;
    uint32_t life;
    bool in_place;          /* of who loaded it: nobody is there to be told how it went */
    uint32_t starting;      /* nodes that have not said how it went */
    int32_t error;          /* the first one's that it did not start on */
    uint32_t holders;       /* nodes on which it runs: the program's file is open for them, to say where it faults */
    struct host_file *file; /* NULL: closed, or never open */
    struct job_part program;
    char name[];
};

struct wait { /* a request to be answered later */
    struct wait *next;
    uint32_t from, tag, seq;
    uint64_t what; /* N_RBEGUN: the life; N_RWAIT: the node */
};

struct node {
    struct load *load; /* NULL: life 0 */
    bool holds;        /* it runs there, or is to */
    int32_t status;    /* of its last program that has ended */
};

struct lives {
    struct load *load; /* newest first */
    struct wait *wait; /* oldest first */
    uint32_t last;     /* life that was given */
    uint32_t nodes;
    struct node node[];
};

/* ---- Life ----------------------------------------------------------------------------------------- */

struct lives *lives_new(uint32_t nodes)
{
    struct lives *l = calloc(1, sizeof *l + nodes * sizeof *l->node);

    if (l)
        l->nodes = nodes;
    return l;
}

static void close_file(struct load *load, struct hostfs *serve)
{
    if (load->file)
        hostfs_close_program(serve, load->file);
    load->file = NULL;
    load->program.fd = -1;
}

/* What ran on the node does not any more. */
static void let_go(struct node *node, struct hostfs *serve)
{
    if (node->holds && --node->load->holders == 0)
        close_file(node->load, serve);
    node->holds = false;
}

void lives_free(struct lives *l, struct hostfs *serve)
{
    if (!l)
        return;
    while (l->load) {
        struct load *load = l->load;

        l->load = load->next;
        close_file(load, serve);
        free(load);
    }
    while (l->wait) {
        struct wait *wait = l->wait;

        l->wait = wait->next;
        free(wait);
    }
    free(l);
}

uint32_t lives_of(const struct lives *l, uint32_t logical)
{
    return l->node[logical].load ? l->node[logical].load->life : 0;
}

const struct job_part *lives_program(const struct lives *l, uint32_t logical, const char **path)
{
    const struct load *load = l->node[logical].load;

    if (!load)
        return NULL;
    *path = load->name;
    return &load->program;
}

static struct load *find_load(const struct lives *l, uint64_t life)
{
    struct load *load = l->load;

    while (load && load->life != life)
        load = load->next;
    return load;
}

/* ---- Answers -------------------------------------------------------------------------------------- */

static void answer(struct job *j, uint32_t from, uint32_t tag, uint32_t seq, int32_t status)
{
    const struct file_reply reply = {.seq = seq, .status = status};

    j->ops->send(j->ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), &reply, sizeof reply);
}

static void answer_all(struct job *j, uint32_t type, uint64_t what, int32_t status)
{
    for (struct wait **at = &j->lives->wait; *at;) {
        struct wait *w = *at;

        if (TAG_TYPE(w->tag) != type || w->what != what) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        answer(j, w->from, w->tag, w->seq, status);
        free(w);
    }
}

static const char *hold(struct job *j, uint32_t from, uint32_t tag, const struct file_request *r)
{
    struct wait **end = &j->lives->wait, *w = malloc(sizeof *w);

    if (!w)
        return "there is no memory to hold it";
    *w = (struct wait){.from = from, .tag = tag, .seq = r->seq, .what = r->sfid};
    while (*end)
        end = &(*end)->next;
    *end = w;
    return NULL;
}

void lives_drop_client(struct job *j, uint32_t node, uint32_t procid)
{
    for (struct wait **at = &j->lives->wait; *at;) {
        struct wait *w = *at;

        if (w->from != node || (procid != LIVES_ANY && TAG_FROM(w->tag) != procid)) {
            at = &w->next;
            continue;
        }
        *at = w->next;
        free(w);
    }
}

/* ---- Claims --------------------------------------------------------------------------------------- */

/* The nodes' programs have ended; a node alone may also be the one that asks. */
static int32_t check_nodes(const struct job *j, uint32_t from, uint64_t first, uint64_t nodes)
{
    if (first >= j->nodes || nodes == 0 || nodes > j->nodes - first)
        return -N_EINVAL;
    if (nodes == 1 && j->base + first == from)
        return 0;
    for (uint64_t i = first; i < first + nodes; i++)
        if (!j->exited[i])
            return -N_EBUSY;
    return 0;
}

static struct load *new_load(struct job *j, uint32_t nodes, const char *name, size_t name_bytes)
{
    struct lives *l = j->lives;
    struct load *load = calloc(1, sizeof *load + name_bytes + 1);

    if (!load)
        return NULL;
    memcpy(load->name, name, name_bytes);
    load->starting = nodes;
    load->life = ++l->last;
    load->file = hostfs_open_program(j->files, load->name);
    load->program.fd = load->file ? load->file->fd : -1;
    load->holders = nodes;
    load->next = l->load;
    l->load = load;
    return load;
}

/* The nodes count as running from now on. The life, or why not. */
static int32_t claim(struct job *j, uint32_t from, const struct file_request *r, const char *name)
{
    int32_t wrong = j->killed ? -N_EINTR : check_nodes(j, from, r->sfid, r->offset);
    struct load *load = wrong ? NULL : new_load(j, r->offset, name, r->name_bytes);

    if (!load)
        return wrong ? wrong : -N_ENOMEM;
    load->in_place = !j->exited[r->sfid];
    job_revive(j, r->sfid, r->offset);
    for (uint64_t i = r->sfid; i < r->sfid + r->offset; i++) {
        let_go(&j->lives->node[i], j->files);
        j->lives->node[i].load = load;
        j->lives->node[i].holds = true;
    }
    return load->life;
}

/* ---- Requests ------------------------------------------------------------------------------------- */

static const char *await_begun(struct job *j, uint32_t from, uint32_t tag, const struct file_request *r)
{
    const struct load *load = find_load(j->lives, r->sfid);

    if (load && load->starting > 0)
        return hold(j, from, tag, r);
    answer(j, from, tag, r->seq, load ? load->error : -N_EINVAL);
    return NULL;
}

static const char *await_end(struct job *j, uint32_t from, uint32_t tag, const struct file_request *r)
{
    if (r->sfid < j->nodes && !j->exited[r->sfid])
        return hold(j, from, tag, r);
    answer(j, from, tag, r->seq, r->sfid < j->nodes ? j->lives->node[r->sfid].status : -N_EINVAL);
    return NULL;
}

const char *lives_request(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct file_request r;

    if (n < sizeof r)
        return "it is too short";
    memcpy(&r, bytes, sizeof r);
    if (n != sizeof r + r.name_bytes) {
        answer(j, from, tag, r.seq, -N_EPROTO);
        return NULL;
    }
    switch (TAG_TYPE(tag)) {
    case N_RBEGUN:
        return await_begun(j, from, tag, &r);
    case N_RWAIT:
        return await_end(j, from, tag, &r);
    default:
        answer(j, from, tag, r.seq, claim(j, from, &r, (const char *)bytes + sizeof r));
        return NULL;
    }
}

/* ---- What nodes say ------------------------------------------------------------------------------- */

static void count_started(struct job *j, struct load *load, int32_t error)
{
    load->error = load->error ? load->error : error;
    if (--load->starting == 0)
        answer_all(j, N_RBEGUN, load->life, load->error);
}

const char *lives_receive_started(struct job *j, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job_exit e;

    if (n < sizeof e)
        return "it is too short";
    memcpy(&e, bytes, sizeof e);
    if (e.job != j->id || e.node != from - j->base)
        return "it speaks for another node";
    struct load *load = j->lives->node[e.node].load;
    if (!load || load->life != (uint32_t)e.status || load->starting == 0 || j->exited[e.node])
        return "nothing was to start there";
    count_started(j, load, 0);
    return NULL;
}

bool lives_fail(struct job *j, uint32_t logical, int32_t status)
{
    struct load *load = j->lives->node[logical].load;

    if (!load || load->in_place || load->starting == 0)
        return false;
    count_started(j, load, status);
    return true;
}

void lives_end(struct job *j, uint32_t logical, int32_t status)
{
    j->lives->node[logical].status = status;
    let_go(&j->lives->node[logical], j->files);
    answer_all(j, N_RWAIT, logical, status);
}
