/*
 * Private to front*.c: the front end's state, and what its parts call of each other.
 *
 *   front_messages.c ----> front.c         phases: mounting, up, stopping
 *          |                  |
 *          +------> front_jobs.c           the list of jobs
 *                        |
 *                   front_stop.c           the end of the last phases
 *
 * Each calls only those below it.
 */
#pragma once

#include "emu/front/front.h"
#include "emu/front/ionodes.h"
#include "emu/front/pipes.h"
#include "emu/front/repeats.h"
#include "emu/job/subcube.h"
#include "emu/model/owed_notices.h"

enum phase { PHASE_NEW, PHASE_MOUNTING, PHASE_UP, PHASE_STOPPING, PHASE_FINISHED };

struct front {
    struct front_options options;
    struct front_ops ops;
    void *ctx;
    enum phase phase;
    bool stop; /* when the last job has ended */
    /* for I/O nodes and the front end's own lines */
    struct streams streams;
    struct lines lines;
    struct repeats repeats; /* lines that the I/O nodes have printed; as NODE_HOST's, messages that are refused */
    struct hostfs *files;
    struct load_volume *volume; /* of every drive in the machine */
    uint32_t volumes;
    char *striped; /* the text of striped volumes, and its length */
    uint32_t striped_bytes;
    struct io_nodes io;
    struct owed owed;
    /* jobs */
    struct subcubes *subcubes;
    TAILQ_HEAD(, job) jobs; /* oldest first; those that have ended have no subcube */
    uint32_t last_id;
    struct pipes pipes;
};

static inline bool front_has_io_node(const struct front *f, uint32_t node)
{
    return io_nodes_find(&f->io, node) >= 0;
}

/* Phases: front.c and front_stop.c. Each ends a phase if nothing holds it up any longer. */
void front_leave_mounting(struct front *f);
void front_stop_if_idle(struct front *f);
void front_finish_if_stopped(struct front *f);
/* Stops the I/O nodes, whatever runs. */
void front_shut_down(struct front *f);
/* Prints how often the lines came that were printed once. */
void front_tell_repeats(struct front *f);

/* Jobs: front_jobs.c. */

/* The running job that has the node in its subcube, or NULL. */
struct job *front_job_of(const struct front *f, uint32_t node);
/* Loads every job that has not ended. */
void front_load_jobs(struct front *f);
/* Ends every job. */
void front_kill_jobs(struct front *f);
/* Frees the subcube of a job whose last node has exited, and reports the end to the owner. */
void front_end_if_exited(struct front *f, struct job *j);
/* If the job is being killed, kills those whose programs have met one of its programs at a pipe. */
void front_kill_partners(struct front *f, const struct job *j);
/* Counts the nodes of killed jobs as ended. False if there is none. */
bool front_give_up_killed_jobs(struct front *f);
/* Tells the users of running jobs with an error stream of their own that an nsdisk has ended; the message about its
 * cause went to the machine's error stream. */
void front_tell_users(struct front *f, uint32_t io_node);
/* For the deadlock report, one line. */
void front_describe_jobs(const struct front *f, char *text, size_t bytes);
