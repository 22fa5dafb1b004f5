/*
 * What the parts of the NCU model share; no other file includes it. Each calls only those below it:
 *
 *   ncu.c           instructions, time, building       ncu_report.c   what a node waits for
 *   ncu_send.c      sending, the ends of broadcasts, the front end's messages
 *   ncu_receive.c   receiving                          ncu_disk.c     drives
 *   ncu_fork.c      the hops of broadcasts
 *   ncu_node.c      causes, counts
 *   ncu_memory.c    nodes' memory
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "emu/base/nodeset.h"
#include "emu/model/ncu.h"
#include "vertex/contract/system.h"

#define CHANNELS   (NCU_CHANNELS + 1u) /* the last one is for a node's messages to itself */
#define NODE_ORDER 0x40000000u         /* in the event queue: after the network's own events of the same cycle */

TAILQ_HEAD(transfer_queue, transfer);

/* A message between NCUs, from SEND to SEND_DONE. */
struct transfer {
    struct ncu *ncu;
    struct net_message *message;  /* while the network has it */
    struct ncu_node *sender;      /* NULL: the front end */
    struct ncu_node *holder;      /* whose memory has the bytes: the sender, or who passes a hop on; NULL: the copy */
    uint64_t held_at;             /* there, node-physical */
    uint8_t *copy;                /* the front end's; belongs to the transfer */
    uint64_t landing;             /* receive buffer, node-physical */
    uint64_t accepted_cycles;     /* time of the ARM for which it waited; else 0 */
    bool restart;                 /* NCU_SEND_RESTART */
    bool refused;                 /* by the receiver, because it follows a damaged message */
    uint32_t attempts;            /* of the front end */
    uint64_t number;              /* of the SEND, from 1; a hop has that of its broadcast */
    struct ncu_cause sent;        /* the sender's SEND_DONE */
    TAILQ_ENTRY(transfer) queued; /* in receive.waiting; of the front end: in ncu.host_failed */
    LIST_ENTRY(transfer) sending; /* in port.sent, */
    bool under_way;               /* while it is there */
    /* a broadcast, and its hops */
    uint32_t subcube;          /* dimension of the subcube + 1; 0: no broadcast */
    uint32_t origin;           /* address of the node that broadcasts */
    struct transfer *parent;   /* of a hop: the transfer whose bytes it passes on */
    uint32_t forks;            /* hops under way that pass on the bytes of this one */
    bool landed, left;         /* of a hop: its last byte has arrived; its sender has finished */
    struct ncu_cause received; /* of a hop that has landed: the receiver's RECV_DONE */
};

/* The messages of a node, or of the front end, to and from others: keeps their order after damage
 * (machine.h). */
struct port {
    LIST_HEAD(, transfer) sent; /* under way */
    struct nodeset stopped;     /* destinations for which a RESTART is due */
    struct nodeset refused;     /* sources from which a RESTART is due */
};

struct receive {
    struct ncu_node *node;
    uint64_t later; /* event that will arm it, 0: none */
    bool armed;
    uint64_t addr, bytes;
    struct transfer *landing;      /* in progress */
    struct transfer_queue waiting; /* headers; more than one only on the channel to oneself */
};

struct causes { /* a queue in an array that grows */
    struct ncu_cause *cause;
    uint32_t first, count, room;
};

/* The commands that a controller executes one after the other: all of a node, or those of one drive. */
struct command_line {
    STAILQ_HEAD(, disk_command) commands; /* under way, in order; the first is being executed */
    uint64_t free_cycles;                 /* when the last one ends; unused if `concurrent` */
};

struct drive { /* of an I/O node */
    struct disk *disk;
    bool fails;                             /* the host could not read or write the image */
    uint32_t queued;                        /* commands that wait or are being executed */
    uint64_t queue_since;                   /* when that number last changed */
    struct ncu_drive_statistics statistics; /* of the commands that have ended */
};

struct ncu_node {
    struct ncu *ncu;
    uint32_t index, address;
    uint8_t *ram;
    struct ncu_mailbox *mailbox;
    bool idle;
    bool reap;        /* a successful SEND_DONE is a cause like any other */
    uint64_t wait[3]; /* IDLE's arguments, while idle */
    uint64_t idle_since;
    struct causes causes;
    struct causes sent; /* successful SEND_DONE, which wait for REAP or SENT */
    struct receive receive[CHANNELS];
    uint32_t headers; /* that wait at all channels */
    uint64_t timer;   /* event, 0: none */
    struct drive drive[DRIVE_MAX];
    uint32_t drives;
    struct port port;
    struct ncu_node_statistics statistics;
    uint32_t excesses; /* as in the mailbox when the node was last idle */
    struct stated_excess excess[STATED_ROWS];
    bool concurrent;                     /* each drive has a line of its own; else line[0] is for all */
    struct command_line line[DRIVE_MAX]; /* ncu_disk.c */
    uint64_t bus_free_cycles;            /* `concurrent`: the drives share the controller's bus */
};

struct disk_command {
    STAILQ_ENTRY(disk_command) queued; /* in its line */
    struct ncu_node *node;
    uint32_t drive;          /* of the node's, if the command is under way */
    uint64_t service_cycles; /* when the controller begins with it */
    bool write;
    uint64_t sector, addr;
    uint32_t sectors;
    struct ncu_cause done;
};

