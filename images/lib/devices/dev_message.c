/*
 * The message driver of nDEVICES [P1 sections 2.3, 2.4]: getmsg, putmsg and ioctl on endpoints.
 *
 * The first of them decides what an endpoint is for. read and write are not for messages: without a destination they
 * fail with EDESTADDRREQ, and with EPROTO once messages have been used [P1 footnote 4]. After N_CONNECT they are
 * messages to and from that address.
 */
#include <group.h>
#include <poll.h>
#include <stdint.h>
#include <sys/stat.h>

#include "images/lib/devices/endpoint.h"
#include "vertex/contract/errors.h"

/* ---- Addresses ---- */

/* A PE, or one of the own end's by N_OWN, and a procid. -N_EADDRNOTAVAIL: there is none. */
static int process_of(struct endpoint *e, const struct ncaddr *a, int *process)
{
    const struct ninfo *info = endpoint_info(e);
    int pid = a->pid, procid = a->procid < 0 ? 0 : a->procid;

    if (e->own_first >= 0 && pid >= e->own_first)
        pid -= e->own_first;
    if (pid < 0 || pid >= info->pes || procid >= e->procs)
        return -N_EADDRNOTAVAIL;
    *process = N_PROCESS(pid, procid);
    return 0;
}

static int check_state(struct endpoint *e)
{
    if (e->state == N_MAPPED)
        return -N_EPROTO;
    e->state = N_MESSAGE;
    return 0;
}

/* Sends to an address; pid -1: to all PEs. */
static long send_to(struct endpoint *e, const struct ncaddr *to, const void *buf, long n)
{
    int dest = N_DEST_ALL, error = to->pid == -1 ? 0 : process_of(e, to, &dest);

    if (!error && (to->type < 0 || n < 0))
        error = -N_EINVAL;
    if (!error)
        error = check_state(e);
    return error ? error : endpoint_put(e, buf, n, dest, to->type);
}

/* Receives by a template, which is replaced by the address. */
static long take_from(struct endpoint *e, struct ncaddr *from, void *buf, long n, bool *more)
{
    int src = N_ANY, type = from->type, error = from->pid == -1 ? 0 : process_of(e, from, &src);

    if (!error && type < -1)
        error = -N_EINVAL;
    if (!error)
        error = check_state(e);
    if (error)
        return error;
    long result = endpoint_take_part(e, buf, n, &src, &type, more);
    if (result >= 0 || result == -N_EIO)
        *from = (struct ncaddr){(short)N_NODE_OF(src), (short)N_PROCID_OF(src), (short)type};
    return result;
}

/* ---- getmsg and putmsg ---- */

static int message_putmsg(void *state, const struct strbuf *ctl, const struct strbuf *data, int flags)
{
    struct endpoint *e = state;
    const struct ncaddr *to = ctl && ctl->len >= 0 ? (const void *)ctl->buf : e->is_connected ? &e->to : NULL;
    bool has_data = data && data->len >= 0;

    if (flags != 0 || (to && to != &e->to && ctl->len != sizeof *to))
        return -N_EINVAL;
    if (!to)
        return -N_EDESTADDRREQ;
    struct ncaddr address = *to; /* ctl->buf may lie at any address */
    return (int)send_to(e, &address, has_data ? data->buf : "", has_data ? data->len : 0);
}

static int message_getmsg(void *state, struct strbuf *ctl, struct strbuf *data, int *flags)
{
    struct endpoint *e = state;
    bool has_ctl = ctl && ctl->maxlen > 0, has_data = data && data->maxlen >= 0, more;
    struct ncaddr from = {-1, -1, -1};

    if ((flags && *flags != 0) || (has_ctl && ctl->maxlen < (int)sizeof from))
        return -N_EINVAL;
    if (has_ctl)
        from = *(const struct ncaddr *)(const void *)ctl->buf;
    long result = take_from(e, &from, has_data ? data->buf : NULL, has_data ? data->maxlen : 0, &more);
    if (has_ctl && (result >= 0 || result == -N_EIO)) {
        *(struct ncaddr *)(void *)ctl->buf = from;
        ctl->len = sizeof from;
    }
    if (result < 0)
        return (int)result;
    if (ctl && !has_ctl)
        ctl->len = -1;
    if (data)
        data->len = has_data ? (int)result : -1;
    return more ? MOREDATA : 0;
}

