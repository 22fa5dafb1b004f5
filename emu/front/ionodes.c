/*
 * The states of I/O nodes and drives, and the lines about their failures.
 */
#include "emu/front/ionodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/hostfs/console.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

enum drive_state { DRIVE_WAITING, DRIVE_MISSING, DRIVE_MOUNTED, DRIVE_FAILED };

enum io_state { IO_SERVING, IO_STOPPING, IO_DOWN };

struct io_node {
    enum io_state state;
    enum drive_state drive[DRIVE_MAX];
    bool counted[DRIVE_MAX]; /* cache[] means something */
    struct drive_cache_counts cache[DRIVE_MAX];
    uint32_t counts_va[DRIVE_MAX]; /* where its nsdisk counts them; 0: nowhere */
};

void io_nodes_init(struct io_nodes *s, const struct topo *topo, struct streams *streams, const struct job_ops *ops,
                   void *ctx)
{
    *s = (struct io_nodes){.topo = topo, .streams = streams, .ops = ops, .ctx = ctx};
    s->node = memory_new(topo->n_io, sizeof *s->node);
}

void io_nodes_free(struct io_nodes *s)
{
    free(s->node);
    s->node = NULL;
}

int io_nodes_find(const struct io_nodes *s, uint32_t node)
{
    for (uint32_t i = 0; i < s->topo->n_io; i++)
        if (s->topo->io[i].node == node)
            return (int)i;
    return -1;
}

/* ---- Mounting --------------------------------------------------------------------------------- */

static uint32_t count_drives(const struct io_nodes *s, uint32_t i, enum drive_state state)
{
    uint32_t n = 0;

    for (uint32_t d = 0; d < s->topo->io[i].ndrives; d++)
        n += s->node[i].drive[d] == state;
    return n;
}

uint32_t io_nodes_mounting(const struct io_nodes *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->topo->n_io; i++)
        n += count_drives(s, i, DRIVE_WAITING);
    return n;
}

/* True for a failure that has nothing to do with the image, which the user could repair. */
static bool drive_is_dead(int32_t status)
{
    return status == -N_ENODEV;
}

const char *io_nodes_receive_mounted(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct file_reply reply;
    char why[CONSOLE_LINE_BYTES];
    int i = io_nodes_find(s, from);

    if (n < sizeof reply)
        return "it is too short";
    memcpy(&reply, bytes, sizeof reply);
    if (i < 0 || reply.seq >= s->topo->io[i].ndrives)
        return "there is no such drive";
    if (s->node[i].drive[reply.seq] > DRIVE_MISSING)
        return "that drive has already reported";
    if (reply.status > 0 && s->topo->io[i].drive[reply.seq].cache.kb == 0)
        return "that drive has no data cache";

    s->node[i].drive[reply.seq] = reply.status < 0 ? DRIVE_FAILED : DRIVE_MOUNTED;
    if (reply.status >= 0) {
        s->node[i].counts_va[reply.seq] = (uint32_t)reply.status;
        return NULL;
    }
    console_explain((const char *)bytes + sizeof reply, n - sizeof reply, reply.status, why);
    console_say(s->streams, "volume %s %s: %s", s->topo->io[i].drive[reply.seq].volume,
                drive_is_dead(reply.status) ? "is missing" : "can't be mounted", why);
    s->failed = s->failed || !drive_is_dead(reply.status);
    return NULL;
}

void io_nodes_miss(struct io_nodes *s, uint32_t node)
{
    int i = io_nodes_find(s, node);
    char name[NODE_NAME_BYTES];

    node_name(node, name);
    for (uint32_t d = 0; d < s->topo->io[i].ndrives; d++) {
        if (s->node[i].drive[d] != DRIVE_WAITING)
            continue;
        s->node[i].drive[d] = DRIVE_MISSING;
        console_say(s->streams, "volume %s is missing: %s does not answer", s->topo->io[i].drive[d].volume, name);
    }
}

/* ---- Ends ------------------------------------------------------------------------------------- */

static void explain_exit(const uint8_t *bytes, size_t n, char *why)
{
    struct exit_fault f;
    struct job_exit e;

    memcpy(&e, bytes, sizeof e);
    size_t skip = sizeof e;
    if (e.how == EXIT_FAULT && n >= skip + sizeof f) {
        memcpy(&f, bytes + skip, sizeof f);
        skip += sizeof f + (size_t)f.returns * sizeof(struct exit_return);
    }
    if (n > skip)
        console_explain((const char *)bytes + skip, n - skip, 0, why);
    else
        snprintf(why, CONSOLE_LINE_BYTES, "status %d", e.status);
}

static void fail_waiting_drives(struct io_node *node)
{
    for (uint32_t d = 0; d < DRIVE_MAX; d++)
        if (node->drive[d] <= DRIVE_MISSING)
            node->drive[d] = DRIVE_FAILED;
}

const char *io_nodes_receive_exit(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n)
{
    char name[NODE_NAME_BYTES], why[CONSOLE_LINE_BYTES];
    struct io_node *node = &s->node[io_nodes_find(s, from)];

    if (n < sizeof(struct job_exit))
        return "it is too short";
    if (node->state == IO_DOWN)
        return "that node has already ended";
    node->state = IO_DOWN;
    s->failed = true;
    fail_waiting_drives(node);
    explain_exit(bytes, n, why);
    console_say(s->streams, "nsdisk on %s has ended: %s", node_name(from, name), why);
    return NULL;
}

