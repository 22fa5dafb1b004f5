/*
 * What all of MPI's functions share: the state of a process, communicators, the way into a call and out of it.
 *
 * MPI_Init makes one group of all processes (libpio/group/group.h); every communicator is a number below COMMS_MAX in
 * the context of this group, and a group made there without a message. The types of messages in that context:
 *
 *   c                       a message of communicator c, or its header (wire.h)
 *   COMMS_MAX + c           the same, of a collective call that is a schedule (schedule.h)
 *   WIRE_BARE + ..          a bare message of communicator and tag (wire.h)
 *   WIRE_CONTROL            answers, and room given back
 *   WIRE_DATA + n           data of message n of this sender, in pieces, for which the receiver has asked
 *   COLLECTIVE_TYPE(c, op)  a collective call of communicator c; a wildcard does not match these
 *   mpi_rooted_type(c, op)  a collective call with a root; nor these
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/group/collect.h"
#include "libpio/group/members.h"
#include "libpio/mpi/base/match.h"
#include "libpio/mpi/mpi.h"
#include "vertex/contract/abi.h"

#define COMMS_MAX    1024
#define WIRE_CONTROL 0x4000
#define WIRE_DATA    0x4001
#define WIRE_NUMBERS 0x3fff /* of messages whose data follows, used in turn */

enum collective {
    COLLECTIVE_END, /* of communicator 0: group_free, in MPI_Finalize */
    COLLECTIVE_BARRIER,
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_ALLTOALL,
    COLLECTIVE_SCAN,
    COLLECTIVE_EXSCAN,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_MAKE,
    COLLECTIVE_CALLS = 16
};
#define COLLECTIVE_TYPE(number, op) ((int)TYPE_COLLECTIVE + COLLECTIVE_CALLS * (number) + (op))
enum rooted {
    ROOTED_BCAST,
    ROOTED_REDUCE,
    ROOTED_GATHER,
    ROOTED_GATHERV,
    ROOTED_SCATTER,
    ROOTED_SCATTERV,
    ROOTED_IBCAST
};
#define ROOTED_STEP 7 /* from the types of a call to those of the next one: odd, and as many as there are kinds */
_Static_assert(ROOTED_IBCAST < ROOTED_STEP && COLLECTIVE_TYPE(2 * COMMS_MAX, 0) <= 0x10000, "there are types");
_Static_assert(2 * COMMS_MAX <= WIRE_CONTROL, "two types for each communicator");
_Static_assert(WIRE_DATA + WIRE_NUMBERS == (int)TYPE_COLLECTIVE && COLLECTIVE_TYPE(COMMS_MAX, 0) <= 0x10000,
               "types do not overlap");

/* What a handle is: its kind, an index, and in the upper half how often the index has been used before. */
#define HANDLE_KIND(handle)  ((uintptr_t)(handle) >> 24 & 0xff)
#define HANDLE_INDEX(handle) ((uintptr_t)(handle)&0xffffff)
#define HANDLE_OF(type, kind, index, nth) \
    ((type)((uintptr_t)(nth) << 32 | (uintptr_t)(kind) << 24 | (uintptr_t)(index)))

enum handle_kind {
    HANDLE_COMM = 0x11,
    HANDLE_REQUEST,
    HANDLE_MESSAGE,
    HANDLE_ERRHANDLER,
    HANDLE_TYPE,
    HANDLE_OP,
    HANDLE_GROUP,
    HANDLE_INFO,
    HANDLE_FILE
};

/* In an intercommunicator [6.6], `group` is the remote group, with this process's rank in its own one, which is that of
 * `local`. */
struct mpi_comm {
    struct group group;
    struct mpi_comm *local; /* NULL: it is an intracommunicator */
    struct mpi_comm *next;  /* of those that the program has freed */
    int *uses;              /* of the lists of its group, by communicators; NULL: they are of MPI_COMM_WORLD or SELF */
    int number;
    /* Of bare messages (wire.h): the type for tag 0; which tags have them; and where ranks are nodes, what is known of
     * rank 0, and its process. NULL: they are not, or no message goes at once. */
    int bare_type;
    uint32_t bare_tags;
    struct wire_peer *bare_peers;
    int bare_process;
    MPI_Comm handle;
    MPI_Errhandler errhandler;
    struct mpi_queue posted;      /* receives that wait for a message: struct mpi_request */
    struct mpi_queue unexpected;  /* messages that wait for a receive: struct mpi_arrival */
    struct attribute *attributes; /* keyvals.c */
    struct topology *topology;    /* topology.c */
    uint32_t next_tag;            /* of a shadow: of the next schedule */
    uint32_t rooted;              /* grows with each collective call that has a root */
    char name[MPI_MAX_OBJECT_NAME] __attribute__((aligned(8))); /* as a record for ncube gets it (mpi_tell_other) */
};

enum mpi_phase { MPI_NOT_YET, MPI_RUNS, MPI_OVER };

/* The type of the next call with a root, of one kind. It has the number of the call: so what a member has sent which
 * takes another one for the root is not taken for the data of a later call. */
static inline int mpi_rooted_type(struct mpi_comm *c, enum rooted op)
{
    c->rooted += ROOTED_STEP;
    return COLLECTIVE_TYPE(COMMS_MAX + c->number, 0) + (int)((c->rooted + op) % COLLECTIVE_CALLS);
}

struct mpi_world {
    struct mpi_comm *comm[2 * COMMS_MAX]; /* by number; then their shadows, which schedules use */
    enum mpi_phase phase;
    struct group group; /* of all processes; its context has all messages */
    int process;        /* the caller's */
};
extern struct mpi_world mpi_world;

