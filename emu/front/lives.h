/*
 * Programs that a running program loads on nodes of its job (vertex/contract/system.h): the front end's part. It says which
 * nodes are free, hears from them how the load went, and answers those who wait for that or for a program's end.
 *
 * A life is one program's stay on a node; 0 is what the job began with. Those loaded later are numbered in the job. A
 * load that a node refuses is told to who asked for it and ends nothing; the node counts as exited again.
 */
#ifndef NCUBE_LIVES_H
#define NCUBE_LIVES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/front/job.h"

#define LIVES_IS_REQUEST(type) ((type) >= N_RCLAIM && (type) <= N_RWAIT)
#define LIVES_ANY              UINT32_MAX

/* Of a job of so many nodes, all in life 0. NULL: no memory. */
struct lives *lives_new(uint32_t nodes);
/* With the job's serve, which has the programs' files. */
void lives_free(struct lives *l, struct hostfs *serve);

/* The life of a node. */
uint32_t lives_of(const struct lives *l, uint32_t logical);
/* What runs on a node in a life above 0, with *path its name, both until it has ended; or NULL. */
const struct job_part *lives_program(const struct lives *l, uint32_t logical, const char **path);

/* A request of a process of the job (LIVES_IS_REQUEST), answered now or later; as job_receive_request. */
const char *lives_request(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n);
/* N_STARTED, as job_receive_exit. */
const char *lives_receive_started(struct job *j, uint32_t from, const uint8_t *bytes, size_t n);
/* A node could not be loaded. False: it was what the job began with, or in its program's own place. */
bool lives_fail(struct job *j, uint32_t logical, int32_t status);
/* A node's program has ended, and the node has exited. */
void lives_end(struct job *j, uint32_t logical, int32_t status);
/* The process (LIVES_ANY: any) of that node waits for no answer any more. */
void lives_drop_client(struct job *j, uint32_t node, uint32_t procid);

#endif
