/*
 * The front end: a message endpoint inside ncube. It gives subcubes to jobs (job.h), several at a time, passes messages
 * to the job that a node belongs to, waits for mounts and shuts the I/O nodes down. Knows messages, not QEMU and not
 * time: ncube calls it when a message has arrived, and sends the messages that it passes to `send`.
 *
 *   new -> mounting: N_MOUNTED of every drive -> up: jobs come and go
 *       -> stopping, when front_stop was called and no job runs: N_SHUTDOWN to every I/O node that still serves
 *       -> finished
 *
 * A job that begins before all drives are mounted is loaded once they are. A volume is missing when its drive or I/O
 * node is dead: the user is told, and the machine runs without it. A volume that is present and cannot be mounted stops
 * the machine before it is up. An nsdisk that ends kills all jobs. A node's messages count only for the job whose
 * subcube it is in. A message that makes no sense is refused with one line on `err` and changes nothing.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/job/job.h"
#include "emu/network/topo.h"

struct front;

struct front_ops {
    struct job_ops job;
    /* Called when a job has ended and its subcube is free; may be NULL. The job stays until front_forget_job, which
     * must not be called from here. */
    void (*ended)(void *ctx, uint32_t id);
};

struct front_options { /* what it points to outlives the front end */
    const struct topo *topo;
    int out, err;     /* descriptors for the output of nsdisks, and for the front end's lines that concern no job */
    bool keeps_going; /* writing to them never waits (streams.h) */
    struct recording *recording; /* of the run; NULL: none */
};

/* Makes a front end for a machine. 0, and the caller frees *front; or -1 with one clear line in error. */
int front_new(struct front **front, const struct front_options *o, const struct front_ops *ops, void *ctx, char *error,
              size_t error_bytes);
void front_free(struct front *f);

/* Starts to wait for mounts, one N_MOUNTED for each drive: the machine has booted. */
void front_start(struct front *f);
/* True once every drive is mounted, until front_stop. */
bool front_is_up(const struct front *f);

/* Gives a job a subcube and loads it. The process must ignore SIGPIPE. Returns 0, and the job's id, which is never 0
 * and never used again; -1 with one clear line in error, if job_new fails, the machine has no such dimension, or it is
 * stopping; or FRONT_BUSY with one line: no subcube is free now. */
enum { FRONT_BUSY = 1 };
int front_begin_job(struct front *f, const struct job_options *o, uint32_t *id, char *error, size_t error_bytes);
/* Checks whether a job could begin if all nodes were free; changes nothing. 0, or -1 with one clear line in error. */
int front_check_job(struct front *f, const struct job_options *o, char *error, size_t error_bytes);
/* Loads a program on nodes of a hosted job (hosted_load). */
int32_t front_load_hosted(struct front *f, struct job *j, uint32_t first, const struct job_program *p, char *error,
                          size_t error_bytes);
/* The job of that id, which stays until front_forget_job; NULL if there is none. */
struct job *front_find_job(const struct front *f, uint32_t id);
/* Asks all nodes of a job to end. The job has ended when they have confirmed it. */
void front_kill_job(struct front *f, uint32_t id);
/* True if something outside of virtual time may let the job go on: a standard stream, a host program, a program that
 * opens the other end of a pipe, or one of these for a job at the other end of its pipes. */
bool front_job_waits_outside(const struct front *f, const struct job *j);
/* Frees a job that has ended. */
void front_forget_job(struct front *f, uint32_t id);

/* Handles a message that has arrived. The bytes stay the caller's. */
void front_receive(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n);

/* Handles a message of the front end that could not be delivered, because no path to that node works. A node that
 * cannot be asked to end counts as ended. A load that cannot begin, and an nsdisk that cannot be asked to write back,
 * are failures. A process that waits for a lost reply is notified as soon as a path works again (front_recovered). */
void front_undeliverable(struct front *f, uint32_t to, uint32_t tag, const void *bytes, size_t n);
/* Sends the notices of lost replies again, because a link or node has recovered. */
void front_recovered(struct front *f);
/* Counts the volumes of an I/O node as missing: it is dead when the machine starts. */
void front_unreachable(struct front *f, uint32_t io_node);
/* Gives up waiting, because no event is left that could lead to an answer. While mounting, volumes that have not
 * reported count as missing, and the machine comes up without them. Later, nodes of a killed job and nsdisks that were
 * asked to stop count as unreachable. Returns false if the front end waits for none of these. */
bool front_give_up(struct front *f);

/* Refuses further jobs, and shuts the I/O nodes down when the last job has ended. */
void front_stop(struct front *f);
/* True when every nsdisk has answered N_SHUTDOWN. */
bool front_finished(const struct front *f);
/* True if a mount, an nsdisk or a shutdown failed. Failures of jobs do not count. */
bool front_failed(const struct front *f);
/* What the data cache of a drive of the topology's I/O node `index` has counted, after its shutdown; else NULL. */
const struct drive_cache_counts *front_cache_counts(const struct front *f, uint32_t index, uint32_t drive);
/* Where its nsdisk has them before that, in its own memory; 0: nowhere. */
uint32_t front_counts_va(const struct front *f, uint32_t index, uint32_t drive);

/* Answers requests and writes output for which the standard streams are ready now. */
void front_resume(struct front *f);
/* All jobs, ended ones included, oldest first. NULL: there is no job, or no further one. */
struct job *front_first_job(const struct front *f);
struct job *front_next_job(const struct job *j);

/* Describes in one line, for the deadlock report, what the front end still waits for. */
void front_describe_wait(const struct front *f, char *text, size_t bytes);
