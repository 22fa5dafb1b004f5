/*
 * Requests to file servers, nsdisk or the front end, and their replies (vertex/contract/proto.h).
 *
 * Each request has a sequence number that is unique on this node since boot. The reply repeats it and is matched by it,
 * so a late reply to a process that has ended matches nothing. Vertex itself answers a request that the network could
 * not deliver.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/proto.h"
#include "vertex/message/buffers.h"
#include "vertex/process/proc.h"

/* Allocates a request with these fields and room for `extra` more bytes. -N_ENOMEM, -N_EINTR. */
int request_new(struct proc *p, const struct file_request *fields, uint64_t extra, struct message **m);
/* Appends n bytes, for which request_new has made room. */
void request_add(struct message *m, const void *bytes, uint32_t n);

/* Sends the request, takes over the caller's hold, and returns its sequence number. */
uint32_t request_send(struct proc *p, struct message *m, uint32_t node, uint32_t type);
/* The same for a request of a family, which begins with struct request_head and costs what a program's message does. */
uint32_t request_send_of_family(struct proc *p, struct message *m, uint32_t node, uint32_t type);
/* Routes this process's requests to an I/O node over that node's channel 0-7, or over the nearest (-1). First waits for
 * all its sends, so that none is overtaken. -N_EINTR; -N_ENFILE: it has chosen channels of PROC_VIA_MAX nodes. */
int request_choose_channel(struct proc *p, uint32_t node, int32_t channel);

/* Waits for the reply to a request that was sent at that time, and returns its status. The caller releases *reply,
 * which is NULL if there is none: -N_EINTR (the process is to die), -N_EPROTO, -N_ETIMEDOUT. */
int64_t request_await_since(struct proc *p, uint32_t node, uint32_t type, uint32_t sequence, uint64_t sent_cycles,
                            struct message **reply);
/* The same for a request of a family. */
int64_t request_await_of_family(struct proc *p, uint32_t node, uint32_t type, uint32_t sequence, uint64_t sent_cycles,
                                struct message **reply);
/* Returns true if the reply has arrived. */
bool request_has_reply(const struct proc *p, uint32_t node, uint32_t type, uint32_t sequence);
/* Sends the request and waits for its reply. `reply` may be NULL. */
int64_t request_call(struct proc *p, struct message *m, uint32_t node, uint32_t type, struct message **reply);

/* A request of these fields alone. `reply` may be NULL. */
static inline int64_t request_ask(struct proc *p, const struct file_request *fields, uint32_t node, uint32_t type,
                                  struct message **reply)
{
    struct message *m;

    if (reply)
        *reply = NULL;
    int error = request_new(p, fields, 0, &m);
    return error ? error : request_call(p, m, node, type, reply);
}

/* The same to the front end, with a name of the program's. -N_EFAULT, -N_ENAMETOOLONG. */
int64_t request_ask_by_name(struct proc *p, struct file_request fields, uint64_t name, uint32_t type,
                            struct message **reply);

static inline void reply_release(struct message *reply) /* NULL is allowed */
{
    if (reply)
        message_release(reply);
}

/* Return the data after struct file_reply, and its length. */
const void *reply_data(const struct message *reply);
uint64_t reply_bytes(const struct message *reply);

/* Unless the status is an error, copies a structure of `bytes` bytes from the reply to `to`. Releases the reply, which
 * may be NULL. Returns the status; -N_EPROTO. */
int64_t reply_take_structure(int64_t status, struct message *reply, void *to, uint64_t bytes);
/* Unless the status is an error, copies a structure of `bytes` bytes from the reply to the program. Releases the reply,
 * which may be NULL. Returns the status; -N_EPROTO, -N_EFAULT. */
int64_t reply_give_structure(struct proc *p, int64_t status, struct message *reply, uint64_t to, uint64_t bytes);
/* Copies the data of a reply to a request for `asked` bytes to the program. Returns its length; -N_EPROTO,
 * -N_EFAULT. */
int64_t reply_give_data(struct proc *p, int64_t status, const struct message *reply, uint64_t to, uint64_t asked);

/* Returns true if the message, which this node has sent, is a request. */
bool request_is(const struct message *m);
/* Returns true if the arrived reply answers a request whose reply the process will receive. */
bool request_is_awaited(const struct proc *p, const struct message *m);
/* Answers the process's request m, which the network could not deliver, with an error. */
void request_failed(struct proc *p, const struct message *m, int32_t status);
/* Answers with this error a request that reached an I/O node without a server. Takes over the message. */
void request_refuse(struct message *m, int32_t error);
