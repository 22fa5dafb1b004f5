/*
 * The NCUs' drives: a controller executes commands one at a time, in order of arrival [P0 section 3]; and the
 * statistics of drives.
 *
 * A `concurrent` controller executes those of each drive in order of arrival, and all drives work at the same time.
 * They share its bus, which a drive holds only while bytes pass: for a write when the drive begins with it, for a read
 * when the last byte has come from the medium, after which the bytes wait in the drive until the bus is free. One drive
 * alone takes the same times on either controller.
 *
 *   write  |bus|...seek, rotation, medium...|                  read  |...seek, rotation, medium...|bus|
 *          service                          done                     service                          done
 */
#include <errno.h>
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
    trace_write(node->ncu->trace, &(struct trace_record){.kind = TRACE_QUEUE,
                                                         .node = node->address,
                                                         .cycles = now_cycles,
                                                         .since = now_cycles,
                                                         .drive = drive,
                                                         .bytes = d->queued});
}

static struct command_line *line_of(struct ncu_node *node, uint32_t drive)
{
    return &node->line[node->concurrent ? drive : 0];
}

static void queue_add(struct disk_command *c)
{
    STAILQ_INSERT_TAIL(&line_of(c->node, c->drive)->commands, c, queued);
    queue_change(c->node, c->drive, 1);
}

/* Removes the first command, which has been executed. */
static void queue_remove(struct disk_command *c)
{
    STAILQ_REMOVE_HEAD(&line_of(c->node, c->drive)->commands, queued);
    queue_change(c->node, c->drive, -1);
    c->node->drive[c->drive].statistics.busy_cycles += c->node->ncu->now_cycles - c->service_cycles;
    trace_write(c->node->ncu->trace, &(struct trace_record){.kind = TRACE_DRIVE,
                                                            .node = c->node->address,
                                                            .cycles = c->node->ncu->now_cycles,
                                                            .since = c->service_cycles,
                                                            .drive = c->drive,
                                                            .write = c->write,
                                                            .sector = c->sector,
                                                            .bytes = c->sectors});
}

struct ncu_drive_statistics ncu_drive_statistics(const struct ncu *n, uint32_t index, uint32_t drive,
                                                 uint64_t now_cycles)
{
    struct ncu_node *node = &n->node[index];
    const struct drive *d = &node->drive[drive];
    struct ncu_drive_statistics s = d->statistics;

    s.commands = disk_statistics(d->disk);
    s.queue_cycles += d->queued * (now_cycles - d->queue_since);
    const struct disk_command *c = STAILQ_FIRST(&line_of(node, drive)->commands); /* the one that is being executed */
    if (c && c->drive == drive && now_cycles > c->service_cycles)
        s.busy_cycles += now_cycles - c->service_cycles;
    return s;
}

uint32_t ncu_drive_queue(const struct ncu *n, uint32_t index, uint32_t drive)
{
    return n->node[index].drive[drive].queued;
}

/* ---- Commands ---- */

static void command_end(struct disk_command *c)
{
    struct ncu_node *node = c->node;

    trace_write(node->ncu->trace, &(struct trace_record){.kind = TRACE_DISK_DONE,
                                                         .node = node->address,
                                                         .cycles = node->ncu->now_cycles,
                                                         .status = c->done.status});
    c->done.done_cycles = node->ncu->now_cycles;
    ncu_cause(node, &c->done);
    free(c);
}

static bool drive_is_dead(const struct disk_command *c)
{
    const struct ncu *n = c->node->ncu;

    return fault_drive_is_dead(n->fault, n->faults, c->node->address, c->drive, n->now_cycles);
}

/* Moves the sectors. The user is told the host's reason for a failure once: the nodes only learn that the drive
 * fails. */
static int transfer(struct disk_command *c)
{
    struct ncu_node *node = c->node;
    struct drive *d = &node->drive[c->drive];
    size_t bytes = (size_t)c->sectors * SECTOR_BYTES;
    uint8_t *lent = ncu_memory_lend(node, c->addr, bytes, c->write);
    int status = disk_transfer(d->disk, c->write, c->sector, c->sectors, lent);
    const int reason = errno;

    ncu_memory_take_back(node, c->addr, bytes, lent, !c->write);
    if (status == NCU_EMEDIA && !d->fails) {
        const struct topo_io_node *io = topo_io_node(node->ncu->topo, node->address);

        d->fails = true;
        node->ncu->ops->image_fails(node->ncu->ctx, io->drive[c->drive].volume, reason);
    }
    return status;
}

static void command_execute(struct disk_command *c)
{
    c->done.status = drive_is_dead(c) ? NCU_EMEDIA : transfer(c);
    command_end(c);
}

static void command_due(void *arg, uint64_t now_cycles)
{
    struct disk_command *c = arg;

    c->node->ncu->now_cycles = now_cycles;
    queue_remove(c);
    command_execute(c);
}

