/*
 * Locks of files: fcntl's here, the others in flock.c. No server keeps any, so a lock is what it is for a program
 * that is alone with its files: the processes of one node are one owner, which gets every lock at once and excludes
 * nobody. In a program of several nodes, which would rely on it, a lock fails with ENOLCK.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "images/lib/devices/locks.h"
#include "images/lib/traps/self.h"

int lock_grant(void)
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
        return (flags & O_ACCMODE) == O_WRONLY ? -EBADF : lock_grant();
    case F_WRLCK:
        return (flags & O_ACCMODE) == O_RDONLY ? -EBADF : lock_grant();
    case F_UNLCK:
        return lock_grant();
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
