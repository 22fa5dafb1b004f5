/*
 * Sends and receives under way (send.c, receive.c), and the way on for all of them (engine.c).
 *
 * A blocking call has its request on its stack, the others in the table of requests.c.
 *
 *   send     done at once;  or waits for room -> asks -> answered, done
 *   receive  waits for a message -> done;  or its data lands in pieces -> done
 */
#pragma once

#include "libpio/mpi/types/datatype.h"
#include "libpio/mpi/base/inside.h"
#include "libpio/mpi/messages/wire.h"

enum mpi_mode {
    MODE_STANDARD,
    MODE_BUFFERED,
    MODE_SYNCHRONOUS,
    MODE_READY,
    MODE_RECEIVE,
    MODE_SCHEDULE, /* a collective call (schedule.h) */
    MODE_GENERAL   /* the program's (general_requests.c) */
};

struct mpi_request {
    struct mpi_entry entry;            /* first: in the queue of receives, with source and tag */
    struct mpi_request *next, *before; /* in one of the lists below */
    enum mpi_mode mode;
    struct mpi_comm *comm;
    void *buf;
    int count;
    const struct mpi_type *type;
    MPI_Datatype datatype;
    const char *name; /* of a collective call */
    int peer, tag;    /* a rank, MPI_ANY_SOURCE or MPI_PROC_NULL */
    int process;      /* of the peer, if there is one */
    long bytes;       /* to send; the most to receive, later of the message */
    long coming;      /* a receive: of the message's, those that come in pieces */
    long moved;       /* of them, those that are there */
    uint32_t number;  /* of the message */
    bool waits;       /* a send: for room */
    bool done;
    int error;            /* class, when done, */
    struct mpi_note note; /* and if it is not MPI_SUCCESS */
    MPI_Status status;    /* when done */

    /* requests.c */
    MPI_Request handle;
    bool is_persistent, is_active;
    void (*forget)(struct mpi_request *r); /* called when it is done; NULL: somebody waits for it */
};

/* A message that no receive has matched yet. */
struct mpi_arrival {
    struct mpi_entry entry; /* first */
    struct mpi_comm *comm;
    int process;
    enum wire_kind kind;
    long bytes;
    uint32_t number;
    long room;               /* that it takes */
    struct mpi_request *own; /* a send of this process to itself whose data is still there; NULL: none */
    char data[];
};

struct mpi_list {
    struct mpi_request *first, *last;
};

void list_add(struct mpi_list *l, struct mpi_request *r);
void list_remove(struct mpi_list *l, struct mpi_request *r);

/* Marks it as done, with a class of errors. */
void request_finish(struct mpi_request *r, int error);

/* ---- Receives: receive.c ---- */

/* Begins a receive. */
void receive_start(struct mpi_request *r);
/* Takes a receive out of the queue of those that wait for a message. */
void receive_unpost(struct mpi_comm *c, struct mpi_entry *e);
/* Receives a message that has been taken out of its queue, and frees it. */
void receive_arrival(struct mpi_request *r, struct mpi_arrival *m);
/* Ends one that waits for a message; false: it does not. */
bool receive_cancel(struct mpi_request *r);
/* A header of communicator c has come, with what follows it in the message. */
void receive_message(int number, int process, const void *message, long bytes);
/* Gives a message to a receive that is in no queue. */
void receive_give(struct mpi_request *r, int process, const void *message, long bytes);
/* Whether data is to come in pieces. */
bool receives_data(void);
/* Takes a piece of data that waits, or, if it is not NULL, the one at `piece`. */
void receive_data(int process, int type, const void *piece, long bytes);
/* A message from that process is lost. */
void receive_lose(int process, int type);
/* Messages for a communicator that is being made wait until this. */
void receive_early(struct mpi_comm *comm);
/* Drops the messages of a communicator that nobody has received, and gives their room back, or does not. */
void receive_drop_all(struct mpi_comm *comm, bool gives_back);
/* Makes sure that there is memory for a message that nobody waits for. MPI_ERR_NO_MEM. */
int receive_prepare(void);
extern struct mpi_arrival *receive_reserve; /* this memory */
void receive_end(void);

/* ---- Sends: send.c ---- */

/* Where a short message is put together: a struct wire_header right before `data`. */
struct send_message {
    struct wire_long header;
    char data[WIRE_EAGER_BYTES];
};
extern struct send_message send_out;

void send_start(struct mpi_request *r);
/* Room that a header from that process gives back. */
void send_room(int process, uint32_t room);
/* An answer. */
void send_continue(int process, const struct wire_control *control);
/* Sends to that process which wait for it are given up. */
void send_lose(int process);
bool sends_are_under_way(void);

/* ---- engine.c ---- */

/* Handles a message, if one is there or can be waited for. True: one has been. */
bool engine_step(bool waits);
/* Runs a schedule on that can; false: there is none. NULL: the program has none. */
extern bool (*mpi_go_on)(void);
/* Takes a message of a collective call that some request waits for; or waits until one, or any other message, is there.
 * NULL: the program has no such requests (icoll_hardware.c). */
enum engine_took { ENGINE_TOOK_NOTHING, ENGINE_TOOK, ENGINE_SOMETHING_CAME };
extern enum engine_took (*mpi_look_for_takes)(bool waits);
/* Takes a message of a collective call, of all whose lengths are known: another one is dropped. Returns its bytes or a
 * negative error. */
int engine_take(int process, void *buf, long bytes, int type);
/* Handles all that are there. */
void engine_poll(void);
/* Waits until it is done; returns its error. */
int engine_wait(struct mpi_request *r);
/* What has been read last: read to `header`; the header of a bare message is made in `bare`. */
struct engine_message {
    struct wire_header bare;
    struct wire_long header;
    char data[WIRE_EAGER_BYTES];
};
extern struct engine_message engine_in;
#define ENGINE_MOST_BYTES (sizeof engine_in - sizeof engine_in.bare)

/* Begins a receive of no queue, from whose source a message of n bytes has been read; n < 0: an error. Handles others
 * until the receive has one. */
void engine_receive_from(struct mpi_request *r, int process, int type, long n);
/* Begins a receive and waits for its end. */
int engine_receive(struct mpi_request *r);

/* The group of a communicator, ready for an operation of collect.h that begins now. */
struct group *engine_group(struct mpi_comm *c);

/* The class of a result of an operation of collect.h. A message that was longer than expected is dropped. */
int engine_error(struct mpi_comm *c, int result, int type);

/* ---- arguments.c ---- */

/* Check the arguments of a call and describe it; MPI_SUCCESS or a class. */
int check_send(struct mpi_request *r, struct mpi_comm *c, const void *buf, int count, MPI_Datatype datatype, int dest,
               int tag);
int check_receive(struct mpi_request *r, struct mpi_comm *c, void *buf, int count, MPI_Datatype datatype, int source,
                  int tag);
int check_source_and_tag(const struct mpi_comm *c, int source, int tag);
const struct mpi_type *check_data(const void *buf, int count, MPI_Datatype datatype, int *error);

/* Make a status for the program, unless it is NULL. */
void status_give(MPI_Status *status, const struct mpi_request *r);
static inline void status_set(MPI_Status *status, int source, int tag, MPI_Count bytes)
{
    if (!status)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->mpi_bytes = bytes;
    status->mpi_cancelled = 0;
}
