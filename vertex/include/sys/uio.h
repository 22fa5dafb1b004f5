/*
 * Transfers to and from several buffers.
 */
#ifndef _SYS_UIO_H
#define _SYS_UIO_H

#include <sys/types.h>

#define IOV_MAX 1024

struct iovec {
    void *iov_base;
    size_t iov_len;
};

/* As read and write, with the buffers taken one after the other. A writev of at most 8 KB in all is one request, so no
 * other writer's data comes between. EINVAL: count is not 1 to IOV_MAX, or the lengths add up to more than a ssize_t
 * holds. */
ssize_t readv(int fd, const struct iovec *iov, int count);
ssize_t writev(int fd, const struct iovec *iov, int count);

#endif
