/*
 * Parallel pipes [P1 sections 2.2, 2.4, 2.6 and Figure 11]: the bytes that the nodes of one program write go to the
 * nodes of another, from node to node, past everything else.
 *
 * A pipe has a stream, as a file has bytes. Each end has a mapping, a pattern that shares the stream out among its
 * nodes; an end of one node has all of it. Writer w and reader r have the common bytes of their elements, by a plan
 * that both make. Every rule below is one of a file to which the writers write before the readers read: "a | b" gives b
 * the bytes that "a > f", then "b < f" give.
 *
 *   writer w                                  reader r
 *     | <-- PIPE_PEER -- parent -- PIPE_PEER -> |    once, if a program that rexecvf loaded was the first to get an end
 *     | <----------- PIPE_MAP ----------------> |    once: node k tells every node n with n % nodes == k its mapping
 *     | ------------ PIPE_DATA ---------------> |    their next common bytes, in the stream's order
 *     | ------------ PIPE_DATA to ------------> |    without bytes: where the next one lies, which has no room yet
 *     | <----------- PIPE_ROOM slots ---------- |    when a slot has been read; -1: when the reader has ended
 *     | ------------ PIPE_DATA end -----------> |    to every reader: no more comes; where its last byte ended
 *
 * A reader keeps PIPE_SLOTS slots of its own part of the stream, of equal size, from the one that it reads on. A writer
 * sends only what falls into them, so that a reader needs the same memory for any number of writers. There is no
 * deadlock of the pipe's own: the lowest byte of the stream that is not read yet falls into its reader's first slot,
 * and its writer waits for nothing before it; where nobody writes it, those that wait for room tell that bytes follow.
 *
 * Where the two mappings' periods do not divide, a plan is of a window of the stream (window.h), and goes on with it.
 *
 * Where a mapping orders an element's bytes otherwise than the stream (pattern_bits), a reader's slot is a number of
 * whole periods of its mapping, and a writer keeps what it has of a period of its mapping until it has all.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "images/lib/devices/endpoint.h"
#include "libpio/map/window.h"
#include "vertex/contract/system.h"

/* Not on the way of a piece between two nodes that have all bytes: kept out of the functions that are, which then save
 * fewer registers. */
#define PIPE_APART __attribute__((noinline))

#define PIPE_SLOTS        4
#define PIPE_PERIOD_BYTES (1ll << 20) /* most of a period of a permutation that a node keeps */

enum pipe_form {              /* what follows a struct pipe_map */
                 PIPE_NO_MAP, /* nothing: the node has ended its use of the pipe without a mapping */
                 PIPE_PACKED, /* what pattern_pack_all wrote */
                 PIPE_TEXT    /* a permutation, as pattern_format wrote it, with its NUL */
};

struct pipe_map {  /* PIPE_MAP */
    uint32_t hash; /* of what follows */
    uint32_t form;
};

/* A message PIPE_DATA is one or more pieces, each from a multiple of PIPE_ALIGN on: this header, the parts that it
 * names, 8 bytes each and in this order, and the bytes. */
struct pipe_data {
    uint32_t at;    /* how many common bytes came before, modulo 2^32 */
    uint16_t bytes; /* that follow */
    uint16_t parts;
};
enum pipe_part {
    PIPE_HASHES = 1, /* uint32_t of the writers' mapping and of the readers': in the first piece for a reader, if an end
                      * has several nodes, which might have different mappings */
    PIPE_TO = 2,     /* int64_t: the writer has sent all up to this byte of the stream; else, up to the last one here */
    PIPE_END = 4     /* nothing follows: the writer has ended */
};
#define PIPE_HEADER_BYTES (sizeof(struct pipe_data) + 8 + 8) /* at most */

struct pipe_room { /* PIPE_ROOM */
    uint32_t hash_writers, hash_readers;
    int64_t slots; /* the reader takes bytes of all slots below this; -1: it has ended */
};

struct pipe_message { /* PIPE_MESSAGE; the bytes follow */
    int32_t type;     /* the user's, or PIPE_GONE: the node has ended its use of the pipe */
};
#define PIPE_GONE (-1)

