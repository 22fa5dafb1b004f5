/* The traps for drives, and the ends of commands (drive_traps.h). */
#include "vertex/file/drive_traps.h"

#include <stdbool.h>
#include <stddef.h>

#include "vertex/base/attr.h"
#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/delivery.h"
#include "vertex/message/stated.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

#define NO_PLACE (~0u)

static struct { /* disk_io's command */
    uint64_t cookie;
    bool busy;
    int32_t status;
} single;

struct command { /* started by disk_start; its index in command[] is its number and its cookie */
    enum { FREE, UNDER_WAY, DONE } state;
    uint32_t next; /* in the queue of those that are done */
    uint32_t drive;
    int32_t status;         /* NCU_... */
    struct message *bounce; /* the buffer that the drive uses; NULL: the program's own memory */
    uint64_t to, bytes;     /* of a read into `bounce`: where in the program to copy the sectors */
};

static struct command command[DISK_COMMANDS_MAX];
static uint32_t first_done = NO_PLACE, last_done;

static uint64_t ended;

uint64_t disk_commands_ended(void)
{
    return ended;
}

bool disk_has_done(void)
{
    return first_done != NO_PLACE;
}

static void queue_done(uint32_t place)
{
    command[place].next = NO_PLACE;
    if (disk_has_done())
        command[last_done].next = place;
    else
        first_done = place;
    last_done = place;
}

void disk_done(const struct ncu_cause *cause)
{
    if (!single.busy || cause->cookie != single.cookie)
        panic("disk: command %lu is done, %lu was given", cause->cookie, single.cookie);
    ended++;
    stated_wait(cause->done_cycles);
    single.busy = false;
    single.status = cause->status;
}

RARE void disk_started_done(const struct ncu_cause *cause)
{
    struct proc *p = proc_current();
    uint64_t place = cause->cookie;

    if (place >= DISK_COMMANDS_MAX || command[place].state != UNDER_WAY)
        panic("disk: command %lu is done, which was not given", place);
    ended++;
    stated_wait(cause->done_cycles);
    command[place].state = DONE;
    command[place].status = cause->status;
    queue_done(place);
    if (p)
        delivery_interrupt(p, -N_EAGAIN);
}

static int error_of_status(int32_t status)
{
    if (status == NCU_OK)
        return 0;
    return status == NCU_EDRIVE ? -N_ENODEV : -N_EIO;
}

/* ---- One command from start to end ---- */

/* A request is one command, so that the drive takes the time of one access. Nothing interrupts the wait: N_KILL is
 * never sent to I/O nodes. */
static int run_command(uint32_t drive, bool write, uint64_t sector, uint64_t sectors, void *buffer)
{
    single.cookie++;
    single.busy = true;
    stated_command(proc_current(), 0, write);
    ncu_disk(drive, write, sector, sectors, buffer, single.cookie);
    while (single.busy)
        sched_wait(NCU_WAIT_DISK, drive, NCU_WAIT_ANY);
    return error_of_status(single.status);
}

/* A buffer in one piece, where the program's pages are not. Where there is no memory, the one that is kept for answers
 * is used. */
static INLINE int new_bounce(struct proc *p, bool write, uint64_t user, uint64_t bytes, struct message **m)
{
    int error = vm_check(&p->vm, user, bytes, write ? PTE_R : PTE_W);

    if (error)
        return error;
    event_reap(); /* replies that have left may hold the memory for the buffer */
    return proc_new_message(p, bytes, true, m);
}

static int run_bounced(struct proc *p, uint32_t drive, bool write, uint64_t sector, uint64_t sectors, uint64_t user)
{
    uint64_t bytes = sectors * SECTOR_BYTES;
    struct message *buffer;
    int error = new_bounce(p, write, user, bytes, &buffer);

    if (error)
        return error;
    if (write)
        error = vm_copy_in(&p->vm, buffer->payload, user, bytes);
    if (!error)
        error = run_command(drive, write, sector, sectors, buffer->payload);
    if (!error && !write)
        error = vm_copy_out(&p->vm, user, buffer->payload, bytes);
    message_release(buffer);
    return error;
}

static INLINE int check(const struct proc *p, uint64_t drive, uint64_t sector, uint64_t sectors)
{
    if (!p->builtin)
        return -N_EPERM;
    if (drive >= MAILBOX->drives)
        return -N_ENODEV;
    if (sectors == 0 || sectors > DISK_IO_MAX_SECTORS || sector > MAILBOX->drive_sectors[drive] ||
        sectors > MAILBOX->drive_sectors[drive] - sector)
        return -N_EINVAL;
    return 0;
}

