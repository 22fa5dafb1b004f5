/*
 * The message queue linked list of [P0 Figure 3]: the requests under way, in the order of their issue.
 *
 * An acknowledgement names only the I/O node that served its request. An I/O node answers requests in the order of
 * their arrival, for whichever drive, so the request is the first in the list with that node's address.
 *
 *   head -> request -> request -> ... -> NULL        spare -> request -> ... -> NULL
 *                                  ^ tail
 *
 * The queue owns its requests: D*C of them, made once when the file is opened.
 */
#ifndef PIO_PENDING_H
#define PIO_PENDING_H

#include <stdbool.h>
#include <stdint.h>

struct pio_request {
    struct pio_request *next;
    int node;               /* N_k */
    int volume;             /* k */
    int bytes;              /* asked for */
    int64_t position;       /* in the user's buffer */
    int64_t subfile_offset; /* on volume k */
};

struct pio_queue {
    struct pio_request *requests; /* all of them */
    struct pio_request *head, *tail, *spare;
};

int pio_queue_init(struct pio_queue *queue, int requests); /* 0, or -ENOMEM */
void pio_queue_free(struct pio_queue *queue);

/* Appends a copy of *request. There must be a spare one: at most D*C are under way. */
void pio_queue_append(struct pio_queue *queue, const struct pio_request *request);

/* Takes out the first request to that I/O node. False if there is none. */
bool pio_queue_take(struct pio_queue *queue, int node, struct pio_request *request);

bool pio_queue_empty(const struct pio_queue *queue);

#endif
