/*
 * libpio's transport on a node: POSIX calls for files, preadstart and pwritestart for transfers, and nread to take the
 * acknowledgements, as "READ ACK FROM I/O NODES" of [P0 Figure 3] does.
 *
 * Taking a reply by nread ends its start (vertex/contract/abi.h), so readend and writeend are not
 * called.
 */
#include "libpio/file/transport.h"

#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <ntime.h>
#include <stdio.h>
#include <string.h>
#include <sysn.h>
#include <unistd.h>

#include "images/lib/traps/failure.h"
#include "images/lib/devices/ndevice_switch.h"
#include "libpio/file/file.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/traps.h"

_Static_assert(PIO_DESCRIPTION_MAX_BYTES < ASK_DATA_MAX_BYTES, "a description fits into a question");
_Static_assert(sizeof(struct file_reply) == PIO_ACK_HEADER_BYTES, "data follow the reply's header");

#define BY_POSIX(call, parameters, ...)                   \
    static int node_##call parameters                     \
    {                                                     \
        return (int)result_from_errno(call(__VA_ARGS__)); \
    }

BY_POSIX(open, (const char *path, int flags, mode_t mode), path, flags, mode)
BY_POSIX(close, (int fd), fd)
BY_POSIX(fstat, (int fd, struct stat *st), fd, st)
BY_POSIX(ftruncate, (int fd, int64_t bytes), fd, bytes)
BY_POSIX(fsync, (int fd), fd)
BY_POSIX(rename, (const char *from, const char *to), from, to)
BY_POSIX(mkdir, (const char *path, mode_t mode), path, mode)

static int node_rmdir(const char *path, mode_t none)
{
    (void)none;
    return (int)result_from_errno(rmdir(path));
}

static void node_tell_failure(const char *call, const char *path, int error)
{
    failure_note_path(call, path, error);
}

static int node_cut(int fd, int64_t bytes, int64_t from_bytes)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);

    if (!slot || slot->device != &ndevice_file)
        return -ENOTSUP;
    return (int)trap_ftruncate((long)slot->state, bytes, from_bytes - bytes);
}

/* ---- Questions ---- */

/* A program's own driver may have the path. */
static long start_open(const struct pio_question *q)
{
    char path[PIO_PATH_MAX_BYTES], described[PIO_PATH_MAX_BYTES];

    pio_path(path, q->volume, q->name, "");
    pio_path(described, q->volume, q->name, q->suffix);
    if (ndevice_of(path) != &ndevice_file)
        return -ENOTSUP;
    return trap_askstart(path, N_FOPENREAD, q->flags, described, (long)q->bytes);
}

/* A driver of the program's own, which cannot be asked, answers at once. */
static long start_view(const struct pio_question *q)
{
    const struct ndevice_slot *slot = ndevice_slot(q->fd);

    if (!slot || slot->device != &ndevice_file)
        return setview(q->fd, q->buffer, q->bytes);
    return trap_askstart(slot->state, N_FVIEW, 1, q->buffer, (long)q->bytes);
}

/* 0: it is answered. */
static long start_question(const struct pio_question *q)
{
    static const uint16_t type[] = {N_FSTATNAME, N_FREADNAME, N_FMAKE, N_FUNLINK, N_FACCESS};
    char path[PIO_PATH_MAX_BYTES];

    if (q->kind == PIO_ASK_OPEN)
        return start_open(q);
    if (q->kind == PIO_ASK_VIEW)
        return start_view(q);
    pio_path(path, q->volume, q->name, q->suffix);
    long mode = q->kind == PIO_ASK_WRITABLE ? W_OK : q->mode;
    return trap_askstart(path, type[q->kind], mode, q->buffer, (long)q->bytes);
}

/* Gives the UFID a descriptor, as open does. */
static int end_open(struct pio_question *q, long number)
{
    struct {
        struct abi_opened opened;
        char text[PIO_DESCRIPTION_MAX_BYTES];
    } answer;
    char path[PIO_PATH_MAX_BYTES];
    long bytes = trap_askend(number, &answer);

    if (bytes < 0)
        return (int)bytes;
    int fd = ndevice_open_state(&ndevice_file, (void *)(long)answer.opened.ufid, q->flags);
    if (fd < 0) {
        trap_close(answer.opened.ufid);
        return fd;
    }
    pio_path(path, q->volume, q->name, "");
    failure_name(fd, path);
    memcpy(q->buffer, answer.text, (size_t)bytes);
    q->fd = fd;
    q->node = (int)answer.opened.node;
    q->size_bytes = (int64_t)answer.opened.size_bytes;
    return (int)bytes;
}

