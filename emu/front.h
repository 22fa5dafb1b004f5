/*
 * The front end: a message endpoint inside ncube. Loads programs, carries the standard streams, serves host files
 * from one folder, waits for exits, shuts the I/O nodes down. Knows messages, not QEMU and not time: ncube calls
 * it when a message has arrived and sends what it hands to `send`.
 *
 *   new -> mounting: N_MOUNTED of every drive -> running: the load, then N_EXIT of every node
 *       -> stopping: N_SHUTDOWN to every I/O node that still serves -> finished
 *
 * A failed mount skips running; a fault, a failed load or an nsdisk that ends kills the program's other nodes.
 * Messages that make no sense are refused with one line on `err` and change nothing.
 */
#ifndef NCUBE_FRONT_H
#define NCUBE_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/topo.h"

struct front;

struct front_ops {
    /* Sends a message from the front end; the bytes are copied before it returns. */
    void (*send)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n);
    /* True when ncube was told to end: a wait for a standard stream then gives up. NULL: never. */
    bool (*interrupted)(void *ctx);
};

struct front_options { /* what it points to outlives the front end */
    const struct topo *topo;
    uint32_t dim;            /* of the subcube; -1 is settled before */
    const char *program;     /* path of the ELF */
    char *const *argv;       /* argv[0..argc-1], argv[0] the program's name */
    int argc;
    const char *serve;       /* host folder that programs may reach, NULL: none */
    uint64_t stack_bytes;    /* 0: USER_STACK_DEFAULT_BYTES */
    int in, out, err;        /* the standard streams' descriptors */
};

/* Checks the program (exists, ELF, RISC-V 64, executable, fits the node's memory), its arguments, the subcube's
 * dimension and the folder to serve. SIGPIPE must be ignored by the process (signals.h).
 * Returns 0, or -1 with one clear line in error. *front is the caller's. */
int front_new(struct front **front, const struct front_options *o, const struct front_ops *ops, void *ctx,
              char *error, size_t error_bytes);
void front_free(struct front *f);

/* The machine has booted: mounts are awaited (one N_MOUNTED per drive), then the program is loaded. */
void front_start(struct front *f);

/* A message has arrived. Bytes belong to the caller. */
void front_receive(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n);

/* A message that it sent has not arrived: there is no way to that node. Nodes that cannot be told to end count as
 * ended; a load that cannot begin, and an nsdisk that cannot be told to write back, are failures. */
void front_undeliverable(struct front *f, uint32_t to, uint32_t tag);
/* That I/O node is dead when the machine starts: its volumes cannot be mounted. */
void front_unreachable(struct front *f, uint32_t io_node);

/* True when the program has ended on all nodes and every nsdisk has answered N_SHUTDOWN. */
bool front_finished(const struct front *f);
/* The exit status for the shell: the highest of the nodes' statuses; 1 for a fault or a failed mount or load. */
int front_status(const struct front *f);
/* For the deadlock report: what the front end still waits for, as one line. */
void front_describe_wait(const struct front *f, char *text, size_t bytes);

#endif