static int command_check(const struct ncu_node *node, uint64_t drive, uint64_t sector, uint64_t sectors, uint64_t addr)
{
    if (drive >= node->drives || sector > disk_sectors(node->drive[drive].disk) ||
        sectors > disk_sectors(node->drive[drive].disk) - sector || sectors == 0 || sectors > UINT32_MAX)
        return NCU_EDRIVE;
    return ncu_memory_has(node->ncu, addr, sectors * SECTOR_BYTES) ? NCU_OK : NCU_EADDR;
}

static void event_at(struct disk_command *c, uint64_t at_cycles, event_fn fn)
{
    eventq_add(c->node->ncu->events, at_cycles, NODE_ORDER + 1 + c->node->index, fn, c);
}

static uint64_t later(uint64_t a_cycles, uint64_t b_cycles)
{
    return a_cycles > b_cycles ? a_cycles : b_cycles;
}

/* Starts a command of a controller that serves all drives in order of arrival, so its time is known at once. */
static void start_in_order(struct disk_command *c)
{
    struct command_line *line = line_of(c->node, c->drive);

    c->service_cycles = later(line->free_cycles, c->node->ncu->now_cycles);
    line->free_cycles = disk_service(c->node->drive[c->drive].disk, c->service_cycles, c->write, c->sector, c->sectors);
    queue_add(c);
    event_at(c, line->free_cycles, command_due);
}

/* ---- Drives that work at the same time ---- */

static void serve_first(struct ncu_node *node, uint32_t drive);

static void concurrent_due(void *arg, uint64_t now_cycles)
{
    struct disk_command *c = arg;
    struct ncu_node *node = c->node;
    uint32_t drive = c->drive;

    node->ncu->now_cycles = now_cycles;
    queue_remove(c);
    serve_first(node, drive);
    command_execute(c);
}

/* Takes the bus for a command from at_cycles on, or as soon as it is free. Returns when the command has it. */
static uint64_t take_bus(struct disk_command *c, uint64_t at_cycles)
{
    struct ncu_node *node = c->node;
    uint64_t from_cycles = later(at_cycles, node->bus_free_cycles);

    node->bus_free_cycles = from_cycles + disk_bus_cycles(node->drive[c->drive].disk, c->sectors);
    return from_cycles;
}

/* Called when all bytes of a read have reached the drive. */
static void bytes_read(void *arg, uint64_t now_cycles)
{
    struct disk_command *c = arg;

    take_bus(c, now_cycles);
    event_at(c, c->node->bus_free_cycles, concurrent_due);
}

/* Begins with the first command in a drive's line. */
static void serve_first(struct ncu_node *node, uint32_t drive)
{
    struct disk_command *c = STAILQ_FIRST(&line_of(node, drive)->commands);
    struct disk *d = node->drive[drive].disk;

    if (!c)
        return;
    c->service_cycles = node->ncu->now_cycles;
    uint64_t from_cycles = c->write ? take_bus(c, c->service_cycles) : c->service_cycles;
    uint64_t end_cycles = disk_service(d, from_cycles, c->write, c->sector, c->sectors);
    if (c->write)
        event_at(c, end_cycles, concurrent_due);
    else
        event_at(c, end_cycles - disk_bus_cycles(d, c->sectors), bytes_read);
}

static void start_concurrent(struct disk_command *c)
{
    queue_add(c);
    if (STAILQ_FIRST(&line_of(c->node, c->drive)->commands) == c)
        serve_first(c->node, c->drive);
}

static void command_start(struct disk_command *c)
{
    if (c->node->concurrent)
        start_concurrent(c);
    else
        start_in_order(c);
}

void ncu_disk(struct ncu_node *node, const uint64_t *arg)
{
    struct ncu *n = node->ncu;
    struct disk_command *c = memory_new(1, sizeof *c);

    *c = (struct disk_command){.node = node,
                               .drive = (uint32_t)arg[0],
                               .write = (arg[1] & 1) != 0,
                               .sector = arg[2],
                               .sectors = (uint32_t)arg[3],
                               .addr = arg[4],
                               .done = {.kind = arg[1] & NCU_DISK_STARTED ? CAUSE_STARTED_DONE : CAUSE_DISK_DONE,
                                        .cookie = arg[5],
                                        .start_cycles = n->now_cycles}};
    trace_write(n->trace, &(struct trace_record){.kind = TRACE_DISK,
                                                 .node = node->address,
                                                 .cycles = n->now_cycles,
                                                 .drive = arg[0],
                                                 .write = c->write,
                                                 .sector = arg[2],
                                                 .bytes = arg[3]});
    c->done.status = command_check(node, arg[0], arg[2], arg[3], arg[4]);
    if (c->done.status == NCU_OK)
        command_start(c);
    else
        command_end(c);
}
