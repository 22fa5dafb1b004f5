/*
 * Pipes between programs that know each other only by a number or a name (vertex/contract/system.h, N_PIPE).
 *
 * Numbers go round: one is used again only long after, because a message of a pipe that has ended may still lie at a
 * node, and must belong to no other pipe.
 *
 * Names: the nodes of a program ask for an end of "//pipe/NAME", and are answered when a program has asked for the
 * other end. A name is used again as soon as all nodes of both programs have been answered; a third program waits for a
 * fourth. Two programs of different jobs that have met share their fate: if one is killed, so is the other.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "vertex/contract/system.h"

struct meeting; /* of two programs at a name, all of whose nodes have not been answered yet */
struct bond;    /* between two jobs whose programs have met */

struct pipes {      /* {.meetings, .bonds: SLIST_INITIALIZER}: none */
    uint32_t given; /* numbers so far */
    SLIST_HEAD(, meeting) meetings;
    SLIST_HEAD(, bond) bonds;
    /* Sends an answer, as in struct job_ops. */
    void (*send)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n);
    void *ctx;
};

/* Answers N_PIPE of a process of that job, now or later. NULL, or why it is refused. */
const char *pipes_request(struct pipes *p, uint32_t job, uint32_t from, uint32_t tag, const void *bytes, size_t n);
/* Drops the requests of a node whose program has ended. */
void pipes_drop_node(struct pipes *p, uint32_t node);
/* Drops the job's meetings and bonds: it has ended. */
void pipes_drop_job(struct pipes *p, uint32_t job);
/* True if a process of the job waits for a program at the other end. */
bool pipes_wait(const struct pipes *p, uint32_t job);
/* Returns a job that has met a program of that job and is above `after`, or 0: there is no more. */
uint32_t pipes_next_bond(const struct pipes *p, uint32_t job, uint32_t after);
void pipes_free(struct pipes *p);
