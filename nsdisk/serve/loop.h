/*
 * Concurrent service: requests for different volumes at the same time, on drives that work at the same time.
 *
 *                      +-> volume 0: requests that wait -> fiber: serve_request -> ext2 -> cache --+
 *   message -> target -+-> volume 1: ...                                                           |  disk_start
 *      ^               +-> ...                                                                     v
 *      |                                                                          commands under way, one line a drive
 *   wait for a message or a finished command  <----------------------------------------------------+
 *
 * The code of the file system is synchronous. The requests of one volume run on the volume's fiber one after the other,
 * in the order of their arrival; where one needs the disk, it starts a command and leaves its fiber, and the loop goes
 * on with other volumes until the command is done. So nothing in ext2 needs a lock. A client's replies come in the
 * order of its requests, as proto.h promises: a fiber whose reply is ready waits until the client's earlier requests
 * are answered. Requests that name no volume that is mounted are answered without one. N_FEXIT and N_FSYNCALL take
 * their turn on every volume; the last one answers.
 *
 * Writes that wait for one volume and are adjacent parts of one file are carried out as one.
 *
 * On a volume whose data cache has misses = "aside", a read that lacks a block is put aside until it has come, and the
 * fiber serves the next request (loop_aside.c).
 *
 * That is the family of files. Requests of other families go to these when they arrive, without a fiber (family.h).
 *
 * Memory, all of it taken by loop_new. An area holds the largest request, or the largest reply behind a short request:
 *
 *   landing    an area, into which the next message is read
 *   volumes    an area and a stack for each: a volume that is idle takes the landing area and gives its own
 *   parking    LOOP_PARKED small places for requests to volumes that are busy
 *
 * A request to a busy volume that finds no place stays in the landing area; no message is read until it is
 * served. What Vertex has received waits there, and the rest in the network.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nsdisk/serve/volume_locks.h"
#include "nsdisk/serve/serve.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/service.h"
#include "vertex/contract/system.h"

#define LOOP_PARKED SERVICE_PARKED

/* What the loop needs from the node, or from a test. */
struct loop_node {
    /* Waits for a message. Returns its bytes; -N_EAGAIN: a command is done. Other errors: once more. */
    long (*receive)(void *ctx, void *buf, size_t bytes, int *from, int *type);
    reply_fn *reply; /* with reply_ctx */
    /* The same of a reply in two parts. NULL: no family answers so. */
    void (*reply_parts)(void *ctx, int to, int type, const void *head, size_t head_bytes, const void *data,
                        size_t bytes);
    /* As the traps of these names (vertex/contract/abi.h). */
    long (*disk_start)(void *ctx, uint32_t drive, bool write, uint64_t sector, void *buf, uint32_t sectors, int type);
    long (*disk_end)(void *ctx, struct abi_disk_done *done, bool wait);
    void *ctx, *reply_ctx;
};

struct loop;

/* A loop for a server whose drives are 0 .. drives-1, at most SERVE_DRIVES. io_bytes: the most data in a message
 * (file_io_bytes). NULL: no memory. */
struct loop *loop_new(struct server *s, const struct loop_node *node, uint32_t drives, uint32_t io_bytes);
void loop_free(struct loop *l); /* NULL is allowed */

/* The disk of a drive, to be mounted. Until loop_run, and after it, its commands simply wait. */
struct blockdev loop_disk(struct loop *l, uint32_t drive, uint64_t sectors);

/* Serves until N_SHUTDOWN from the front end has come and what came before it is done. The reply to it is the
 * caller's. */
void loop_run(struct loop *l);

struct loop_statistics {
    uint32_t commands_most; /* under way at once */
    uint32_t joined;        /* writes that were carried out with the one before */
    uint32_t aside;         /* times that a request was put aside for the drive, or until its turn */
    uint32_t held;          /* replies that were held until their turn */
    size_t stack_most;      /* bytes of the deepest stack */
};
struct loop_statistics loop_statistics(const struct loop *l);
