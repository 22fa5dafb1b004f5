/*
 * Messages of endpoints (endpoint.h), and the rests of long ones.
 */
#include "images/lib/devices/endpoint.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

/* What getmsg has not taken of a message: the next message of its address. */
struct endpoint_rest {
    struct endpoint_rest *next;
    int src, type;
    long bytes;
    char data[];
};

bool endpoint_has_rests;

/* ---- Rests ---- */

static bool fits(const struct endpoint_rest *r, int src, int type)
{
    return (src == N_ANY || src == r->src) && (type == N_ANY || type == r->type);
}

/* The link to the oldest rest that fits, or to NULL. */
static struct endpoint_rest **find_rest(struct endpoint *e, int src, int type)
{
    struct endpoint_rest **link = &e->rests;

    while (*link && !fits(*link, src, type))
        link = &(*link)->next;
    return link;
}

static void note_rests(const struct endpoint *e)
{
    if (e->is_program)
        endpoint_has_rests = e->rests != NULL;
}

/* Takes the first n bytes of a rest, and drops it when none are left. */
static void cut_rest(struct endpoint *e, struct endpoint_rest **link, void *buf, long n)
{
    struct endpoint_rest *r = *link;

    memcpy(buf, r->data, (size_t)n);
    memmove(r->data, r->data + n, (size_t)(r->bytes - n));
    r->bytes -= n;
    if (r->bytes == 0) {
        *link = r->next;
        free(r);
    }
    note_rests(e);
}

static void tell(const struct endpoint_rest *r, int *src, int *type)
{
    *src = r->src;
    *type = r->type;
}

/* Receives a whole message that is longer than the room of getmsg, as a rest. */
static long make_rest(struct endpoint *e, int src, int type)
{
    long bytes = e->way->test(e, &src, &type); /* the one that did not fit */
    struct endpoint_rest *r = bytes < 0 ? NULL : malloc(sizeof *r + (size_t)bytes), **last = &e->rests;

    if (bytes < 0)
        return bytes;
    if (!r)
        return -N_ENOMEM;
    long result = e->way->take(e, r->data, bytes, &src, &type);
    if (result < 0) {
        free(r);
        return result;
    }
    r->next = NULL;
    r->src = src;
    r->type = type;
    r->bytes = bytes;
    while (*last)
        last = &(*last)->next;
    *last = r;
    note_rests(e);
    return 0;
}

/* ---- Messages ---- */

long endpoint_put(struct endpoint *e, const void *buf, long n, int dest, int type)
{
    return e->way->put(e, buf, n, dest, type);
}

long endpoint_put_buffer(struct endpoint *e, void *buf, long n, int dest, int type)
{
    return e->way->put_buffer(e, buf, n, dest, type);
}

long endpoint_take(struct endpoint *e, void *buf, long n, int *src, int *type)
{
    struct endpoint_rest **link = find_rest(e, *src, *type);

    if (!*link)
        return e->way->take(e, buf, n, src, type);
    long bytes = (*link)->bytes;
    if (bytes > n)
        return trap_note(-N_EMSGSIZE);
    tell(*link, src, type);
    cut_rest(e, link, buf, bytes);
    return bytes;
}

long endpoint_take_part(struct endpoint *e, void *buf, long n, int *src, int *type, bool *more)
{
    struct endpoint_rest **link = find_rest(e, *src, *type);
    long result;

    *more = false;
    if (!*link) {
        result = e->way->take(e, buf, n, src, type);
        if (result != -N_EMSGSIZE)
            return result;
        result = make_rest(e, *src, *type);
        if (result < 0)
            return result;
        link = find_rest(e, *src, *type);
    }
    *more = (*link)->bytes > n;
    result = *more ? n : (*link)->bytes;
    tell(*link, src, type);
    cut_rest(e, link, buf, result);
    return result;
}

long endpoint_test(struct endpoint *e, int *src, int *type)
{
    const struct endpoint_rest *r = *find_rest(e, *src, *type);

    if (!r)
        return e->way->test(e, src, type);
    tell(r, src, type);
    return r->bytes;
}

long endpoint_take_buffer(struct endpoint *e, void **buf, long n, int *src, int *type)
{
    struct endpoint_rest **link = find_rest(e, *src, *type);

    if (!*link)
        return e->way->take_buffer(e, buf, n, src, type);
    long bytes = (*link)->bytes, room = bytes > n ? trap_note(-N_EMSGSIZE) : trap_ngetp(bytes);
    if (room < 0)
        return room;
    *buf = (void *)room;
    tell(*link, src, type);
    cut_rest(e, link, *buf, bytes);
    return bytes;
}

void endpoint_drop_rests(struct endpoint *e)
{
    for (struct endpoint_rest *next; e->rests; e->rests = next) {
        next = e->rests->next;
        free(e->rests);
    }
    note_rests(e);
}
