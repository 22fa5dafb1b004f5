/*
 * Endpoints [P1 sections 2.2, 2.4]: descriptors for messages between PEs. The message driver (dev_message.c) has them
 * in the switch; the calls of <nself.h> come here when `nself` is another endpoint than at the start.
 *
 *     getmsg, putmsg, write, ioctl  ---switch--->  message driver  -->  endpoint_put, endpoint_take ...
 *     nread, nwrite, whoami ...  --if nself was changed----------->           |
 *                                                                        way of the endpoint
 *                                                           own program (traps), domain (a group), pipe
 *
 * PEs are named by N_PROCESS numbers of the endpoint: node = PE. All functions return >= 0 or a negative n_error.
 */
#pragma once

#include <ndevices.h>
#include <stdbool.h>
#include <stropts.h>
#include <sys/ioctl.h>

#define NSELF_DESCRIPTOR 255 /* so that files have the numbers from 3 on */

struct endpoint;
struct group;

/* How messages travel. */
struct endpoint_way {
    long (*put)(struct endpoint *e, const void *buf, long n, int dest, int type);
    long (*take)(struct endpoint *e, void *buf, long n, int *src, int *type);      /* as nread: waits; EMSGSIZE */
    long (*test)(struct endpoint *e, int *src, int *type);                         /* as ntest */
    long (*put_buffer)(struct endpoint *e, void *buf, long n, int dest, int type); /* nwritep, nreadp */
    long (*take_buffer)(struct endpoint *e, void **buf, long n, int *src, int *type);
    void (*learn)(struct endpoint *e); /* sets info and procs */
    int (*close)(struct endpoint *e);
};

struct endpoint {
    const struct endpoint_way *way;
    struct ninfo info;    /* its numbers; pes = 0: not known yet */
    int procs;            /* processes on each PE at the other end */
    struct group *domain; /* NULL: the PEs are all of the program */
    bool is_program;      /* `nself` at the start */
    int state;            /* N_BOUND, N_MESSAGE ... of <sys/ioctl.h> */
    int own_first;        /* N_OWN: PE k of the own end is also PE own_first + k; -1: not set */
    bool is_connected;
    struct ncaddr to;            /* N_CONNECT */
    struct endpoint_rest *rests; /* what getmsg has left of long messages, oldest first */
};

extern const struct ndevice message_device; /* its state is a struct endpoint */

/* Returns the endpoint of a descriptor, or NULL with *error: -N_EBADF, -N_ENOSTR. */
struct endpoint *endpoint_of(int fd, int *error);

/* Returns what N_INFO tells. */
static inline const struct ninfo *endpoint_info(struct endpoint *e)
{
    if (e->info.pes == 0)
        e->way->learn(e);
    return &e->info;
}

/* As nwrite, nread, ntest, nwritep, nreadp; the rests of messages come first. */
long endpoint_put_buffer(struct endpoint *e, void *buf, long n, int dest, int type) __attribute__((weak));
long endpoint_put(struct endpoint *e, const void *buf, long n, int dest, int type) __attribute__((weak));
long endpoint_take(struct endpoint *e, void *buf, long n, int *src, int *type) __attribute__((weak));
/* As endpoint_take, but of a message that is longer takes the first n bytes, and *more is true. */
long endpoint_take_part(struct endpoint *e, void *buf, long n, int *src, int *type, bool *more);
void endpoint_drop_rests(struct endpoint *e);
long endpoint_test(struct endpoint *e, int *src, int *type) __attribute__((weak));
long endpoint_take_buffer(struct endpoint *e, void **buf, long n, int *src, int *type) __attribute__((weak));

/* ---- For the calls of <nself.h>. A program that does not name `nself` has no such variable, and no driver. ---- */

extern int nself __attribute__((weak));

/* Returns the endpoint that the program has put into `nself`. NULL: it is no endpoint; *error says why. Called only if
 * endpoint_is_other(). */
struct endpoint *endpoint_of_nself(int *error) __attribute__((weak));
/* Returns the domain that `nself` is, or NULL. */
struct group *endpoint_domain(void) __attribute__((weak));
extern bool endpoint_has_rests __attribute__((weak)); /* of the own program's */

/* True if the calls of <nself.h> are not simply the traps. */
static inline bool endpoint_is_other(void)
{
    return &nself && (nself != NSELF_DESCRIPTOR || endpoint_has_rests);
}
