/*
 * Locks of files: fcntl's, flock, lockf. No server keeps any, so a lock is what it is for a program that is alone with its
 * files: the processes of one node are one owner, which gets every lock at once and excludes nobody. In a program of
 * several nodes, which would rely on it, a lock fails with ENOLCK.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "images/lib/locks.h"
#include "images/lib/ndevice_switch.h"
#include "images/lib/result.h"
#include "images/lib/self.h"

static int grant(void)
{
    return trap_self()->nodes > 1 ? -ENOLCK : 0;
}

/* A lock to read needs a file that may be read, one to write a file that may be written. */
static int check_range(int flags, const struct flock *lock)
{
    if (lock->l_whence < SEEK_SET || lock->l_whence > SEEK_END)
        return -EINVAL;
    switch (lock->l_type) {
    case F_RDLCK:
        return (flags & O_ACCMODE) == O_WRONLY ? -EBADF : grant();
    case F_WRLCK:
        return (flags & O_ACCMODE) == O_RDONLY ? -EBADF : grant();
    case F_UNLCK:
        return grant();
    default:
        return -EINVAL;
    }
}

int lock_range(int flags, int command, struct flock *lock)
{
    int error = lock ? check_range(flags, lock) : -EFAULT;

    if (!error && command == F_GETLK)
        lock->l_type = F_UNLCK;
    return error;
}

int flock(int fd, int operation)
{
    int what = operation & ~LOCK_NB;
    int result = !ndevice_slot(fd) ? -EBADF : what == LOCK_SH || what == LOCK_EX || what == LOCK_UN ? grant() : -EINVAL;

    return (int)result_to_errno(failure_of_fd("flock", fd, result));
}

int lockf(int fd, int command, off_t bytes)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    bool locks = command == F_LOCK || command == F_TLOCK;
    int result = !slot                                               ? -EBADF
                 : !locks && command != F_ULOCK && command != F_TEST ? -EINVAL
                 : locks && (slot->flags & O_ACCMODE) == O_RDONLY    ? -EBADF
                                                                     : grant();

    (void)bytes;
    return (int)result_to_errno(failure_of_fd("lockf", fd, result));
}
