/*
 * What travels between two processes, and how much of it a receiver has room for.
 *
 * Most short messages are bare: data alone, of the type WIRE_BARE + 256 c + tag, where communicator and tag are small
 * numbers and little room is to be given back. A header would cost 8 bytes on the channel and two copies of them.
 *
 * Any other message of communicator c has the type c and begins with a struct wire_header. Its kind says where the data
 * is:
 *
 *   WIRE_SHORT  behind the header: up to WIRE_EAGER_BYTES
 *   WIRE_SYNC   the same, behind a struct wire_long; the receiver sends WIRE_MATCHED when a receive matches
 *   WIRE_ASKS   struct wire_long; the receiver answers with WIRE_ANSWER when a receive matches, and gets the data as
 *               type WIRE_DATA + number, in pieces of WIRE_PIECE_BYTES
 *
 * One message with both costs two copies more than a header and data apart; but on a channel that brings two messages
 * at a time the second waits while the first is copied, so that a stream would lose an eighth of the channel.
 *
 * Room. Whatever waits for a receive is in the receiver's memory, so each process grants each other one a number of
 * bytes. A message takes its length and WIRE_UNIT, for what the receiver notes about it; one that asks takes only the
 * latter. Room is given back when the data has been received: in the headers of messages to that process, or, if a
 * quarter of it is owed, by a message WIRE_ROOM. A send without room waits for it.
 *
 * A receive may be for a message that waits so. Therefore, while a receive or a probe waits, a receiver in whose memory
 * messages of a sender that nobody has received take half of the room lets that sender ask for some more without room
 * (`may_ask`), and for twice as many if it then still waits [3.5, progress]. So a flood stays with its senders, and no
 * more of it is noted than what lies before the message that is wanted. As no message at once takes more than a quarter
 * of the room, and less than a quarter is owed, a send waits for ever only where half is taken.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "libpio/mpi/base/inside.h"

enum wire_kind { WIRE_SHORT, WIRE_SYNC, WIRE_ASKS };

struct wire_header {
    int32_t tag;
    uint32_t kind_and_room; /* enum wire_kind in the two lowest bits; above them the room that is given back */
};

struct wire_long {
    struct wire_header header;
    uint64_t bytes;
    uint32_t number;
    uint32_t is_let; /* WIRE_ASKS: without room, as the receiver lets it */
};

enum wire_answer { WIRE_ROOM, WIRE_MATCHED, WIRE_ANSWER };

struct wire_control { /* of type WIRE_CONTROL */
    uint32_t answer;
    uint32_t room;
    uint32_t number;  /* of the message that it answers */
    uint32_t may_ask; /* so many messages more may ask without room */
    uint64_t bytes;   /* WIRE_ANSWER: how many are wanted */
};

#define WIRE_BARE       0x2000
#define WIRE_BARE_COMMS 32
#define WIRE_BARE_TAGS  256
_Static_assert(2 * COMMS_MAX <= WIRE_BARE && WIRE_BARE + WIRE_BARE_COMMS * WIRE_BARE_TAGS <= WIRE_CONTROL,
               "types do not overlap");

#define WIRE_PIECE_BYTES 16384
#define WIRE_EAGER_BYTES 16384 /* a channel's standard buffer takes it with its header (docs/vertex.md, Messages) */
#define WIRE_UNIT        128
#define WIRE_ROOM_BYTES  (4 * (WIRE_EAGER_BYTES + WIRE_UNIT)) /* for each pair; less if all together had more than */
#define WIRE_SHARE       8                                    /* 1/WIRE_SHARE of the memory */

struct wire_peer {
    int32_t room;         /* that this process has there */
    int32_t owed;         /* room that it gets back */
    int32_t kept;         /* room that messages take which nobody has received */
    uint16_t next_number; /* of a message to it whose data follows */
    uint16_t blocked;     /* sends that wait for room */
    uint16_t may_ask;     /* there, without room */
    uint16_t let, last;   /* it here: what has not come of it; and how many the last time */
    bool is_full;         /* half of the room is taken here */
    bool is_held;         /* it is full, and may not ask */
};

/* Gives a communicator its number, and bare messages, if it is small. Its group is made. */
void wire_number_comm(struct mpi_comm *c, int number);

/* Makes the table of all processes. MPI_ERR_NO_MEM. */
int wire_start(int processes, int64_t memory_bytes);
void wire_end(void);

extern struct wire_peer *wire_peers; /* by rank in MPI_COMM_WORLD */
extern int32_t wire_room_at_first, wire_eager_bytes;
extern int32_t wire_most_owed; /* a quarter of the room */

/* The entry of a process of the program, by N_PROCESS. */
static inline struct wire_peer *wire_peer(int process)
{
    return &wire_peers[collect_rank_of(&mpi_world.group, process)];
}

/* The next message's number to that process. */
uint32_t wire_new_number(struct wire_peer *p);

/* Half of what may be owed is given back in a header. */
static inline bool wire_owes_much(const struct wire_peer *p)
{
    return 2 * p->owed >= wire_most_owed;
}

/* What is owed, which the caller sends. */
static inline uint32_t wire_give_back(struct wire_peer *p)
{
    uint32_t room = (uint32_t)p->owed;

    p->owed = 0;
    return room;
}

static inline uint32_t wire_word(enum wire_kind kind, uint32_t room)
{
    return room << 2 | (uint32_t)kind;
}

/* Sends an answer. Returns 0 or a negative error. */
int wire_tell(int process, enum wire_answer answer, uint32_t number, uint64_t bytes);

/* Note that data of a message from that process has left memory; send WIRE_ROOM if it is time. */
static inline void wire_note(struct wire_peer *p, int process, long bytes)
{
    p->owed += (int32_t)bytes + WIRE_UNIT;
    if (p->owed >= wire_most_owed)
        wire_tell(process, WIRE_ROOM, 0, 0); /* a process that has ended needs none */
}

/* Notes that a message waits for a receive, or, with a negative number, no longer. */
void wire_keep(int process, long bytes);

extern int wire_wanted; /* receives and probes that wait for a message */
extern int wire_held;   /* processes that are */

/* Lets those of them ask from which a receive or probe waits for a message: this one; negative: any. */
void wire_let(int process);
/* Notes that a message has come which was let ask. */
void wire_let_came(int process);

static inline void wire_want(int process)
{
    wire_wanted++;
    if (wire_held > 0)
        wire_let(process);
}

static inline void wire_release(int process, long bytes)
{
    wire_note(wire_peer(process), process, bytes);
}