/* Frees a communicator that the program has made: set by comm.c, if it has made any. */
extern void (*mpi_drop_comm)(struct mpi_comm *c);

/* ---- The call that the process is in ---- */

/* For lines about errors, and for reports (tell of vertex/contract/abi.h). */
struct mpi_call {
    const char *name; /* 32 bytes from there: "MPI_Send" */
    const struct mpi_comm *comm;
    int peer, tag;
    bool sends; /* the peer is to receive */
};
extern struct mpi_call mpi_call;

#define MPI_NO_PEER ABI_CALL_NONE

/* Begins a call: its name, communicator, and the peer and tag that it waits for. */
#define MPI_ENTER(call, comm, peer, tag)                                                  \
    do {                                                                                  \
        static const char mpi_name_of_call[32] __attribute__((aligned(8))) = "MPI_" call; \
        mpi_call = (struct mpi_call){mpi_name_of_call, comm, peer, tag, false};           \
    } while (0)

/* Where ncube finds what a call waits for: known from MPI_Init on (returns the bytes of the node's memory); written
 * before a wait; a communicator has another name. */
long mpi_tell_start(int context);
void mpi_tell_anew(void);
void mpi_tell_wait(void);
void mpi_tell_other(const char *name, const struct mpi_comm *c);

extern struct abi_call mpi_told; /* what ncube reads: */
extern const char *mpi_told_name;
extern const struct mpi_comm *mpi_told_comm;

/* Whether the record has this name and communicator. */
static inline bool mpi_tells(const char *name, const struct mpi_comm *c)
{
    return name == mpi_told_name && c == mpi_told_comm;
}

static inline void mpi_tell_peer(int peer, int tag)
{
    mpi_told.peer = peer;
    mpi_told.tag = tag;
    mpi_told.sends = 0;
}

/* NULL: no such communicator. */
/* What errors call it. */
static inline const char *mpi_comm_name(const struct mpi_comm *c)
{
    return c->name[0] ? c->name : "a communicator without a name";
}

static inline struct mpi_comm *mpi_find_comm(MPI_Comm handle)
{
    struct mpi_comm *c = mpi_world.comm[(uintptr_t)handle % COMMS_MAX];

    return c && c->handle == handle ? c : NULL;
}

/* ---- Errors: errors.c ---- */

/* Notes why the call fails, with at most two numbers for the text, and returns the class. */
int mpi_error(int class, const char *why, long first, long second);

/* What has been noted, for an error of a request that a later call tells of; the next ones would take its place. */
struct mpi_note {
    int class; /* MPI_SUCCESS: nothing is noted */
    int of;    /* the class to tell: that of the request, where `class` is MPI_ERR_IN_STATUS */
    const char *why;
    long first, second;
};
struct mpi_note mpi_noted(int class);
/* Notes it again; the call returns `class`. */
int mpi_error_again(const struct mpi_note *note, int class);

/* What a call on that communicator returns after an error, from 0 on: calls the error handler, which may not return.
 * ncube run --check stops there, and in io_fail of io_file.h. */
int mpi_fail(struct mpi_comm *comm, int class);

/* The way out of a call. */
static inline int mpi_leave(struct mpi_comm *comm, int class)
{
    return class == MPI_SUCCESS ? class : mpi_fail(comm, class);
}

/* The same where a handle is no communicator, and for calls without one. They end the program if MPI does not run. */
int mpi_fail_comm(MPI_Comm handle);
int mpi_fail_alone(int class);

/* Ends the program if MPI does not run. */
void mpi_must_run(void);

/* What a failed message, with a negative error of <n_errno.h> to or from a rank, is as a class. */
int mpi_error_of_message(const struct mpi_comm *comm, long result, int rank);

/* Says on the standard error in which call, on which communicator (NULL: without one) and rank, what has happened: in
 * one message, without stdio, which asks the front end first what it writes to. */
void mpi_say(const struct mpi_comm *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Says what has been noted of an error, and ends the job with status 1. */
_Noreturn void mpi_end_by_error(const struct mpi_comm *c, int class);

/* Ends the job with that status. */
_Noreturn void mpi_end_job(int status);

/* The text of a class; NULL: there is none. */
const char *mpi_class_text(int class);
extern const char *const mpi_class_texts[MPI_ERR_LASTCODE + 1]; /* NULL ends them: for ncube run --check */

/* Codes that the program has added (error_codes.c): the last one, NULL: there is none; a code's class, or, if it is
 * none, the code itself; and its text, NULL: it is none. */
extern int *mpi_last_code;
int codes_class(int code) __attribute__((weak));
const char *codes_text(int code) __attribute__((weak));
/* The file of the last error of a file, if that was of this class; NULL. Only programs that have files have it. */
const char *io_error_text(int class) __attribute__((weak));

/* Calls a function of the program for errors; NULL: it has none. Set by errhandlers.c. */
extern void (*mpi_call_errhandler)(struct mpi_comm *comm, int code);

/* Makes an error handler of a function with such arguments; a function of one, NULL: it is predefined; the class of a
 * handle that is none. Counts its uses. All in errhandlers.c. */
typedef void mpi_any_errhandler(void *handle, int *code);
int mpi_new_errhandler(mpi_any_errhandler *function, MPI_Errhandler *errhandler);
mpi_any_errhandler *mpi_errhandler_function(MPI_Errhandler handle);
int mpi_check_errhandler(MPI_Errhandler handle);
void mpi_use_errhandler(MPI_Errhandler handle, int uses);

/* MPI_F is weak, so that a tool can have its own one, which calls PMPI_F. */
#define MPI_NAME(name) __typeof(PMPI_##name) MPI_##name __attribute__((weak, alias("PMPI_" #name)))
