/* flock and lockf: locks of files by descriptor. What a lock is, is in locks.c. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "images/lib/devices/locks.h"
#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"

int flock(int fd, int operation)
{
    int what = operation & ~LOCK_NB;
    int result = !ndevice_slot(fd)                                       ? -EBADF
                 : what == LOCK_SH || what == LOCK_EX || what == LOCK_UN ? lock_grant()
                                                                         : -EINVAL;

    return (int)result_to_errno(failure_of_fd("flock", fd, result));
}

int lockf(int fd, int command, off_t bytes)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    bool locks = command == F_LOCK || command == F_TLOCK;
    int result = !slot                                               ? -EBADF
                 : !locks && command != F_ULOCK && command != F_TEST ? -EINVAL
                 : locks && (slot->flags & O_ACCMODE) == O_RDONLY    ? -EBADF
                                                                     : lock_grant();

    (void)bytes;
    return (int)result_to_errno(failure_of_fd("lockf", fd, result));
}
