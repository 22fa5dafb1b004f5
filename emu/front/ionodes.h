/*
 * The I/O nodes as the front end sees them: which drives are mounted, which nsdisks serve, and their shutdown. front.c
 * and front_messages.c decide what follows for jobs.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/job/job.h"
#include "emu/hostfs/streams.h"
#include "emu/network/topo.h"

struct io_node;

struct io_nodes {
    const struct topo *topo;
    struct streams *streams; /* for lines about failures */
    const struct job_ops *ops;
    void *ctx;
    struct io_node *node; /* as topo->io */
    bool failed;          /* a mount, an nsdisk or a shutdown failed; a missing volume does not count */
};

/* Sets up the I/O nodes of a topology, none of which has reported. The topology, the streams and the operations outlive
 * it. */
void io_nodes_init(struct io_nodes *s, const struct topo *topo, struct streams *streams, const struct job_ops *ops,
                   void *ctx);
void io_nodes_free(struct io_nodes *s);

/* Index of an I/O node in topo->io, or -1. */
int io_nodes_find(const struct io_nodes *s, uint32_t node);

/* Handle messages of I/O nodes. NULL, or why the message is refused; then nothing has changed. */
const char *io_nodes_receive_mounted(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n);
const char *io_nodes_receive_shutdown(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n);
/* The end of an nsdisk that was not shut down. */
const char *io_nodes_receive_exit(struct io_nodes *s, uint32_t from, const uint8_t *bytes, size_t n);

/* Counts the volumes of a node that have not reported as missing. They may report later, and are then shut down. */
void io_nodes_miss(struct io_nodes *s, uint32_t node);
/* Counts a node as down because no path to it works. That is a failed shutdown if one of its volumes is mounted. False
 * if it is down already. */
bool io_nodes_lose(struct io_nodes *s, uint32_t node);

/* The number of drives that have not reported whether they are mounted. */
uint32_t io_nodes_mounting(const struct io_nodes *s);
/* Asks every nsdisk that may have data to write back to shut down. io_nodes_stopping: the number of those that have not
 * confirmed it. */
void io_nodes_shut_down(struct io_nodes *s);
uint32_t io_nodes_stopping(const struct io_nodes *s);
bool io_nodes_is_stopping(const struct io_nodes *s, uint32_t index);

/* What the data cache of a drive of topo->io[index] has counted. NULL: it has none, or its nsdisk was not shut down. */
const struct drive_cache_counts *io_nodes_cache_counts(const struct io_nodes *s, uint32_t index, uint32_t drive);

/* Where its nsdisk has them until it has shut down, in its own memory; 0: nowhere. */
uint32_t io_nodes_counts_va(const struct io_nodes *s, uint32_t index, uint32_t drive);

/* Describe in one line, for the deadlock report, which mounts or shutdowns are missing. */
void io_nodes_describe_mounts(const struct io_nodes *s, char *text, size_t bytes);
void io_nodes_describe_shutdowns(const struct io_nodes *s, char *text, size_t bytes);