static int end_question(struct pio_question *q, long number)
{
    struct file_stat stat;

    if (q->kind == PIO_ASK_OPEN)
        return end_open(q, number);
    if (q->kind != PIO_ASK_STAT)
        return (int)trap_askend(number, q->buffer);
    int result = (int)trap_askend(number, &stat);
    if (result >= 0) {
        q->size_bytes = (int64_t)stat.size_bytes;
        q->mode = stat.mode;
    }
    return result;
}

static void node_ask(struct pio_question *questions, int n)
{
    long number[PIO_QUESTIONS_MAX];

    for (int i = 0; i < n; i++)
        number[i] = start_question(&questions[i]);
    for (int i = 0; i < n; i++)
        questions[i].result = number[i] <= 0 ? (int)number[i] : end_question(&questions[i], number[i]);
}

/* ---- Transfers ---- */

static int node_read_start(int fd, int64_t offset, int n)
{
    return preadstart(fd, n, offset);
}

static int node_write_start(int fd, int64_t offset, const void *buf, int n)
{
    return pwritestart(fd, buf, n, offset);
}

static void node_work(bool begins)
{
    trap_work(begins);
}

/* Returns the reply's status, or an error if the status does not agree with the reply's length. */
static int status_of_reply(enum pio_op op, const struct file_reply *reply, int data_bytes)
{
    if (op == PIO_OP_READ && reply->status >= 0 && reply->status != data_bytes)
        return -EPROTO;
    return reply->status;
}

static int reply_type(enum pio_op op)
{
    return op == PIO_OP_READ ? N_REPLY(N_FREAD) : N_REPLY(N_FWRITE);
}

static int node_arrived(enum pio_op op)
{
    int node = N_ANY, type = reply_type(op);

    return trap_test_message(&node, &type) >= 0;
}

static int node_wait(enum pio_op op, void *comm, size_t comm_bytes, struct pio_ack *ack)
{
    int type = reply_type(op);
    struct file_reply reply;

    ack->node = N_ANY;
    int bytes = (int)trap_read_message(comm, comm_bytes, &ack->node, &type);
    if (bytes < 0)
        return bytes;
    if ((size_t)bytes < sizeof reply)
        return -EPROTO;
    memcpy(&reply, comm, sizeof reply);
    ack->status = status_of_reply(op, &reply, bytes - sizeof reply);
    ack->data = (char *)comm + sizeof reply;
    return 0;
}

static int node_chmod(const char *path, mode_t mode)
{
    const struct ndevice *d = ndevice_of(path);

    return d->setattr ? d->setattr(path, 0, &(struct nattr){.what = N_ATTR_MODE, .mode = mode}) : -ENOTSUP;
}

/* ---- Locks ---- */

#define PAUSE_CYCLES    (16000L * CYCLES_PER_US)
#define LOCK_MAX_CYCLES (60L * CLOCK_HZ)

/* A UFID without a descriptor. The server answers when the lock is free. One that has no place for who waits is asked
 * again. A server that makes no progress meanwhile, as the lock's owner is cut off, is given up by Vertex. */
static int node_lock(const char *volume, uint32_t key)
{
    char path[PIO_PATH_MAX_BYTES];
    long from = trap_cycles(), lock;

    pio_path(path, volume, "/", "");
    while ((lock = trap_open(path, N_O_LOCK, key)) == -EAGAIN && trap_cycles() - from < LOCK_MAX_CYCLES)
        trap_sleep((uint64_t)(trap_cycles() + PAUSE_CYCLES));
    if (lock == -ETIMEDOUT)
        trap_open(path, N_O_LOCK | N_O_EXCL, key);
    return lock == -EAGAIN ? -ETIMEDOUT : (int)lock;
}

static void node_unlock(int lock)
{
    trap_close(lock);
}

static const struct pio_transport node_transport = {
    .open = node_open,
    .close = node_close,
    .fstat = node_fstat,
    .ftruncate = node_ftruncate,
    .fsync = node_fsync,
    .tell_failure = node_tell_failure,
    .cut = node_cut,
    .ask = node_ask,
    .rename = node_rename,
    .mkdir = node_mkdir,
    .rmdir = node_rmdir,
    .chmod = node_chmod,
    .lock = node_lock,
    .unlock = node_unlock,
    .node = ionode,
    .read_start = node_read_start,
    .write_start = node_write_start,
    .wait = node_wait,
    .arrived = node_arrived,
    .work = node_work,
};

const struct pio_transport *pio_transport = &node_transport;