/* ---- read and write ---- */

static int refuse_bytes(const struct endpoint *e)
{
    return e->state == N_MESSAGE ? -N_EPROTO : -N_EDESTADDRREQ;
}

static ssize_t message_write(void *state, const void *buf, size_t n)
{
    struct endpoint *e = state;

    if (!e->is_connected)
        return refuse_bytes(e);
    long result = send_to(e, &e->to, buf, (long)n);
    return result < 0 ? result : (ssize_t)n;
}

static ssize_t message_read(void *state, void *buf, size_t n)
{
    struct endpoint *e = state;
    struct ncaddr from = e->to;
    bool more;

    return e->is_connected ? take_from(e, &from, buf, (long)n, &more) : refuse_bytes(e);
}

/* ---- ioctl ---- */

static int connect_to(struct endpoint *e, const struct ncaddr *to)
{
    int process, error = !to || to->pid == -1 ? 0 : process_of(e, to, &process);

    if (!error && to && to->type < 0)
        error = -N_EINVAL;
    if (error)
        return error;
    e->is_connected = to != NULL;
    if (to)
        e->to = *to;
    return 0;
}

static int test_for(struct endpoint *e, struct ncaddr *a)
{
    int src = N_ANY, type = a->type, error = a->pid == -1 ? 0 : process_of(e, a, &src);

    if (error || type < -1)
        return error ? error : -N_EINVAL;
    long result = endpoint_test(e, &src, &type);
    if (result >= 0 || result == -N_EIO)
        *a = (struct ncaddr){(short)N_NODE_OF(src), (short)N_PROCID_OF(src), (short)type};
    return (int)result;
}

static int give_own(struct endpoint *e, const struct ninfo *info, long first)
{
    if (first < info->pes || first > INT16_MAX - info->pes + 1)
        return -N_EINVAL;
    e->own_first = (int)first;
    return 0;
}

static int message_ioctl(void *state, int request, void *arg)
{
    struct endpoint *e = state;
    const struct ninfo *info = endpoint_info(e);

    switch (request) {
    case N_PES:
        *(int *)arg = info->pes;
        return 0;
    case N_STATE:
        *(int *)arg = e->state;
        return 0;
    case N_INFO:
        *(struct ninfo *)arg = *info;
        return 0;
    case N_TEST:
        return test_for(e, arg);
    case N_CONNECT:
        return connect_to(e, arg);
    case N_OWN:
        return give_own(e, info, (long)arg);
    default:
        return -N_ENOTTY;
    }
}

/* ---- Other calls ---- */

static int message_fstat(void *state, struct stat *st)
{
    (void)state;
    *st = (struct stat){.st_mode = S_IFSOCK | 0600, .st_nlink = 1, .st_blksize = 8192};
    return 0;
}

/* The process behind a number of the endpoint's. */
static int process_at(const struct group *domain, int src)
{
    if (!domain || src == N_ANY)
        return src;
    return domain->process ? domain->process[src] : N_PROCESS(src, domain->procid);
}

static int message_poll(void *state, int events, struct nawaited *message)
{
    struct endpoint *e = state;
    struct ncaddr from = e->is_connected ? e->to : (struct ncaddr){-1, -1, -1};
    int src = N_ANY, type = from.type;

    if (e->is_connected && process_of(e, &from, &src) != 0)
        return POLLERR;
    *message = (struct nawaited){
        .context = e->domain ? e->domain->context : 0, .source = process_at(e->domain, src), .type = type};
    long result = endpoint_test(e, &src, &type);
    return (events & (POLLOUT | POLLWRNORM)) | (result == -N_EAGAIN ? 0 : POLLIN | POLLRDNORM);
}

static void message_forked(void *state)
{
    struct endpoint *e = state;

    e->info.pes = 0; /* its own numbers are learned anew */
}

static int message_close(void *state)
{
    struct endpoint *e = state;

    return e->way->close ? e->way->close(e) : 0;
}

const struct ndevice message_device = {
    .name = "message",
    .close = message_close,
    .read = message_read,
    .write = message_write,
    .getmsg = message_getmsg,
    .putmsg = message_putmsg,
    .ioctl = message_ioctl,
    .fstat = message_fstat,
    .poll = message_poll,
    .forked = message_forked,
};