struct pipe_kept;

struct pipe_endpoint {
    struct endpoint endpoint;
    struct pipe_end *end;
};

struct pipe_partner {          /* a node at the other end that has bytes in common with this one */
    int32_t pe;                /* its number in its program */
    struct plan_window window; /* has common byte `at`, or ends there */
    bool ended;
    bool checked; /* the hashes have been sent, or have come and are right; or both ends have one node */
    bool whole;   /* all of this node's bytes are common: a byte's number among them is its place */
    int64_t at;   /* common bytes that have been sent or have come */
    int64_t next; /* stream offset of the one that follows them, or of the window's end; INT64_MAX: there is none */
    /* at a writer */
    int64_t limit; /* common bytes up to the end of the range that is being written, or of the window */
    int64_t told;  /* the reader knows that the stream goes on to here */
    /* at a writer: how many slots its reader takes; at a reader: the slot of byte `at` - 1, or -1 */
    int64_t slots;
    int64_t slot_end; /* common bytes in these slots, or up to the end of that slot, within the window; -1: not counted
                       * yet */
};

struct pipe_end {
    uint32_t number;
    struct load_peer other; /* the program at the other end; no nodes: there is none */
    bool known;             /* it is; else a message PIPE_PEER will tell it (rexecvf) */
    int32_t own, nodes;     /* this node's number in its program, and their number */
    bool writes;
    bool announced, ready;
    bool is_parents;           /* this process is the child of a fork: the end is its parent's */
    bool told;                 /* that it needs a mapping */
    bool by_user;              /* N_SETMAP was called: the pattern is the program's */
    int error;                 /* negative errno: from now on the result of every call; 0: none */
    const struct pattern *map; /* of this end; NULL: not known yet */
    struct pattern *identity;  /* the map of an end of one node */
    struct pattern *their;     /* of the other end; NULL: not known, or it has none */
    uint32_t hash, their_hash;
    struct pipe_partner *partner;
    int32_t partners;
    struct plan *part; /* the stream and this node's element */
    int64_t at;        /* bytes of the element that were written or read */
    int64_t
        reach; /* at a permuting writer: where its last byte ended; at a reader: how far the stream is known to go */
    /* messages: pipe_message.c */
    struct pipe_endpoint messages;
    struct pipe_kept *kept; /* those that came and were not asked for, oldest first */
    int32_t gone;           /* nodes of the other end that have ended its use */
    char *message;          /* header and bytes */
    /* a writer's */
    bool looks;  /* messages are queued at this node, among which may be a reader's */
    char *stage; /* what a permuting writer has of a period */
    /* a reader's */
    int64_t came;                /* bytes of the message that came last, */
    int64_t next;                /* where its next piece begins, */
    long others;                 /* how many messages, perhaps for this end, had come when it was taken, */
    struct pipe_partner *sender; /* and whose it is; NULL: no partner's */
    bool direct;                 /* all of its bytes come from one writer, in their order: they need no slots */
    int64_t held, left;          /* then: bytes of the piece that were not read yet, and where they begin */
    int64_t slot_bytes;          /* of this node; a writer computes each reader's */
    int64_t first_slot;
    int64_t first_end, slots_end; /* this node's bytes up to the end of that slot, and of the last one */
    char *slot;                   /* [PIPE_SLOTS * slot_bytes]; slot k at k % PIPE_SLOTS */
    int64_t cleared;              /* so many slots, from the first on, have had their zeros */
    int32_t ends;                 /* writers that have ended */
};

/* ---- pipe_end.c: set-up, common to both ends ---- */

/* Gives the end its mapping, which must live as long as the end; NULL: node 0 has all bytes. -EBUSY: bytes have been
 * moved, or a mapping set, already. */
int pipe_set_map(struct pipe_end *e, const struct pattern *map);
/* Learns which nodes the other end has, if that is not known. `waits`: until the other end has been given to a program.
 * 0; -EAGAIN: not known, and it was not to wait; another negative errno, also in e->error. */
