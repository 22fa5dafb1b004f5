/*
 * A hosted job: a subcube that a host program has opened (libnhost, docs/host-programs.md). The host program loads
 * programs on nodes that have none, and exchanges messages with them: for the nodes it is the node NODE_HOST. The job
 * ends when it is killed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "emu/job/job.h"

#define HOSTED_ALL_NODES   0xffffu     /* as a destination */
#define HOSTED_WAITS_BYTES (64u << 20) /* messages that the host program does not read; with more the job is killed */

struct hosted_message { /* from a node to the host program */
    STAILQ_ENTRY(hosted_message) entry;
    uint32_t node, type; /* the logical node; 0 .. 0xffff */
    size_t bytes;
    uint8_t content[];
};

/* NULL: no memory. */
struct hosted *hosted_new(uint64_t ram_bytes);
void hosted_free(struct hosted *h); /* or NULL */

/* Loads p on p->nodes nodes from `first` on. Returns the program's life, whose result lives_has_begun tells; or -1 with
 * one line in error. */
int32_t hosted_load(struct job *j, uint32_t first, const struct job_program *p, const struct load_program *volumes,
                    char *error, size_t error_bytes);

/* Takes a message of a node for the host program. NULL, or why it is refused. */
const char *hosted_receive(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n);
/* True if the job must be killed: after a load that failed half-way, or when too much waits for the host program, which
 * the user is told. */
bool hosted_must_end(struct job *j);
/* The oldest message that the host program has not got, or NULL; it stays until it is dropped. */
const struct hosted_message *hosted_first(const struct job *j);
void hosted_drop_first(struct job *j);

/* Sends a message of the host program to a node, or to all. A node without a program gets nothing. */
void hosted_send(struct job *j, uint32_t node, uint32_t type, const void *bytes, size_t n);
