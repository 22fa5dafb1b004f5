#include "vertex/file/drive_traps.h"

#include <stdbool.h>
#include <stddef.h>

#include "vertex/base/ncu_calls.h"
#include "vertex/base/panic.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/message/msg.h"
#include "vertex/process/dispatch.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

static struct {
    uint64_t cookie; /* of the last command */
    bool busy;
    int32_t status;
} command;

void disk_done(const struct ncu_cause *cause)
{
    if (!command.busy || cause->cookie != command.cookie)
        panic("disk: command %lu is done, %lu was given", cause->cookie, command.cookie);
    command.busy = false;
    command.status = cause->status;
}

static int error_of_status(int32_t status)
{
    if (status == NCU_OK)
        return 0;
    return status == NCU_EDRIVE ? -N_ENODEV : -N_EIO;
}

/* A request is one command, so that the drive's time is that of one access. A command that was given runs to its
 * end: N_KILL does not come to I/O nodes. */
static int run_command(uint32_t drive, bool write, uint64_t sector, uint64_t sectors, void *buffer)
{
    command.cookie++;
    command.busy = true;
    ncu_disk(drive, write, sector, sectors, buffer, command.cookie);
    while (command.busy)
        sched_wait(NCU_WAIT_DISK, drive, NCU_WAIT_ANY);
    return error_of_status(command.status);
}

/* A buffer in one piece. Where there is no memory, the one that is kept for answers is used between them. */
static int new_bounce(struct proc *p, uint64_t bytes, struct message **m)
{
    event_reap(); /* replies that have left may hold the memory for the buffer */
    return proc_new_message(p, bytes, true, m);
}

/* By way of a buffer in one piece, where the program's pages are not. */
static int run_bounced(struct proc *p, uint32_t drive, bool write, uint64_t sector, uint64_t sectors, uint64_t user)
{
    uint64_t bytes = sectors * SECTOR_BYTES;
    struct message *buffer;
    int error = vm_check(&p->vm, user, bytes, write ? PTE_R : PTE_W);

    if (!error)
        error = new_bounce(p, bytes, &buffer);
    if (error)
        return error;
    if (write)
        error = vm_copy_in(&p->vm, buffer->payload, user, bytes);
    if (!error)
        error = run_command(drive, write, sector, sectors, buffer->payload);
    if (!error && !write)
        error = vm_copy_out(&p->vm, user, buffer->payload, bytes);
    msg_release(buffer);
    return error;
}

int64_t sys_disk_io(struct proc *p, const uint64_t *arg)
{
    uint64_t drive = arg[0], sector = arg[2], user = arg[3], sectors = arg[4];
    bool write = arg[1] != 0;

    if (!p->builtin)
        return -N_EPERM;
    if (drive >= MAILBOX->drives)
        return -N_ENODEV;
    if (sectors == 0 || sectors > DISK_IO_MAX_SECTORS || sector > MAILBOX->drive_sectors[drive] ||
        sectors > MAILBOX->drive_sectors[drive] - sector)
        return -N_EINVAL;
    void *direct = vm_contiguous(&p->vm, user, sectors * SECTOR_BYTES, write ? PTE_R : PTE_W);
    return direct ? run_command(drive, write, sector, sectors, direct)
                  : run_bounced(p, drive, write, sector, sectors, user);
}

int64_t sys_disk_info(struct proc *p, const uint64_t *arg)
{
    uint64_t drive = arg[0];

    if (!p->builtin)
        return -N_EPERM;
    if (drive >= MAILBOX->drives)
        return -N_ENODEV;
    struct abi_drive info = {
        .sectors = MAILBOX->drive_sectors[drive], .ram_bytes = MAILBOX->ram_bytes, .boot_number = MAILBOX->boot_number};
    copy_bytes(info.volume, MAILBOX->drive_volume[drive], sizeof info.volume);
    return vm_copy_out(&p->vm, arg[1], &info, sizeof info);
}
