/*
 * Families of requests beside that of files: what the loop calls when a message of theirs arrives, and what they call.
 *
 *                                                       .- family_reply -> client
 *   message -> loop -> take -> a record of the family's +
 *                                                       '- family_run -> the volume's fiber: run -> ext2
 *
 * A family takes a message when it arrives. It decodes the message, keeps what waits in small records of its own, and
 * answers when it likes, each client or all of them in whatever order it keeps: at once, when another client's message
 * has come, or from a volume's fiber. Only there may it call ext2. The family of files (proto.h) is the loop's own: its
 * requests are served one after the other on their volume's fiber, and each client's replies keep their order.
 *
 * A request of any family begins with its sequence number, a reply with struct file_reply, which repeats it. A number
 * that no family has is answered with -N_ENOSYS, a message too short for a sequence number with -N_EPROTO. In-order
 * service has no families: it answers one request before it takes the next, so nothing could wait for anything.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsdisk/serve/arrival.h"
#include "nsdisk/serve/job.h"
#include "vertex/contract/errors.h"

struct loop;
struct ext2;
struct server;

struct family {
    uint32_t first, last; /* the numbers of its requests: one of TYPE_RANGES (vertex/contract/system.h) */
    /* Makes its state. NULL: no memory; its requests are then answered with -N_ENOMEM. */
    void *(*begin)(struct loop *l);
    /* Takes a message, whose bytes are the loop's again when it returns true. False: there is no room for it until work
     * on fibers (family_run) or commands of drives are done. Nothing is received until it is taken, and it is offered
     * again; where there is neither work nor a command under way, the loop answers with -N_ENOMEM. So a family that
     * waits for other messages must not wait for room. */
    bool (*take)(void *state, const struct arrival *a);
    /* The client has ended: drops what it has and what it waits for, without replies. What family_run is given here is
     * done before N_FEXIT is answered. May be NULL. */
    void (*client_ended)(void *state, int from);
    /* Commands of drives have ended. Outside all fibers. May be NULL. */
    void (*commands_ended)(void *state);
    /* The server is to shut down: answers all that wait. What family_run is given here is done before the volumes are
     * unmounted. May be NULL. */
    void (*shut_down)(void *state);
    void (*free)(void *state);
};

#define FAMILIES_MAX 4u

/* The families of an nsdisk, the first ones; the others are NULL. In families.c, or a test's own. */
extern const struct family *const families[FAMILIES_MAX];

/* The sequence number that a request begins with; 0: it is too short for one. */
static inline uint32_t family_sequence(const struct arrival *a)
{
    struct request_head head = {.seq = 0};

    if (a->n >= sizeof head)
        memcpy(&head, a->bytes, sizeof head);
    return head.seq;
}

/* Takes the head of a request, which is one of `operations` types from `first` on. -N_ENOSYS: it is none of them;
 * -N_EPROTO: it is too short. */
static inline int family_head(const struct arrival *a, uint32_t first, size_t operations, void *head, size_t bytes)
{
    if ((uint32_t)a->type - first >= operations)
        return -N_ENOSYS;
    if (a->n < bytes)
        return -N_EPROTO;
    memcpy(head, a->bytes, bytes);
    return 0;
}

/* Answers a request with an error. */
void family_refuse(struct loop *l, const struct arrival *a, int error);

/* Answers a request of that type to `from` with n bytes, which begin with struct file_reply. Where Vertex has no memory
 * to send them, the client gets -N_ENOMEM. */
void family_reply(struct loop *l, int from, int type, const void *reply, size_t n);

/* The same with a reply that lies in two places: a cached block is copied once, from the cache into the message. */
void family_reply_parts(struct loop *l, int from, int type, const void *head, size_t head_bytes, const void *data,
                        size_t bytes);

/* Has commands_ended called as soon as the fiber that runs has left. */
void family_call_back(struct loop *l);

/* The server whose volumes the loop serves. */
struct server *family_server(const struct loop *l);

/* Work for a volume: part of a record of the family's. */
struct family_work {
    struct job job;
    /* On the volume's fiber, in the order of arrival of all that is done there. The record is the family's again.
     * `area`: room for the largest request or reply until this returns. */
    void (*run)(struct family_work *w, struct ext2 *fs, const struct arrival_area *area);
};

/* Has w->run called on a drive's fiber, for a request of that type (which the trace names with the drive's commands).
 * 0; -N_ENODEV: no such drive, or no volume on it; -N_EIO: the drive is dead. */
int family_run(struct loop *l, uint32_t drive, struct family_work *w, int from, int type);
