/*
 * Transfers from and to several buffers.
 */
#ifndef _SYS_UIO_H
#define _SYS_UIO_H

#include <sys/types.h>

#define IOV_MAX 1024

struct iovec {
    void *iov_base;
    size_t iov_len;
};

/* As read and write of all of them one after the other. writev of at most 8 KB altogether is one request, so that
 * nothing comes between. EINVAL: count is not 1 to IOV_MAX, or the lengths add up to more than a ssize_t. */
ssize_t readv(int fd, const struct iovec *iov, int count);
ssize_t writev(int fd, const struct iovec *iov, int count);

#endif
