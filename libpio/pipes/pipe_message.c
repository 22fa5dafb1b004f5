/*
 * Messages between the ends of a pipe [P1 2.2, 2.4]: getmsg, putmsg and the requests of endpoints on a descriptor of a
 * pipe. The first use decides: an end is for messages or for bytes (pipe.h).
 *
 * A message lies behind a struct pipe_message. One that getmsg does not look for waits in the end's list, in the order
 * of arrival. A node that ends its use of the pipe says so to all nodes of the other end (PIPE_GONE).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysn.h>

#include "libpio/pipes/pipe.h"
#include "vertex/contract/traps.h"

#define MOST_BYTES (16 << 20)

/* Only programs that call getmsg or putmsg have it (images/lib/devices/dev_message.c). */
extern const struct ndevice message_device __attribute__((weak));

struct pipe_kept {
    struct pipe_kept *next;
    int pe;
    long bytes;
    struct pipe_message message;
    char data[];
};

/* The way's endpoint is the first part of the end's. */
static struct pipe_end *end_of(struct endpoint *e)
{
    return ((struct pipe_endpoint *)e)->end;
}

/* ---- Receiving ---- */

static void keep(struct pipe_end *e, struct pipe_kept *k)
{
    struct pipe_kept **last = &e->kept;

    while (*last)
        last = &(*last)->next;
    *last = k;
}

/* Takes the next message of the kernel's into the list. `waits`: until there is one. 0; -EAGAIN; another error. */
static int take_next(struct pipe_end *e, bool waits)
{
    int from = -1, type = PIPE_TYPE(e->number, PIPE_MESSAGE);
    long bytes = trap_test_context(&from, &type, CONTEXT_PIPE);

    if (bytes == -EAGAIN && !waits)
        return -EAGAIN;
    if (bytes == -EAGAIN)
        bytes = 0; /* its length is known when it has come */
    if (bytes < 0)
        return (int)bytes;
    for (;;) {
        struct pipe_kept *k = malloc(sizeof *k + (size_t)bytes);

        from = -1;
        long n =
            k ? trap_read_context(&k->message, (long)sizeof k->message + bytes, &from, &type, CONTEXT_PIPE) : -ENOMEM;
        if (n >= (long)sizeof k->message) {
            k->next = NULL;
            k->pe = from - (int)e->other.first;
            k->bytes = n - (long)sizeof k->message;
            if (k->message.type == PIPE_GONE)
                e->gone++;
            if (k->message.type < 0)
                free(k);
            else
                keep(e, k);
            return 0;
        }
        free(k);
        if (n != -EMSGSIZE)
            return n < 0 ? (int)n : -EPROTO;
        from = -1;
        bytes = trap_test_context(&from, &type, CONTEXT_PIPE);
    }
}

static bool fits(const struct pipe_kept *k, int pe, int type)
{
    return (pe == N_ANY || pe == k->pe) && (type == N_ANY || type == k->message.type);
}

/* The link to the oldest message that fits. NULL, with *error: -EAGAIN: there is none, and it was not to wait; -EPIPE:
 * none, and nobody is left who could send one. */
static struct pipe_kept **find(struct pipe_end *e, int pe, int type, bool waits, int *error)
{
    *error = pipe_know(e, true);
    if (*error)
        return NULL;
    for (struct pipe_kept **link = &e->kept;;) {
        for (; *link; link = &(*link)->next)
            if (fits(*link, pe, type))
                return link;
        if (e->gone >= (int32_t)e->other.nodes) {
            *error = -EPIPE;
            return NULL;
        }
        *error = take_next(e, waits);
        if (*error)
            return NULL;
    }
}

static long way_test(struct endpoint *endpoint, int *pe, int *type)
{
    int error;
    struct pipe_kept **link = find(end_of(endpoint), *pe, *type, false, &error);

    if (!link)
        return error;
    *pe = (*link)->pe;
    *type = (*link)->message.type;
    return (*link)->bytes;
}

static long way_take(struct endpoint *endpoint, void *buf, long n, int *pe, int *type)
{
    int error;
    struct pipe_kept **link = find(end_of(endpoint), *pe, *type, true, &error), *k = link ? *link : NULL;

    if (!k)
        return error;
    if (k->bytes > n)
        return -EMSGSIZE;
    *pe = k->pe;
    *type = k->message.type;
    memcpy(buf, k->data, (size_t)k->bytes);
    *link = k->next;
    long bytes = k->bytes;
    free(k);
    return bytes;
}

