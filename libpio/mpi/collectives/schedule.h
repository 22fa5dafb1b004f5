/*
 * Schedules: nonblocking collective calls [5.12], and the blocking ones that are the same and a wait: of neighbours,
 * and of intercommunicators.
 *
 * A schedule is a list of steps: sends, receives, and what this process does with its data. Those before a step `round`
 * have ended before those behind it begin. Any call that makes progress runs it on (engine.c).
 *
 * Its messages are those of a communicator of its own, the shadow, whose number is that of the program's communicator
 * and COMMS_MAX; their tag is the number of the call, which all members count alike, so several may be under way.
 */
#pragma once

#include "libpio/mpi/collectives/reduction.h"
#include "libpio/mpi/messages/requests.h"

struct schedule {
    struct mpi_comm *comm;   /* the program's */
    struct mpi_comm *shadow; /* where its messages are */
    const char *name;        /* of the call */
    int tag;
    int error; /* the first, a class; the schedule runs on, since others wait for its messages */
    struct mpi_note note;
    struct reduction reduction; /* its memory is freed with the schedule */
    /* Called when all steps are done without an error. True: it has added others. */
    bool (*end)(struct schedule *s);
    void *result, *about; /* for `end` */
    int number[4];

    struct mpi_request *request;
    struct schedule *next; /* of those that can run on */
    struct schedule_step *step;
    int steps, room, at;
    struct schedule_child *child;
    int children, used, pending; /* used: of this round */
    struct schedule_memory *memory;
    bool failed; /* there was no memory for a step */
};

/* Begins a schedule on a communicator; *error is set. NULL: no memory. The name is of the call that the process is
 * in. */
struct schedule *schedule_new(struct mpi_comm *c, int *error);

/* Makes the shadows of an intercommunicator; false: no memory. */
bool schedule_ready_for(struct mpi_comm *c);

/* Memory that is freed with it. NULL, and it cannot begin. */
void *schedule_take(struct schedule *s, long bytes);

/* Add steps. A peer that is MPI_PROC_NULL is none. */
void schedule_send(struct schedule *s, const void *buf, int count, const struct mpi_type *t, int peer);
void schedule_receive(struct schedule *s, void *buf, int count, const struct mpi_type *t, int peer);
/* The same with a member of the local group of an intercommunicator. */
void schedule_send_local(struct schedule *s, const void *buf, int count, const struct mpi_type *t, int peer);
void schedule_receive_local(struct schedule *s, void *buf, int count, const struct mpi_type *t, int peer);
/* into = low OP high, of all elements of s->reduction; `into` is one of the two. */
void schedule_combine(struct schedule *s, void *into, void *low, void *high);
/* Copies so many elements to others of the same size in all, or bytes. */
void schedule_copy(struct schedule *s, const void *from, int from_count, const struct mpi_type *from_type, void *to,
                   int to_count, const struct mpi_type *to_type);
void schedule_round(struct schedule *s);

/* Bytes, as a type. */
#define SCHEDULE_BYTES (&mpi_basic_types[HANDLE_INDEX(MPI_BYTE)])

/* Starts it, after checks with this result: frees it if that is an error, or there is no memory. The first gives the
 * program a request; the second waits for the end. Both return a class. */
int schedule_begin(struct schedule *s, int error, MPI_Request *request);
int schedule_run(struct schedule *s, int error);

/* ---- What several calls are made of: schedule_trees.c ---- */

/* The group of this process's own side. */
static inline const struct group *schedule_own_group(const struct schedule *s)
{
    return s->comm->local ? &s->comm->local->group : &s->comm->group;
}

/* In the own group, by a binomial tree around a rank: a broadcast, and the reduction of s->reduction.elements, which is
 * in the order of ranks if the operation does not commute. Both end with a round. */
void schedule_broadcast(struct schedule *s, void *buf, int count, const struct mpi_type *t, int root);
void schedule_reduce(struct schedule *s, int root);
