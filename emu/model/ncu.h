/*
 * The NCUs: what NCU instructions do (machine.h), on top of the models of network and drives.
 *
 * One struct ncu models the whole machine. Nodes are known by their index, which is also that of their hart in the
 * scheduler. Nothing here depends on QEMU: a node is memory with a mailbox in it.
 *
 * A message's bytes are never buffered here. They are copied from the sender's memory to the receiver's when the last
 * byte is delivered; with SEND_DONE the sender may use its buffer again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/model/disk.h"
#include "emu/model/fault.h"
#include "emu/model/timing.h"
#include "emu/network/net.h"
#include "emu/network/topo.h"
#include "emu/trace/trace.h"
#include "emu/time/eventq.h"

struct ncu;
struct sched;

/* The memory of nodes that other processes have (emu/rack): node-physical addresses that lie in it. */
struct ncu_memory {
    void (*read)(void *ctx, uint32_t index, uint64_t addr, void *to, size_t bytes);
    void (*write)(void *ctx, uint32_t index, uint64_t addr, const void *from, size_t bytes);
    /* The bytes are those that the node `from` has before anything that is granted to it later. */
    void (*move)(void *ctx, uint32_t to, uint64_t to_addr, uint32_t from, uint64_t from_addr, size_t bytes);
};

/* The number of times that a damaged message of the front end is sent again. */
#define NCU_HOST_RESENDS 32u

struct ncu_ops {
    void (*host_message)(void *ctx, uint32_t from, uint32_t tag, const void *bytes, size_t n);
    /* A message has arrived on a node (its address); NULL: nobody wants to know. */
    void (*arrived)(void *ctx, uint32_t node, const struct ncu_cause *c);
    /* A message of the front end could not be delivered; status NCU_E... says why. */
    void (*host_lost)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n, int status);
    /* A node has waited, as it waits now, for so long: notes the call of a library that it waits in. Returns false
     * where there is none; the texts last until the next call. NULL: nobody wants to know. */
    bool (*waited)(void *ctx, uint32_t index, uint64_t cycles, struct trace_call *call);
    void (*recovered)(void *ctx); /* a link or node has recovered, or noise has ended; it may send */
    void (*fault)(void *ctx, uint32_t index, const char *text); /* Vertex has panicked */
    /* The host cannot read or write the image of a volume, for the first time; reason as disk_transfer's. */
    void (*image_fails)(void *ctx, const char *volume, int reason);
    /* Returns the QEMU-physical address at which the node executes the contents of these pages of its memory. */
    uint64_t (*text)(void *ctx, uint32_t index, uint64_t addr, uint64_t bytes);
    const struct ncu_memory *memory; /* NULL: a node's memory is where ncu_attach says */
};

/* Makes the NCUs of a machine of `count` nodes. topo, queue, sched, ops, faults and trace (may be NULL) must outlive
 * them. */
struct ncu *ncu_new(const struct topo *topo, struct eventq *queue, struct sched *sched, uint32_t count,
                    const struct ncu_ops *ops, void *ctx, struct trace *trace, const struct fault *fault,
                    uint32_t faults);
void ncu_free(struct ncu *n);

/* Ends the waits that have not ended at the end of the run, for the trace and for ncu_ops.waited. */
void ncu_end_waits(struct ncu *n, uint64_t now_cycles);

/* Connects node `index` with its address and memory, and writes the identity into its mailbox. `disks` lists an I/O
 * node's drives in order; it may be NULL for a compute node. ram and disks must outlive the NCUs; with ncu_ops.memory,
 * ram has only the mailbox. */
void ncu_attach(struct ncu *n, uint32_t index, uint32_t address, uint8_t *ram, struct disk *const *disks,
                uint64_t boot_number);

/* Sets the cycles that Vertex charges for messages on all nodes attached from now on; the default is none. */
void ncu_set_software_costs(struct ncu *n, const struct software_costs *costs);
/* Sets the stated costs [STATED_ROWS] of those nodes; the default states nothing. */
void ncu_set_stated_costs(struct ncu *n, const struct stated_cost *stated);

/* Executes an NCU instruction of node `index`. For an instruction that needs an answer: returns true if the answer is
 * in the mailbox, false if the node is idle until wake(). */
bool ncu_execute(struct ncu *n, uint32_t index, uint32_t op, const uint64_t *arg, uint64_t now_cycles);

/* Writes ans0 of the node's mailbox. */
void ncu_answer(struct ncu *n, uint32_t index, uint64_t value);

/* Returns true if the node has causes that it has not taken. */
bool ncu_cause_waits(const struct ncu *n, uint32_t index);

/* Returns true if no message waits in the network for an ARM of the node. */
bool ncu_arm_is_clear(const struct ncu *n, uint32_t index);

