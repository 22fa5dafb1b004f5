/*
 * The NCUs' drives: a controller executes commands one at a time, in order of arrival [P0 section 3]; and the
 * statistics of drives.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/model/ncu_state.h"

/* ---- Queues ---- */

/* Changes the length of a drive's queue, and accounts for the time at its old length. */
static void queue_change(struct ncu_node *node, uint32_t drive, int32_t by)
{
    struct drive *d = &node->drive[drive];
    uint64_t now_cycles = node->ncu->now_cycles;

    d->statistics.queue_cycles += d->queued * (now_cycles - d->queue_since);
    d->queue_since = now_cycles;
    d->queued += (uint32_t)by;
    if (d->queued > d->statistics.queue_max)
        d->statistics.queue_max = d->queued;
}

static void queue_add(struct disk_command *c)
{
    STAILQ_INSERT_TAIL(&c->node->commands, c, queued);
    queue_change(c->node, c->drive, 1);
}

/* Removes the first command, which has been executed. */
static void queue_remove(struct disk_command *c)
{
    STAILQ_REMOVE_HEAD(&c->node->commands, queued);
    queue_change(c->node, c->drive, -1);
    c->node->drive[c->drive].statistics.busy_cycles += c->node->ncu->now_cycles - c->service_cycles;
}

struct ncu_drive_statistics ncu_drive_statistics(const struct ncu *n, uint32_t index, uint32_t drive,
                                                 uint64_t now_cycles)
{
    const struct ncu_node *node = &n->node[index];
    const struct drive *d = &node->drive[drive];
    struct ncu_drive_statistics s = d->statistics;

    s.commands = disk_statistics(d->disk);
    s.queue_cycles += d->queued * (now_cycles - d->queue_since);
    const struct disk_command *c = STAILQ_FIRST(&node->commands); /* the one that is being executed */
    if (c && c->drive == drive && now_cycles > c->service_cycles)
        s.busy_cycles += now_cycles - c->service_cycles;
    return s;
}

/* ---- Commands ---- */

static void command_end(struct disk_command *c)
{
    struct ncu_node *node = c->node;

    trace_event(node->ncu->trace, node->ncu->now_cycles, node->address, "disk-done status=%d", c->done.status);
    c->done.done_cycles = node->ncu->now_cycles;
    ncu_cause(node, &c->done);
    free(c);
}

static bool drive_is_dead(const struct disk_command *c)
{
    const struct ncu *n = c->node->ncu;

    return fault_drive_is_dead(n->fault, n->faults, c->node->address, c->drive, n->now_cycles);
}

static void command_due(void *arg, uint64_t now_cycles)
{
    struct disk_command *c = arg;
    struct ncu_node *node = c->node;

    node->ncu->now_cycles = now_cycles;
    queue_remove(c);
    if (drive_is_dead(c))
        c->done.status = NCU_EMEDIA;
    else
        c->done.status =
            disk_transfer(node->drive[c->drive].disk, c->write, c->sector, c->sectors, node->ram + c->addr);
    command_end(c);
}

static int command_check(const struct ncu_node *node, uint64_t drive, uint64_t sector, uint64_t sectors, uint64_t addr)
{
    if (drive >= node->drives || sector > disk_sectors(node->drive[drive].disk) ||
        sectors > disk_sectors(node->drive[drive].disk) - sector || sectors == 0 || sectors > UINT32_MAX)
        return NCU_EDRIVE;
    return ncu_memory_has(node->ncu, addr, sectors * SECTOR_BYTES) ? NCU_OK : NCU_EADDR;
}

static void command_start(struct disk_command *c)
{
    struct ncu_node *node = c->node;
    struct ncu *n = node->ncu;

    c->service_cycles = node->disks_free_cycles > n->now_cycles ? node->disks_free_cycles : n->now_cycles;
    node->disks_free_cycles =
        disk_service(node->drive[c->drive].disk, c->service_cycles, c->write, c->sector, c->sectors);
    queue_add(c);
    eventq_add(n->events, node->disks_free_cycles, NODE_ORDER + 1 + node->index, command_due, c);
}

void ncu_disk(struct ncu_node *node, const uint64_t *arg)
{
    struct ncu *n = node->ncu;
    struct disk_command *c = memory_new(1, sizeof *c);

    *c = (struct disk_command){.node = node,
                               .drive = (uint32_t)arg[0],
                               .write = arg[1] != 0,
                               .sector = arg[2],
                               .sectors = (uint32_t)arg[3],
                               .addr = arg[4],
                               .done = {.kind = CAUSE_DISK_DONE, .cookie = arg[5], .start_cycles = n->now_cycles}};
    trace_event(n->trace, n->now_cycles, node->address, "disk drive=%" PRIu64 " %s sector=%" PRIu64 " sectors=%" PRIu64,
                arg[0], arg[1] ? "write" : "read", arg[2], arg[3]);
    c->done.status = command_check(node, arg[0], arg[2], arg[3], arg[4]);
    if (c->done.status == NCU_OK)
        command_start(c);
    else
        command_end(c);
}
