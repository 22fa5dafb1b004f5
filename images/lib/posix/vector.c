/*
 * <sys/uio.h>.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "images/lib/traps/result.h"

#define ONE_REQUEST_BYTES 8192 /* FILE_IO_BYTES of vertex/file/file.h */

/* Returns the sum of the lengths, or -1 with errno. */
static ssize_t sum(const struct iovec *iov, int count)
{
    size_t all = 0;

    if (count <= 0 || count > IOV_MAX) /* before the loop: the sum may read only a vector of valid length */
        return result_to_errno(-EINVAL);
    for (int i = 0; i < count; i++)
        if (iov[i].iov_len > (size_t)LONG_MAX - all)
            return result_to_errno(-EINVAL);
        else
            all += iov[i].iov_len;
    return (ssize_t)all;
}

/* Stops at the first transfer that comes short. After the first buffer, leaves an error to the next call. */
static ssize_t one_by_one(int fd, const struct iovec *iov, int count, int writes)
{
    ssize_t done = 0;

    for (int i = 0; i < count; i++) {
        ssize_t n = writes ? write(fd, iov[i].iov_base, iov[i].iov_len) : read(fd, iov[i].iov_base, iov[i].iov_len);

        if (n < 0)
            return done ? done : -1;
        done += n;
        if ((size_t)n < iov[i].iov_len)
            break;
    }
    return done;
}

ssize_t readv(int fd, const struct iovec *iov, int count)
{
    return sum(iov, count) < 0 ? -1 : one_by_one(fd, iov, count, 0);
}

ssize_t writev(int fd, const struct iovec *iov, int count)
{
    ssize_t all = sum(iov, count);
    size_t at = 0;

    if (all < 0)
        return -1;
    if (all > ONE_REQUEST_BYTES)
        return one_by_one(fd, iov, count, 1);
    char together[all + 1];
    for (int i = 0; i < count; at += iov[i++].iov_len)
        memcpy(together + at, iov[i].iov_base, iov[i].iov_len);
    return write(fd, together, (size_t)all);
}
