/*
 * The lives of a job's nodes: which nodes have exited, and the front end's part in programs that a running program
 * loads on nodes of its job (vertex/contract/system.h). The front end decides which nodes are free, gets the result of
 * the load from each of them, and answers the processes that wait for it or for a program's end.
 *
 * A life is one program's stay on a node. Life 0 is the program that the job began with; those loaded later are
 * numbered in the job. A load that a node refuses is reported to the process that asked for it and ends nothing; the
 * node counts as exited again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hostfs/hostfs.h"

#define LIVES_IS_REQUEST(type) ((type) >= N_RCLAIM && (type) <= N_RWAIT)
#define LIVES_ANY              UINT32_MAX

struct lives;

struct lives_options {    /* what it points to outlives the lives */
    uint32_t job;         /* its id */
    uint32_t base, nodes; /* the job's subcube: logical node 0 is the node base */
    struct hostfs *files; /* the programs' */
    /* Sends an answer, as in struct job_ops. */
    void (*send)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n);
    void *ctx;
};

/* All nodes in life 0, none exited. NULL if there is no memory; lives_free frees it. */
struct lives *lives_new(const struct lives_options *o);
/* Frees the lives, or nothing for NULL, and closes the programs' files. */
void lives_free(struct lives *l);

/* True if a node, a logical one as in all of these, has exited and nothing has been loaded on it since. */
bool lives_has_exited(const struct lives *l, uint32_t logical);
/* The number of nodes that have exited. */
uint32_t lives_exits(const struct lives *l);
/* The life of a node. */
uint32_t lives_of(const struct lives *l, uint32_t logical);
/* The node that is node 0 of the program of a node; at the beginning 0, unless the job sets it. */
uint32_t lives_first(const struct lives *l, uint32_t logical);
void lives_set_first(struct lives *l, uint32_t logical, uint32_t first);
/* True if the program of the node has a subcube of its own, by rexecvf: its status is its parent's matter. */
bool lives_is_separate(const struct lives *l, uint32_t logical);
/* The name of the program of a node in a life above 0, and in *fd its file, -1 if that is not open; both until the
 * program has ended. NULL for life 0. */
const char *lives_program(const struct lives *l, uint32_t logical, int *fd);

/* Answers a request of a process of the job (LIVES_IS_REQUEST), now or later. NULL, or why it is refused. */
const char *lives_request(struct lives *l, uint32_t from, uint32_t tag, const void *bytes, size_t n);
/* Claims nodes, which must be free, for the front end itself. `fd` is the program's file, which is the lives' from now
 * on, or -1. Returns the life, or a negative n_error: N_EINVAL, N_EBUSY, N_ENOMEM, N_EINTR. */
int32_t lives_claim(struct lives *l, uint32_t first, uint32_t nodes, const char *name, int fd);
/* Whether all nodes of a life have reported the result of their load; then *error is 0, or the error of one of them. */
bool lives_has_begun(const struct lives *l, uint32_t life, int32_t *error);
/* Takes N_STARTED of a node. NULL, or why it is refused. */
const char *lives_receive_started(struct lives *l, uint32_t from, const uint8_t *bytes, size_t n);

/* From now on every claim of nodes is answered with -N_EINTR: the job is being killed. */
void lives_refuse_claims(struct lives *l);
/* Notes that a node has exited, for whatever reason, and drops its processes' waits. */
void lives_note_exit(struct lives *l, uint32_t logical);
/* Notes that a node could not be loaded, with a negative n_error, and tells the waiting processes. False, and nothing
 * is noted, if the program is the one that the job began with or replaced the process that loaded it. */
bool lives_fail(struct lives *l, uint32_t logical, int32_t status);
/* Notes the status with which a node's program has ended, and tells the waiting processes. */
void lives_end(struct lives *l, uint32_t logical, int32_t status);
/* Drops the waits of a process (LIVES_ANY: of every process) of a node. */
void lives_drop_client(struct lives *l, uint32_t node, uint32_t procid);
