/*
 * The message queue linked list of [P0 Figure 3]: the requests under way, in the order of their issue, whichever
 * transfer they are of.
 *
 * An acknowledgement names only its kind and the I/O node that served its request. An I/O node answers requests in the
 * order of their arrival, for whichever drive, so the request is the first of that kind in the list with that node's
 * address.
 *
 *   head -> request -> request -> ... -> NULL        of a transfer: spare -> request -> ... -> NULL
 *                                  ^ tail
 *
 * A transfer owns its requests: D*C of them, so there is always a spare one.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/file/transport.h"

struct pio_transfer;

struct pio_request {
    struct pio_request *next;
    struct pio_transfer *transfer;
    enum pio_op op;
    int node;               /* N_k */
    int volume;             /* k */
    int bytes;              /* asked for */
    int64_t position;       /* in the user's buffer */
    int64_t subfile_offset; /* on volume k */
};

struct pio_queue {
    struct pio_request *head, *tail;
    int n[2]; /* how many of each kind */
};

/* Appends the request, which stays its owner's and must not be in a queue. */
void pio_queue_append(struct pio_queue *queue, struct pio_request *request);

/* Takes out the first request of that kind to that I/O node. NULL: there is none. */
struct pio_request *pio_queue_take(struct pio_queue *queue, enum pio_op op, int node);

/* Returns true if a request of that kind is in the queue. */
static inline bool pio_queue_has(const struct pio_queue *queue, enum pio_op op)
{
    return queue->n[op] > 0;
}