/* Sets the time at which the front end acts between events: not before the last event or request. */
void ncu_advance(struct ncu *n, uint64_t now_cycles);

/* Sends a message from the front end, at the time of the event being processed or of ncu_advance. The bytes are
 * copied. */
void ncu_host_send(struct ncu *n, uint32_t to, uint32_t tag, const void *bytes, size_t count);

/* Returns in a word what a node waits for: "message", "reply", "memory", "drive", "time", "program" (it has none);
 * NULL: it does not wait. Static. */
const char *ncu_wait_word(const struct ncu *n, uint32_t index);

/* Returns the commands of a drive that wait or are being executed. */
uint32_t ncu_drive_queue(const struct ncu *n, uint32_t index, uint32_t drive);

/* Writes one line for the deadlock report that says what a node waits for. Returns false if the node only waits for
 * work: it has no program, or is a file server without a request. */
bool ncu_describe_wait(const struct ncu *n, uint32_t index, char *text, size_t bytes);

/* True if the node waits for a message. */
bool ncu_waits_for_message(const struct ncu *n, uint32_t index);
/* True if it waits for a message of that context, or in poll, where it may. Replies of servers are of
 * CONTEXT_PROGRAM. */
bool ncu_may_wait_in(const struct ncu *n, uint32_t index, uint32_t context);
/* True if a node waits for a message of a pipe between programs, of a kind of enum pipe_kind. */
bool ncu_waits_for_pipe(const struct ncu *n, uint32_t index, uint32_t *pipe, uint32_t *kind);

/* ncu_describe_noise says which channel is the noisiest, in one line, or nothing without noise. ncu_describe_faults
 * says what has been broken in the machine so far, one line each for the first NCU_FAULT_LINES faults of the machine
 * file and one for the number of the others, and then that line. They explain a deadlock or a failed load. */
#define NCU_FAULT_LINES 16u
void ncu_describe_noise(const struct ncu *n, void (*say)(void *ctx, const char *line), void *ctx);
void ncu_describe_faults(const struct ncu *n, uint64_t now_cycles, void (*say)(void *ctx, const char *line), void *ctx);

/* Says what is under way: a line for each message in the network, and for each drive that has commands. */
void ncu_describe_queues(const struct ncu *n, void (*say)(void *ctx, const char *line), void *ctx);

/* Returns the address of node `index`. */
uint32_t ncu_address(const struct ncu *n, uint32_t index);

/* ---- Counts ---- */

/* A node's messages, including those to and from itself, the front end and I/O nodes. Bytes are payload. */
struct ncu_node_statistics {
    uint64_t sent, sent_bytes;         /* SENDs; a broadcast counts as one */
    uint64_t received, received_bytes; /* that arrived undamaged */
    uint64_t held;                     /* whose header had arrived and waited in the network for a receive */
    uint64_t damaged;                  /* SENDs that ended with a parity error, or after one: Vertex sends them again */
    uint64_t failed;                   /* SENDs that ended with another error */
    uint64_t copies; /* of messages in the node's memory, as counted by Vertex when the node was last idle */
};
struct ncu_node_statistics ncu_node_statistics(const struct ncu *n, uint32_t index);
/* The front end's messages; `copies` is 0. */
struct ncu_node_statistics ncu_host_statistics(const struct ncu *n);

/* Pipe number `pipe` between the programs of a job; on a machine that stays up, of all jobs together. */
struct ncu_pipe_statistics {
    uint64_t messages, bytes; /* with data or its end, headers of the pipe's own included; repetitions count */
    uint64_t rooms;           /* messages that tell a writer of room */
    uint64_t waits_for_data;  /* times that a reader waited for data, */
    uint64_t waits_for_room;  /* a writer for room, */
    uint64_t waits_for_map;   /* or either for the mapping of the other end */
};
struct ncu_pipe_statistics ncu_pipe_statistics(const struct ncu *n, uint32_t pipe);

/* Statistics of a drive up to now_cycles, which must not lie before the last event. */
struct ncu_drive_statistics {
    struct disk_statistics commands;
    uint64_t busy_cycles;  /* in which the controller executed a command on it */
    uint64_t queue_cycles; /* commands that wait or are executed, summed over time */
    uint32_t queue_max;
};
struct ncu_drive_statistics ncu_drive_statistics(const struct ncu *n, uint32_t index, uint32_t drive,
                                                 uint64_t now_cycles);

/* Returns how often, and by how many cycles at most, work of a row of the stated costs took longer, on all nodes. */
struct stated_excess ncu_stated_excess(const struct ncu *n, uint32_t row);

/* Returns the network, for its statistics. */
const struct net *ncu_net(const struct ncu *n);
