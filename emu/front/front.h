/*
 * The front end: a message endpoint inside ncube. It gives subcubes to jobs (job.h), several at a time, passes messages
 * to the job that a node belongs to, waits for mounts and shuts the I/O nodes down. Knows messages, not QEMU and not
 * time: ncube calls it when a message has arrived and sends what it hands to `send`.
 *
 *   new -> mounting: N_MOUNTED of every drive -> up: jobs come and go
 *       -> stopping, when front_stop was called and no job runs: N_SHUTDOWN to every I/O node that still serves
 *       -> finished
 *
 * A job begun before all drives are mounted is loaded then. A volume that is missing, because its drive or I/O node is
 * dead, is told to the user and done without; one that is there and can't be mounted skips "up". An nsdisk that ends
 * kills all jobs. A node's messages count only for the job whose subcube it is in. Messages that make no sense are
 * refused with one line on `err` and change nothing.
 */
#ifndef NCUBE_FRONT_H
#define NCUBE_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/front/job.h"
#include "emu/model/topo.h"

struct front;

struct front_ops {
    struct job_ops job;
    /* May be NULL. A job has ended: its subcube is free again; it stays until front_forget_job, which must not be
     * called from here. */
    void (*ended)(void *ctx, uint32_t id);
};

struct front_options { /* what it points to outlives the front end */
    const struct topo *topo;
    int out, err;     /* what nsdisks write, and lines of the front end's own that concern no job */
    bool keeps_going; /* nothing waits for them (streams.h) */
};

/* 0, or -1 with one clear line in error. *front is the caller's. */
int front_new(struct front **front, const struct front_options *o, const struct front_ops *ops, void *ctx, char *error,
              size_t error_bytes);
void front_free(struct front *f);

/* The machine has booted: mounts are awaited (one N_MOUNTED per drive). */
void front_start(struct front *f);
/* True once every drive is mounted, until front_stop. */
bool front_is_up(const struct front *f);

/* Gives a job a subcube and loads it. SIGPIPE must be ignored by the process. 0, and its id (never 0, never used
 * again); or -1 with one clear line in error: as job_new, no such dimension, the machine stops; or, also with a line,
 * FRONT_BUSY: no subcube is free now. */
enum { FRONT_BUSY = 1 };
int front_begin_job(struct front *f, const struct job_options *o, uint32_t *id, char *error, size_t error_bytes);
/* Could it begin if all nodes were free? 0, or -1 with one clear line in error. Changes nothing. */
int front_check_job(struct front *f, const struct job_options *o, char *error, size_t error_bytes);
/* The job of that id, until front_forget_job; NULL: none. */
struct job *front_find_job(const struct front *f, uint32_t id);
/* Ends all nodes of a job; it has ended when they have confirmed it. */
void front_kill_job(struct front *f, uint32_t id);
/* Frees a job that has ended. */
void front_forget_job(struct front *f, uint32_t id);

/* A message has arrived. Bytes belong to the caller. */
void front_receive(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n);

/* A message that it sent has not arrived: there is no sound way to that node. Nodes that cannot be told to end count as
 * ended; a load that cannot begin, and an nsdisk that cannot be told to write back, are failures. Who waits for a reply
 * is told that it is lost, as soon as there is a way (front_recovered). */
void front_undeliverable(struct front *f, uint32_t to, uint32_t tag, const void *bytes, size_t n);
/* Something that was broken has recovered. */
void front_recovered(struct front *f);
/* That I/O node is dead when the machine starts: its volumes are missing. */
void front_unreachable(struct front *f, uint32_t io_node);
/* Nothing more can happen: what will not be heard of is given up. While mounts are awaited the volumes not heard of are
 * missing, and the machine comes up without them; nodes of a job that was killed, and nsdisks that are to stop, count
 * as out of reach. False: it waits for none of these. */
bool front_give_up(struct front *f);

/* No job comes any more: when the last has ended the I/O nodes are shut down. */
void front_stop(struct front *f);
/* True when every nsdisk has answered N_SHUTDOWN. */
bool front_finished(const struct front *f);
/* True if something but a job failed: a mount, an nsdisk, a shutdown. */
bool front_failed(const struct front *f);

/* Does what the standard streams of jobs are ready for now. */
void front_resume(struct front *f);
/* All jobs, ended ones included, oldest first. NULL: there is no job, or no further one. */
struct job *front_first_job(const struct front *f);
struct job *front_next_job(const struct job *j);

/* For the deadlock report: what the front end still waits for, as one line. */
void front_describe_wait(const struct front *f, char *text, size_t bytes);

#endif
