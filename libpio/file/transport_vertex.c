/*
 * libpio's transport on a node: POSIX calls for files, readstart and writestart for transfers, and nread to take the
 * acknowledgements, as "READ ACK FROM I/O NODES" of [P0 Figure 3] does.
 *
 * Taking a reply by nread ends its readstart or writestart (vertex/contract/abi.h), so readend and writeend are not
 * called.
 */
#include "libpio/file/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <nself.h>
#include <ntime.h>
#include <string.h>
#include <unistd.h>

#include "vertex/contract/proto.h"

_Static_assert(sizeof(struct file_reply) == PIO_ACK_HEADER_BYTES, "data follow the reply's header");

static ssize_t from_errno(ssize_t result)
{
    return result < 0 ? -errno : result;
}

static int node_open(const char *path, int flags, mode_t mode)
{
    return from_errno(open(path, flags, mode));
}

static int node_close(int fd)
{
    return from_errno(close(fd));
}

static int node_stat(const char *path, struct stat *st)
{
    return from_errno(stat(path, st));
}

static int node_fstat(int fd, struct stat *st)
{
    return from_errno(fstat(fd, st));
}

static int node_ftruncate(int fd, int64_t bytes)
{
    return from_errno(ftruncate(fd, bytes));
}

static int node_fsync(int fd)
{
    return from_errno(fsync(fd));
}

static int node_link(const char *from, const char *to)
{
    return from_errno(link(from, to));
}

static int node_unlink(const char *path)
{
    return from_errno(unlink(path));
}

static ssize_t node_read(int fd, void *buf, size_t n)
{
    return from_errno(read(fd, buf, n));
}

static ssize_t node_write(int fd, const void *buf, size_t n)
{
    return from_errno(write(fd, buf, n));
}

static int node_read_start(int fd, int64_t offset, int n)
{
    if (lseek(fd, offset, SEEK_SET) < 0)
        return -errno;
    return readstart(fd, n);
}

static int node_write_start(int fd, int64_t offset, const void *buf, int n)
{
    if (lseek(fd, offset, SEEK_SET) < 0)
        return -errno;
    return writestart(fd, buf, n);
}

/* Returns the reply's status, or an error if the status does not agree with the reply's length. */
static int status_of_reply(enum pio_op op, const struct file_reply *reply, int data_bytes)
{
    if (op == PIO_OP_READ && reply->status >= 0 && reply->status != data_bytes)
        return -EPROTO;
    return reply->status;
}

static int node_wait(enum pio_op op, void *comm, size_t comm_bytes, struct pio_ack *ack)
{
    int type = op == PIO_OP_READ ? N_REPLY(N_FREAD) : N_REPLY(N_FWRITE);
    struct file_reply reply;

    ack->node = N_ANY;
    int bytes = nread(comm, comm_bytes, &ack->node, &type, NULL);
    if (bytes < 0)
        return bytes;
    if ((size_t)bytes < sizeof reply)
        return -EPROTO;
    memcpy(&reply, comm, sizeof reply);
    ack->status = status_of_reply(op, &reply, bytes - sizeof reply);
    ack->data = (char *)comm + sizeof reply;
    return 0;
}

/* Virtual time and the logical node: two nodes differ, and so do two calls. */
static uint64_t node_number(void)
{
    int node;

    whoami(&node, NULL, NULL, NULL);
    return (uint64_t)(amicclk() * 1000.0) << 13 | (unsigned)node;
}

static const struct pio_transport node_transport = {
    .open = node_open,
    .close = node_close,
    .stat = node_stat,
    .fstat = node_fstat,
    .ftruncate = node_ftruncate,
    .fsync = node_fsync,
    .link = node_link,
    .unlink = node_unlink,
    .read = node_read,
    .write = node_write,
    .node = ionode,
    .read_start = node_read_start,
    .write_start = node_write_start,
    .wait = node_wait,
    .number = node_number,
};

const struct pio_transport *pio_transport = &node_transport;
