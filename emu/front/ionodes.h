/*
 * The I/O nodes as the front end sees them: which drives are mounted, which nsdisks serve, and their shutdown. What
 * follows from it for jobs is front.c's.
 */
#ifndef NCUBE_IONODES_H
#define NCUBE_IONODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/front/job.h"
#include "emu/front/streams.h"
#include "emu/model/topo.h"

struct io_node;

struct io_nodes {
    const struct topo *topo;
    struct streams *streams; /* for lines about failures */
    const struct job_ops *ops;
    void *ctx;
    struct io_node *node; /* as topo->io */
    bool failed;          /* a mount, an nsdisk or a shutdown did; not: a volume is missing */
};

/* Sets up the I/O nodes of a topology, none of which has reported. The topology, the streams and the operations outlive
 * it. */
void io_nodes_init(struct io_nodes *s, const struct topo *topo, struct streams *streams, const struct job_ops *ops,
                   void *ctx);
void io_nodes_free(struct io_nodes *s);

/* Index of an I/O node in topo->io, or -1. */
int io_nodes_find(const struct io_nodes *s, uint32_t node);

/* Messages. Return NULL, or why they refuse it; they have then changed nothing. */
const char *io_nodes_receive_mounted(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n);
const char *io_nodes_receive_shutdown(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n);
/* Its nsdisk has ended, though nobody asked it to. */
const char *io_nodes_receive_exit(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n);

/* Nothing is heard of it: its volumes that have not reported are missing. They may yet come, and be shut down. */
void io_nodes_miss(struct io_nodes *s, uint32_t node);
/* There is no way to it when it has been told to stop: it was not shut down, unless it was missing anyway. False if it
 * is down already. */
bool io_nodes_lose(struct io_nodes *s, uint32_t node);

/* How many drives have not said yet whether they are mounted. */
uint32_t io_nodes_mounting(const struct io_nodes *s);
/* Shuts down every nsdisk that has something to write back; io_nodes_stopping: how many have not confirmed it. */
void io_nodes_shut_down(struct io_nodes *s);
uint32_t io_nodes_stopping(const struct io_nodes *s);
bool io_nodes_is_stopping(const struct io_nodes *s, uint32_t index);

/* For the deadlock report, one line each. */
void io_nodes_describe_mounts(const struct io_nodes *s, char *text, size_t bytes);
void io_nodes_describe_shutdowns(const struct io_nodes *s, char *text, size_t bytes);

#endif