int pipe_know(struct pipe_end *e, bool waits);
/* Waits until both mappings are known, and makes the plans with all partners. -EDESTADDRREQ: the end has several nodes
 * and no mapping; -EPIPE: the other end has ended and never had one; -EINVAL: its mapping is not one for its nodes;
 * -ENOBUFS: a mapping permutes more bytes than a node can keep; -ENOMEM. */
int pipe_make_ready(struct pipe_end *e);
/* Whether the mapping gives this node any bytes. */
static inline bool pipe_has_bytes(const struct pipe_end *e)
{
    return e->own < e->map->elements && e->map->element[e->own].bytes > 0;
}
/* Tells the other end, which is known, this end's mapping, or that there will be none. */
void pipe_announce(struct pipe_end *e);
/* Returns the size of a slot of reader `pe`, or -ENOBUFS. */
int64_t pipe_slot_bytes(const struct pipe_end *e, int32_t pe);
struct pipe_partner *pipe_partner_of(const struct pipe_end *e, int node); /* NULL: it is none */
/* Goes on to the partner's next window of the stream, whose next common byte is not before that. 0 or a negative errno.
 */
int pipe_go_on(struct pipe_partner *p);
/* Returns the stream offset at which a slot of reader `pe` begins, INT64_MAX if none does; or -ENOBUFS. */
int64_t pipe_slot_begin(const struct pipe_end *e, int32_t pe, int64_t slot);
/* The mapping of the reading end. */
const struct pattern *pipe_readers_map(const struct pipe_end *e);
/* Returns memory whose pages have been used: a first use costs a trap. The caller frees it; NULL: no memory. */
char *pipe_new_buffer(size_t n);
/* Sends a message of the pipe to a node of the other end. Keeps an error in e->error, and returns it. */
int pipe_send(struct pipe_end *e, int32_t pe, enum pipe_kind kind, const void *bytes, size_t n);
/* True if a message of that kind waits. */
bool pipe_has_come(const struct pipe_end *e, enum pipe_kind kind);
/* Checks the hashes of a message: -EINVAL if nodes of one end have given different mappings. */
int pipe_check_hashes(const struct pipe_end *e, uint32_t writers, uint32_t readers);

/* ---- pipe_message.c ---- */

/* True if the end is used for messages; bytes are EPROTO then, unless it is connected (N_CONNECT). */
static inline bool pipe_is_for_messages(const struct pipe_end *e)
{
    return e->messages.endpoint.state == N_MESSAGE || e->messages.endpoint.is_connected;
}
/* For struct ndevice. -EPROTO: the end carries bytes. */
int pipe_putmsg(void *end, const struct strbuf *ctl, const struct strbuf *data, int flags);
int pipe_getmsg(void *end, struct strbuf *ctl, struct strbuf *data, int *flags);
ssize_t pipe_write_message(struct pipe_end *e, const void *buf, size_t n);
ssize_t pipe_read_message(struct pipe_end *e, void *buf, size_t n);
/* The requests of endpoints that concern messages. -ENOTTY: the request is none. */
int pipe_message_ioctl(struct pipe_end *e, int request, void *arg);
/* Returns the state of the end (N_STATE), without waiting. */
int pipe_state(struct pipe_end *e);
/* Tells all nodes of the other end, which is known, that this node has ended its use of the pipe. */
void pipe_tell_gone(struct pipe_end *e);

/* ---- pipe_poll.c ---- */

struct nawaited;
/* For struct ndevice. */
int pipe_poll(void *end, int events, struct nawaited *message);
void pipe_forked(void *end);

/* ---- pipe_write.c and pipe_read.c ---- */

/* Take the messages that have come, as far as they can be taken, and return what of <poll.h> holds. The end's set-up
 * waits for nothing. A writer is ready when one of its readers has room. */
int pipe_poll_write(struct pipe_end *e);
int pipe_poll_read(struct pipe_end *e);

/* True if all nodes of the other end that this one knows of have ended their use of the pipe for bytes. */
bool pipe_is_over(const struct pipe_end *e);

ssize_t pipe_write(struct pipe_end *e, const void *buf, size_t n);
void pipe_end_writing(struct pipe_end *e);
ssize_t pipe_read(struct pipe_end *e, void *buf, size_t n);
void pipe_end_reading(struct pipe_end *e);