bool io_nodes_lose(struct io_nodes *s, uint32_t node)
{
    int i = io_nodes_find(s, node);
    struct io_node *io = &s->node[i];
    char name[NODE_NAME_BYTES];

    if (io->state == IO_DOWN)
        return false;
    io->state = IO_DOWN;
    if (count_drives(s, i, DRIVE_MOUNTED) == 0)
        return true;
    console_say(s->streams, "%s was not shut down: no path to it works", node_name(node, name));
    s->failed = true;
    return true;
}

void io_nodes_shut_down(struct io_nodes *s)
{
    for (uint32_t i = 0; i < s->topo->n_io; i++) {
        bool has_volumes = count_drives(s, i, DRIVE_MOUNTED) + count_drives(s, i, DRIVE_MISSING) > 0;

        if (s->node[i].state != IO_SERVING || !has_volumes)
            continue;
        s->node[i].state = IO_STOPPING;
        s->ops->send(s->ctx, s->topo->io[i].node, TAG(N_SHUTDOWN, 0, 0), NULL, 0);
    }
}

bool io_nodes_is_stopping(const struct io_nodes *s, uint32_t index)
{
    return s->node[index].state == IO_STOPPING;
}

uint32_t io_nodes_stopping(const struct io_nodes *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->topo->n_io; i++)
        n += io_nodes_is_stopping(s, i);
    return n;
}

static bool reports_are_good(const struct io_nodes *s, int i, const uint8_t *bytes, size_t n)
{
    struct drive_cache_counts r;

    for (; n >= sizeof r; bytes += sizeof r, n -= sizeof r) {
        memcpy(&r, bytes, sizeof r);
        if (r.drive >= s->topo->io[i].ndrives || s->topo->io[i].drive[r.drive].cache.kb == 0)
            return false;
    }
    return n == 0;
}

static void take_reports(struct io_node *node, const uint8_t *bytes, size_t n)
{
    struct drive_cache_counts r;

    for (; n >= sizeof r; bytes += sizeof r, n -= sizeof r) {
        memcpy(&r, bytes, sizeof r);
        node->counted[r.drive] = true;
        node->cache[r.drive] = r;
    }
}

const struct drive_cache_counts *io_nodes_cache_counts(const struct io_nodes *s, uint32_t index, uint32_t drive)
{
    return s->node[index].counted[drive] ? &s->node[index].cache[drive] : NULL;
}

uint32_t io_nodes_counts_va(const struct io_nodes *s, uint32_t index, uint32_t drive)
{
    return s->node[index].state == IO_DOWN ? 0 : s->node[index].counts_va[drive];
}

const char *io_nodes_receive_shutdown(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct file_reply reply;
    char name[NODE_NAME_BYTES], why[CONSOLE_LINE_BYTES];
    int i = io_nodes_find(s, from);

    if (n < sizeof reply)
        return "it is too short";
    if (i < 0 || s->node[i].state != IO_STOPPING)
        return "no shutdown was requested";
    memcpy(&reply, bytes, sizeof reply);
    if (reply.status == 0 && !reports_are_good(s, i, bytes + sizeof reply, n - sizeof reply))
        return "its counts of data caches are not of the drives that have one";

    s->node[i].state = IO_DOWN;
    if (reply.status == 0)
        take_reports(&s->node[i], bytes + sizeof reply, n - sizeof reply);
    if (reply.status < 0) {
        console_explain((const char *)bytes + sizeof reply, n - sizeof reply, reply.status, why);
        console_say(s->streams, "%s did not shut down cleanly: %s", node_name(from, name), why);
        s->failed = true;
    }
    return NULL;
}

/* ---- The deadlock report ------------------------------------------------------------------------ */

/* The first drive that has not reported, and how many drives there are. */
static const char *find_waiting(const struct io_nodes *s, uint32_t *drives)
{
    const char *first = "none";

    *drives = 0;
    for (uint32_t i = s->topo->n_io; i-- > 0;)
        for (uint32_t d = s->topo->io[i].ndrives; d-- > 0; ++*drives)
            if (s->node[i].drive[d] == DRIVE_WAITING)
                first = s->topo->io[i].drive[d].volume;
    return first;
}

void io_nodes_describe_mounts(const struct io_nodes *s, char *text, size_t bytes)
{
    uint32_t drives;
    const char *first = find_waiting(s, &drives);

    snprintf(text, bytes, "the front end waits for %u of %u volume%s to be mounted, first %s", io_nodes_mounting(s),
             drives, plural(drives), first);
}

void io_nodes_describe_shutdowns(const struct io_nodes *s, char *text, size_t bytes)
{
    char name[NODE_NAME_BYTES] = "none";

    for (uint32_t i = s->topo->n_io; i-- > 0;)
        if (s->node[i].state == IO_STOPPING)
            node_name(s->topo->io[i].node, name);
    snprintf(text, bytes, "the front end waits for %u nsdisk to shut down, first on %s", io_nodes_stopping(s), name);
}