int64_t sys_disk_io(struct proc *p, const uint64_t *arg)
{
    uint64_t drive = arg[0], sector = arg[2], user = arg[3], sectors = arg[4];
    bool write = arg[1] != 0;
    int error = check(p, drive, sector, sectors);

    if (error)
        return error;
    void *direct = vm_contiguous(&p->vm, user, sectors * SECTOR_BYTES, write ? PTE_R : PTE_W);
    error = direct ? run_command(drive, write, sector, sectors, direct)
                   : run_bounced(p, drive, write, sector, sectors, user);
    return error ? error : (int64_t)p->inbox.count;
}

/* ---- Several commands ---- */

static uint32_t free_place(void)
{
    uint32_t place = 0;

    while (place < DISK_COMMANDS_MAX && command[place].state != FREE)
        place++;
    return place;
}

int64_t sys_disk_start(struct proc *p, const uint64_t *arg)
{
    uint64_t drive = arg[0], sector = arg[2], user = arg[3], bytes = arg[4] * SECTOR_BYTES;
    bool write = arg[1] != 0;
    uint32_t place = free_place();
    int error = check(p, drive, sector, arg[4]);

    if (error)
        return error;
    if (place == DISK_COMMANDS_MAX)
        return -N_EAGAIN;
    void *buffer = vm_contiguous(&p->vm, user, bytes, write ? PTE_R : PTE_W);
    struct message *bounce = NULL;
    if (!buffer) {
        error = new_bounce(p, write, user, bytes, &bounce);
        if (error)
            return error;
        buffer = bounce->payload;
        if (write) /* new_bounce has checked the program's pages */
            vm_copy_in(&p->vm, buffer, user, bytes);
    }
    command[place] =
        (struct command){.state = UNDER_WAY, .drive = drive, .bounce = bounce, .to = user, .bytes = write ? 0 : bytes};
    stated_command(p, (uint32_t)arg[5], write);
    ncu_disk(drive, write | NCU_DISK_STARTED, sector, arg[4], buffer, place);
    return place;
}

/* Returns the drive of a command under way, or NO_PLACE if no command is. */
static uint32_t drive_under_way(void)
{
    for (uint32_t i = 0; i < DISK_COMMANDS_MAX; i++)
        if (command[i].state == UNDER_WAY)
            return command[i].drive;
    return NO_PLACE;
}

static int finish(struct proc *p, struct command *c)
{
    int error = error_of_status(c->status);

    if (c->bounce) {
        if (!error)
            error = vm_copy_out(&p->vm, c->to, c->bounce->payload, c->bytes);
        message_release(c->bounce);
    }
    c->state = FREE;
    return error;
}

int64_t sys_disk_end(struct proc *p, const uint64_t *arg)
{
    uint32_t drive;

    if (!p->builtin)
        return -N_EPERM;
    int error = vm_check(&p->vm, arg[0], sizeof(struct abi_disk_done), PTE_W);
    if (error)
        return error;
    while (!disk_has_done()) {
        if (!arg[1])
            return -N_EAGAIN;
        if ((drive = drive_under_way()) == NO_PLACE)
            return -N_EINVAL;
        sched_wait(NCU_WAIT_DISK, drive, NCU_WAIT_ANY);
    }
    struct abi_disk_done done = {.number = first_done};
    struct command *c = &command[first_done];
    first_done = c->next;
    done.status = finish(p, c);
    return vm_copy_out(&p->vm, arg[0], &done, sizeof done);
}

void disk_drop_all(void)
{
    uint32_t drive;

    while ((drive = drive_under_way()) != NO_PLACE)
        sched_wait(NCU_WAIT_DISK, drive, NCU_WAIT_ANY);
    for (uint32_t i = 0; i < DISK_COMMANDS_MAX; i++) {
        if (command[i].state == DONE && command[i].bounce)
            message_release(command[i].bounce);
        command[i].state = FREE;
    }
    first_done = NO_PLACE;
}

int64_t sys_disk_info(struct proc *p, const uint64_t *arg)
{
    uint64_t drive = arg[0];

    if (!p->builtin)
        return -N_EPERM;
    if (drive >= MAILBOX->drives)
        return -N_ENODEV;
    struct abi_drive info = {.sectors = MAILBOX->drive_sectors[drive],
                             .ram_bytes = MAILBOX->ram_bytes,
                             .boot_number = MAILBOX->boot_number,
                             .concurrent = MAILBOX->concurrent,
                             .cache = MAILBOX->drive_cache[drive]};
    copy_bytes(info.volume, MAILBOX->drive_volume[drive], sizeof info.volume);
    return vm_copy_out(&p->vm, arg[1], &info, sizeof info);
}