/* ---- Sending ---- */

static int send_to_all(struct pipe_end *e, const void *bytes, size_t n)
{
    int error = 0;

    for (int32_t pe = 0; pe < (int32_t)e->other.nodes && !error; pe++)
        error = pipe_send(e, pe, PIPE_MESSAGE, bytes, n);
    return error;
}

static long way_put(struct endpoint *endpoint, const void *buf, long n, int dest, int type)
{
    struct pipe_end *e = end_of(endpoint);
    int error = pipe_know(e, true);

    while (!error && take_next(e, false) == 0) /* it may be that nobody is left */
        ;
    if (!error && e->gone >= (int32_t)e->other.nodes)
        error = -EPIPE;
    struct pipe_kept *k = error || n > MOST_BYTES ? NULL : malloc(sizeof *k + (size_t)n);
    if (!k)
        return error ? error : n > MOST_BYTES ? -EINVAL : -ENOMEM;
    k->message.type = type;
    memcpy(k->data, buf, (size_t)n);
    size_t bytes = sizeof k->message + (size_t)n;
    error =
        dest == N_DEST_ALL ? send_to_all(e, &k->message, bytes) : pipe_send(e, dest, PIPE_MESSAGE, &k->message, bytes);
    free(k);
    return error;
}

static void way_learn(struct endpoint *endpoint)
{
    struct pipe_end *e = end_of(endpoint);
    struct ninfo *info = &endpoint->info;

    pipe_know(e, true);
    *info = (struct ninfo){.pid = e->own, .pes = (int)e->other.nodes, .host = trap_self()->host};
    while (1 << info->dim < info->pes)
        info->dim++;
    endpoint->procs = 1;
}

static const struct endpoint_way way = {.put = way_put, .take = way_take, .test = way_test, .learn = way_learn};

/* ---- Calls on the descriptor ---- */

/* The endpoint, for messages; NULL: the end carries bytes. */
static struct endpoint *endpoint_for(struct pipe_end *e)
{
    if (!e->messages.end)
        e->messages = (struct pipe_endpoint){.endpoint = {.way = &way, .own_first = -1}, .end = e};
    return e->map ? NULL : &e->messages.endpoint;
}

int pipe_putmsg(void *end, const struct strbuf *ctl, const struct strbuf *data, int flags)
{
    struct endpoint *e = endpoint_for(end);

    return e ? message_device.putmsg(e, ctl, data, flags) : -EPROTO;
}

int pipe_getmsg(void *end, struct strbuf *ctl, struct strbuf *data, int *flags)
{
    struct endpoint *e = endpoint_for(end);

    return e ? message_device.getmsg(e, ctl, data, flags) : -EPROTO;
}

ssize_t pipe_write_message(struct pipe_end *e, const void *buf, size_t n)
{
    return message_device.write(endpoint_for(e), buf, n);
}

ssize_t pipe_read_message(struct pipe_end *e, void *buf, size_t n)
{
    return message_device.read(endpoint_for(e), buf, n);
}

int pipe_message_ioctl(struct pipe_end *e, int request, void *arg)
{
    struct endpoint *endpoint = endpoint_for(e);

    if (!&message_device || (request != N_INFO && request != N_TEST && request != N_CONNECT && request != N_OWN))
        return -ENOTTY;
    return endpoint ? message_device.ioctl(endpoint, request, arg) : -EPROTO;
}

int pipe_state(struct pipe_end *e)
{
    if (pipe_know(e, false) != 0)
        return N_UNBOUND;
    if (!e->map)
        while (take_next(e, false) == 0)
            ;
    if (e->gone >= (int32_t)e->other.nodes || pipe_is_over(e))
        return N_CLOSED;
    return e->map ? N_MAPPED : e->messages.endpoint.state == N_MESSAGE ? N_MESSAGE : N_BOUND;
}

void pipe_tell_gone(struct pipe_end *e)
{
    send_to_all(e, &(struct pipe_message){PIPE_GONE}, sizeof(struct pipe_message));
    while (e->kept) {
        struct pipe_kept *next = e->kept->next;

        free(e->kept);
        e->kept = next;
    }
}