struct ncu {
    const struct topo *topo;
    struct eventq *events;
    struct net *net;
    struct sched *sched; /* notified when a node has a cause */
    const struct ncu_ops *ops;
    void *ctx;
    struct trace *trace;
    uint32_t count;
    struct ncu_node *node;
    uint32_t *index_of; /* by address */
    struct port host;
    struct ncu_node_statistics host_statistics;
    struct ncu_pipe_statistics pipe_statistics[PIPES_MAX];
    uint64_t host_sends, sends;        /* of the front end; of all, with it */
    struct transfer_queue host_failed; /* to be sent again, oldest first */
    const struct fault *fault;
    uint32_t faults;
    struct fault_plan *plan;
    struct software_costs software;
    uint32_t lookahead_cycles; /* of the network */
    struct stated_cost stated[STATED_ROWS];
    uint64_t now_cycles;
};

/* Returns true if a SEND to a subcube is possible. */
static inline bool ncu_can_broadcast(const struct ncu *n)
{
    return n->faults == 0 && !n->topo->no_broadcasts;
}

/* ncu_memory.c. ncu_memory_has returns true if [addr, addr + bytes) lies in a node's memory; for the others it must. */
bool ncu_memory_has(const struct ncu *n, uint64_t addr, uint64_t bytes);
void ncu_memory_read(const struct ncu_node *node, uint64_t addr, void *to, size_t bytes);
void ncu_memory_write(struct ncu_node *node, uint64_t addr, const void *from, size_t bytes);
void ncu_memory_move(struct ncu_node *to, uint64_t to_addr, const struct ncu_node *from, uint64_t from_addr,
                     size_t bytes);
/* Returns bytes of the node's memory, or if this process has not got it, a copy, without their values unless `filled`.
 * The caller gives them back with ncu_memory_take_back, and says whether it has changed them. */
uint8_t *ncu_memory_lend(const struct ncu_node *node, uint64_t addr, size_t bytes, bool filled);
void ncu_memory_take_back(struct ncu_node *node, uint64_t addr, size_t bytes, uint8_t *lent, bool changed);

/* Returns the node with that address, which must exist. */
struct ncu_node *ncu_node_at(struct ncu *n, uint32_t address);

/* An idle node begins to wait, or has waited and is still idle: for the trace, and for ncu_ops.waited. */
void ncu_wait_begins(const struct ncu_node *node);
void ncu_wait_ends(struct ncu_node *node);
/* Returns what it waits for, enum ncu_wait: for a file server, too, where a program has begun a request. */
uint64_t ncu_idle_kind(const struct ncu_node *node);
/* Writes what the node's IDLE waits for. Returns the number of bytes, as snprintf. */
size_t ncu_describe_idle(const struct ncu_node *node, char *text, size_t bytes);

/* Gives a cause to a node: wakes it if it is idle, and reports the cause to the scheduler if not. */
void ncu_cause(struct ncu_node *node, const struct ncu_cause *c);

/* Takes the oldest cause, of which there is one; fills the mailbox with the oldest and their number. */
struct ncu_cause ncu_causes_pop(struct causes *q);
void ncu_causes_deliver(struct ncu_node *node, struct causes *q);

/* Returns the port of a node, or of the front end. */
struct port *ncu_port_at(struct ncu *n, uint32_t address);

/* Count a SEND, and that a node begins to idle, if they are of a pipe. */
void ncu_count_pipe_message(struct ncu *n, uint32_t tag, uint64_t bytes);
void ncu_count_pipe_wait(struct ncu_node *node);
/* Count a message that is sent, that a node or the front end has received, and how one has ended. */
void ncu_count_sent(struct ncu_node_statistics *s, uint64_t bytes);
void ncu_count_received(struct ncu *n, uint32_t address, uint64_t bytes);
void ncu_count_ended(struct ncu_node_statistics *s, int status);

/* ncu_send.c: SEND; the end of a message (net_ops.done). */
void ncu_send(struct ncu_node *node, const uint64_t *arg);
void ncu_net_done(void *ctx, struct net_message *m, uint64_t now_cycles);

/* ncu_receive.c: ARM; a header that has arrived (net_ops.header). */
void ncu_arm(struct ncu_node *node, const uint64_t *arg);
bool ncu_net_header(void *ctx, struct net_message *m, uint64_t now_cycles);
/* Delivers a message to its receiver, at its end: whole, damaged, or not at all. */
void ncu_deliver(struct ncu *n, struct transfer *t, const struct net_message *m);
/* Delivers a hop of a broadcast, which has landed and has been passed on, to its receiver. */
void ncu_receive_hop(struct ncu *n, struct transfer *t);

/* ncu_disk.c: DISK. */
void ncu_disk(struct ncu_node *node, const uint64_t *arg);

/* ncu_fork.c: sends the bytes of a broadcast, or of a hop, from node `at` over the subcube's dimensions from
 * `lowest` on; they are at held_at there. */
void ncu_fork_above(struct ncu *n, struct transfer *parent, uint32_t at, uint32_t lowest, uint64_t held_at);
/* Passes on a hop that a receive at node `at` has taken. */
void ncu_pass_on(struct ncu *n, struct transfer *t, uint32_t at, uint32_t in_channel);
