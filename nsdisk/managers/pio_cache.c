/*
 * pio_cache: the program of a cache manager (manager.h): takes requests of the job's programs, one after the other, and
 * is ended with the job (ncc -Nserves), or by SIGTERM.
 *
 *   pio_cache [KB]     of blocks in memory; 4096 unless it says otherwise
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "nsdisk/managers/manager.h"
#include "nsdisk/managers/peers.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

#define KB_DEFAULT 4096u
#define KB_LEAST   256u
#define KB_MOST    (1u << 20)

struct loop { /* the services' name for what they are called by */
    void *state;
    struct merge *merge;
    struct view_room views;
    struct arrival_area area;
    struct job_queue jobs; /* in order */
};

/* What ncube reads of this program (emu/state/told.h). */
static struct {
    struct abi_call call;
    struct manager_counts counts;
} told __attribute__((aligned(2 * ABI_CALL_BYTES))) = {.call.counts = sizeof told.counts};
_Static_assert(sizeof told == 2 * ABI_CALL_BYTES, "it lies in one page");

/* ---- What the services need (nsdisk/serve/family.h, serve.h) ---- */

struct server *family_server(const struct loop *l)
{
    return (struct server *)l;
}

struct view_room *server_views(struct server *s)
{
    return &((struct loop *)s)->views;
}

struct merge *serve_merge(struct server *s, uint32_t drive)
{
    (void)drive;
    return ((struct loop *)s)->merge;
}

int server_volume_error(const struct server *s, uint32_t drive)
{
    (void)s;
    return drive == 0 ? 0 : -N_ENODEV;
}

void family_reply(struct loop *l, int from, int type, const void *reply, size_t n)
{
    struct file_reply head;

    (void)l;
    (void)type;
    memcpy(&head, reply, sizeof head);
    const long slot = (long)CLF_TYPE_REPLY + CLF_SEQ_SLOT(head.seq);
    if (trap_cwrite(reply, (long)n, from, slot, CONTEXT_GROUP) == -N_ENOMEM) {
        head.status = -N_ENOMEM;
        trap_cwrite(&head, sizeof head, from, slot, CONTEXT_GROUP);
    }
}

void family_refuse(struct loop *l, const struct arrival *a, int error)
{
    const struct file_reply reply = {family_sequence(a), error};

    family_reply(l, a->from, a->type, &reply, sizeof reply);
}

int family_run(struct loop *l, uint32_t drive, struct family_work *w, int from, int type)
{
    (void)drive;
    (void)from;
    (void)type;
    STAILQ_INSERT_TAIL(&l->jobs, &w->job, next);
    return 0;
}

static void run_all(struct loop *l)
{
    struct job *j;

    while ((j = STAILQ_FIRST(&l->jobs))) {
        struct family_work *w = (struct family_work *)j; /* its first member */

        STAILQ_REMOVE_HEAD(&l->jobs, next);
        w->run(w, cached_volume(), &l->area);
    }
}

/* ---- Requests ---- */

/* A message that is no request is nobody's. */
static void take(struct loop *l, uint8_t *message, size_t n, int from)
{
    struct clf_asked head;

    if (n < sizeof head)
        return;
    peers_note_request();
    memcpy(&head, message, sizeof head);
    if (head.type == 0) /* the client only wants to know whether it arrives */
        return;
    const struct arrival a = {from, (int)head.type, message + sizeof head, n - sizeof head};
    while (!clf_family.take(l->state, &a)) { /* there is room when what it has begun is done */
        if (STAILQ_EMPTY(&l->jobs)) {
            family_refuse(l, &a, -N_ENOMEM);
            break;
        }
        run_all(l);
    }
    run_all(l);
}

static void serve(struct loop *l, uint8_t *message, size_t room)
{
    for (;;) { /* nothing else comes in this context */
        int from = -1, type = -1;
        const long n = trap_read_context(message, (long)room, &from, &type, CONTEXT_GROUP);

        if (n >= 0 && type == CLF_TYPE_REQUEST)
            take(l, message, (size_t)n, from);
        else if (n >= 0 && type == PEER_TYPE)
            peers_take(message, (size_t)n, from);
        cached_count();
    }
}

/* ---- Beginning ---- */

/* Nothing is lost with it: what is here is clean. */
static void end(int signal)
{
    (void)signal;
    _exit(0);
}

static _Noreturn void fail(const char *text)
{
    fprintf(stderr, "pio_cache: %s\n", text);
    exit(1);
}

static uint32_t read_kb(int argc, char **argv)
{
    char *end;
    const unsigned long kb = argc > 1 ? strtoul(argv[1], &end, 10) : KB_DEFAULT;

    if (argc > 2 || (argc == 2 && (*end || kb < KB_LEAST || kb > KB_MOST))) {
        fprintf(stderr, "pio_cache: '%s'; usage: pio_cache [KB], %u to %u\n", argv[argc - 1], KB_LEAST, KB_MOST);
        exit(2);
    }
    return (uint32_t)kb;
}

int main(int argc, char **argv)
{
    static struct loop l = {.views = {0, VIEW_TOTAL_BYTES}};
    const uint32_t kb = read_kb(argc, argv);
    const size_t room = sizeof(struct clf_asked) + sizeof(struct clf_request) + MANAGER_IO_BYTES + CLF_ATTACH_MOST;
    uint8_t *message = malloc(room);

    signal(SIGTERM, end);
    if (clf_machine()->n == 0)
        fail("the machine file has no `metadata`");
    STAILQ_INIT(&l.jobs);
    l.area.size = arrival_area_bytes(MANAGER_IO_BYTES);
    l.area.bytes = malloc(l.area.size);
    l.merge = merge_new();
    l.state = clf_family.begin(&l);
    if (!message || !l.area.bytes || !l.merge || !l.state || cached_begin(kb, &told.counts) < 0)
        fail("not enough memory");
    trap_tell(&told.call);
    serve(&l, message, room);
}
