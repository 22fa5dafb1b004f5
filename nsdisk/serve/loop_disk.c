/*
 * Commands of the event loop's drives: struct blockdev for a volume, which starts a command and leaves the volume's
 * fiber until it is done (loop.h).
 */
#include "nsdisk/serve/loop_state.h"
#include "vertex/contract/errors.h"

/* Vertex has places for so many commands, and copies those whose buffer is not in one piece. */
static bool must_wait(const struct loop *l, long error)
{
    return (error == -N_EAGAIN || error == -N_ENOMEM) && l->under_way > 0;
}

/* Wakes the fibers that wait for it. */
static void end_command(struct volume *v, struct blockdev_command *c, int status)
{
    struct loop *l = v->loop;

    c->status = status;
    c->done = true;
    v->ended = v->sets_aside;
    l->ended = true;
    for (uint32_t i = 0; i < l->drives; i++)
        if (l->volume[i].leaving && !l->volume[i].turn && (!l->volume[i].awaits || l->volume[i].awaits == c))
            l->volume[i].go_on = true;
}

static void note_start(struct volume *v, long number, bool write, struct blockdev_command *c)
{
    struct loop *l = v->loop;

    l->command[number] = c;
    l->drive_of[number] = (uint8_t)v->drive;
    if (write)
        v->type &= ~DISK_CHANGES;
    if (++l->under_way > l->statistics.commands_most)
        l->statistics.commands_most = l->under_way;
}

/* Starts commands for which there was no place, as far as there is now. */
static void start_later(struct loop *l)
{
    struct later *s;

    while ((s = STAILQ_FIRST(&l->later))) {
        long number =
            l->node.disk_start(l->node.ctx, s->volume->drive, s->write, s->sector, s->buf, s->sectors, s->type);

        if (number < 0 && must_wait(l, number))
            return;
        STAILQ_REMOVE_HEAD(&l->later, next);
        STAILQ_INSERT_TAIL(&l->free_later, s, next);
        if (number >= 0) {
            note_start(s->volume, number, s->write, s->command);
        } else {
            end_command(s->volume, s->command, (int)number);
        }
    }
}

/* A volume that puts reads aside does not wait for a place. False: there is no room to note the command. */
static bool start_when_possible(struct volume *v, bool write, uint64_t sector, void *buf, uint32_t sectors,
                                struct blockdev_command *c)
{
    struct later *s = v->sets_aside ? STAILQ_FIRST(&v->loop->free_later) : NULL;

    if (!s)
        return false;
    STAILQ_REMOVE_HEAD(&v->loop->free_later, next);
    *s = (struct later){
        .volume = v, .command = c, .write = write, .sector = sector, .buf = buf, .sectors = sectors, .type = v->type};
    STAILQ_INSERT_TAIL(&v->loop->later, s, next);
    if (write)
        v->type &= ~DISK_CHANGES;
    return true;
}

bool loop_collect(struct loop *l, bool wait)
{
    struct abi_disk_done done;

    if (l->node.disk_end(l->node.ctx, &done, wait) < 0)
        return false;
    struct blockdev_command *c = l->command[done.number];
    l->command[done.number] = NULL;
    l->under_way--;
    end_command(&l->volume[l->drive_of[done.number]], c, done.status);
    if (!STAILQ_EMPTY(&l->later))
        start_later(l);
    return true;
}

void loop_leave(struct volume *v)
{
    v->go_on = false;
    v->leaving = true;
    fiber_leave(&v->fiber);
    v->leaving = false;
}

/* Waits until c is done; NULL: until any command is. Outside the fibers nothing else goes on meanwhile. */
static void await(struct volume *v, const struct blockdev_command *c)
{
    struct loop *l = v->loop;

    if (l->running != v) {
        do
            loop_collect(l, true);
        while (c && !c->done);
        return;
    }
    v->awaits = c;
    v->turn = false;
    loop_leave(v);
}

static void disk_start(void *ctx, bool write, uint64_t sector, void *buf, uint32_t sectors, struct blockdev_command *c)
{
    struct volume *v = ctx;
    struct loop *l = v->loop;
    long number;

    if (!STAILQ_EMPTY(&l->later) && start_when_possible(v, write, sector, buf, sectors, c))
        return;
    while ((number = l->node.disk_start(l->node.ctx, v->drive, write, sector, buf, sectors, v->type)) < 0) {
        if (!must_wait(l, number)) {
            *c = (struct blockdev_command){.done = true, .status = (int)number};
            return;
        }
        if (start_when_possible(v, write, sector, buf, sectors, c))
            return;
        await(v, NULL);
    }
    note_start(v, number, write, c);
}

static void disk_wait(void *ctx, struct blockdev_command *c)
{
    if (!c->done)
        await(ctx, c);
}

static int disk_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    struct blockdev_command c = {.done = false};

    disk_start(ctx, false, sector, buf, sectors, &c);
    disk_wait(ctx, &c);
    return c.status;
}

static int disk_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    struct blockdev_command c = {.done = false};

    disk_start(ctx, true, sector, (void *)buf, sectors, &c);
    disk_wait(ctx, &c);
    return c.status;
}

struct blockdev loop_disk(struct loop *l, uint32_t drive, uint64_t sectors)
{
    return (struct blockdev){.read = disk_read,
                             .write = disk_write,
                             .sectors = sectors,
                             .ctx = &l->volume[drive],
                             .start = disk_start,
                             .wait = disk_wait};
}
