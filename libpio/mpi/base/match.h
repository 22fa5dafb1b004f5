/*
 * Queues of receives that wait for messages, and of messages that wait for receives [3.5].
 *
 * A queue keeps the order in which its entries came. Once it is long it has an index, so that neither thousands of
 * senders nor of tags make a search long: by source and tag, by source, and by tag.
 */
#pragma once

#include <stdint.h>

#define MATCH_ANY (-1) /* MPI_ANY_SOURCE, MPI_ANY_TAG */

enum match_chain { MATCH_BOTH, MATCH_SOURCE, MATCH_TAG, MATCH_CHAINS };

struct mpi_links {
    struct mpi_entry *next, *before;
};

struct mpi_entry {
    struct mpi_links all, chain[MATCH_CHAINS];
    int source, tag;   /* of a receive: perhaps MATCH_ANY */
    uint32_t sequence; /* in the queue */
};

struct mpi_chain {
    struct mpi_entry *first, *last;
};

struct mpi_queue {
    struct mpi_chain all;
    uint32_t count, next_sequence;
    struct mpi_chain *index; /* [MATCH_CHAINS << bits]; NULL: there is none */
    int bits;
};

void match_add(struct mpi_queue *q, struct mpi_entry *e);
void match_remove(struct mpi_queue *q, struct mpi_entry *e);

/* The oldest message that a receive of this source and tag matches, or NULL. */
struct mpi_entry *match_find_message(const struct mpi_queue *q, int source, int tag);

/* The oldest receive that matches a message of this source and tag, or NULL. */
struct mpi_entry *match_find_receive(const struct mpi_queue *q, int source, int tag);
