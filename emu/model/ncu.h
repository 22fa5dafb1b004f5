/*
 * The NCUs: what NCU instructions do (machine.h), on top of the models of network and drives.
 *
 * One struct ncu for the whole machine; nodes are known by their index, which is also their hart's in the
 * scheduler. No QEMU: a node is some memory with a mailbox in it.
 *
 * A message's bytes are never buffered here. They go from the sender's memory to the receiver's when the last byte
 * is delivered; the sender's buffer is its own again with SEND_DONE.
 */
#ifndef NCUBE_NCU_H
#define NCUBE_NCU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/disk.h"
#include "emu/model/fault.h"
#include "emu/model/net.h"
#include "emu/model/topo.h"
#include "emu/model/trace.h"
#include "emu/time/eventq.h"

struct ncu;

/* A message of the front end that was damaged is sent again so many times. */
#define NCU_HOST_RESENDS 32u

struct ncu_ops {
    void (*wake)(void *ctx, uint32_t index, uint64_t now_cycles);  /* an idle node has been answered */
    void (*cause)(void *ctx, uint32_t index, uint64_t now_cycles); /* a cause waits for a node that is not idle */
    void (*host_message)(void *ctx, uint32_t from, uint32_t tag, const void *bytes, size_t n);
    /* A message of the front end has not arrived, and will not: status NCU_E... */
    void (*host_lost)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n, int status);
    void (*recovered)(void *ctx); /* a link or a node has, or its noise has ended: the front end may send now */
    void (*fault)(void *ctx, uint32_t index, const char *text); /* Vertex has panicked */
    /* QEMU-physical address at which the node may execute what these pages of its memory hold. */
    uint64_t (*text)(void *ctx, uint32_t index, uint64_t addr, uint64_t bytes);
};

/* A machine of `count` nodes. topo, queue, ops, faults and trace (may be NULL) outlive it. */
struct ncu *ncu_new(const struct topo *topo, struct eventq *queue, uint32_t count, const struct ncu_ops *ops, void *ctx,
                    struct trace *trace, const struct fault *fault, uint32_t faults);
void ncu_free(struct ncu *n);

/* Connects node `index` with its address and memory, and writes the mailbox's identity. `disks` has
 * the I/O node's drives in order (may be NULL for a compute node). */
void ncu_attach(struct ncu *n, uint32_t index, uint32_t address, uint8_t *ram, struct disk *const *disks,
                uint64_t boot_number);

/* What Vertex is to charge for messages on the nodes attached from now on. Without it: nothing. */
void ncu_set_software_cost(struct ncu *n, const struct software_cost *cost);

/* An NCU instruction of node `index` takes effect. Of those that need an answer: true if it is answered, false if
 * the node is idle until wake(). */
bool ncu_execute(struct ncu *n, uint32_t index, uint32_t op, const uint64_t *arg, uint64_t now_cycles);

/* Writes ans0 of the node's mailbox. */
void ncu_answer(struct ncu *n, uint32_t index, uint64_t value);

/* True if the node has causes that it has not taken. */
bool ncu_cause_waits(const struct ncu *n, uint32_t index);

/* Between events: the front end is about to act at that time, which is that of the last event or request, or later. */
void ncu_advance(struct ncu *n, uint64_t now_cycles);

/* Sends from the front end, at the time of the event being processed, or of ncu_advance. The bytes are copied. */
void ncu_host_send(struct ncu *n, uint32_t to, uint32_t tag, const void *bytes, size_t count);

/* One line about what a node waits for, for the deadlock report. False if it waits for work only: no program, or a
 * file server without a request. */
bool ncu_describe_wait(const struct ncu *n, uint32_t index, char *text, size_t bytes);

/* Which channel is the noisiest, if there is noise: a line. And what is broken in the machine, or was: a line each, and
 * that of the noise. For what they explain: a deadlock, a load that failed. */
void ncu_describe_noise(const struct ncu *n, void (*say)(void *ctx, const char *line), void *ctx);
void ncu_describe_faults(const struct ncu *n, uint64_t now_cycles, void (*say)(void *ctx, const char *line), void *ctx);

uint32_t ncu_address(const struct ncu *n, uint32_t index);

/* ---- What has been counted ---- */

/* Of a node's messages, those with itself, the front end and I/O nodes included. Bytes are payload. */
struct ncu_node_statistics {
    uint64_t sent, sent_bytes;         /* SENDs; one to a subcube is one */
    uint64_t received, received_bytes; /* that arrived sound */
    uint64_t held;                     /* that had come, header first, and waited in the network for a receive */
    uint64_t damaged;                  /* SENDs that ended with a parity error, or after one: Vertex sends them again */
    uint64_t failed;                   /* SENDs that ended with another error */
    uint64_t copies; /* of messages in the node's memory, as Vertex had counted them when the node was last idle */
};
struct ncu_node_statistics ncu_node_statistics(const struct ncu *n, uint32_t index);
/* Those of the front end; no copies. */
struct ncu_node_statistics ncu_host_statistics(const struct ncu *n);

/* Of a drive, up to now, which is not before the last event. */
struct ncu_drive_statistics {
    struct disk_statistics commands;
    uint64_t busy_cycles;  /* for which the controller did a command on it */
    uint64_t queue_cycles; /* sum over time of the commands that wait or are being done */
    uint32_t queue_max;
};
struct ncu_drive_statistics ncu_drive_statistics(const struct ncu *n, uint32_t index, uint32_t drive,
                                                 uint64_t now_cycles);

const struct net *ncu_net(const struct ncu *n);

#endif
