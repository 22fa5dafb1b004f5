/* Room and answers (wire.h). */
#include "libpio/mpi/messages/wire.h"

#include <stdlib.h>
#include <sysn.h>

#include "libpio/mpi/base/inside.h"
#include "vertex/contract/traps.h"

struct wire_peer *wire_peers;
int32_t wire_room_at_first, wire_eager_bytes, wire_most_owed;
int wire_wanted, wire_held;

enum { LET_FIRST = 4, LET_MOST = 4096 };

int wire_start(int processes, int64_t memory_bytes)
{
    int64_t share = memory_bytes / WIRE_SHARE / processes;

    wire_room_at_first = share > WIRE_ROOM_BYTES ? WIRE_ROOM_BYTES : share < WIRE_UNIT ? WIRE_UNIT : (int32_t)share;
    wire_eager_bytes = wire_room_at_first / 4 < WIRE_UNIT ? -1 : wire_room_at_first / 4 - WIRE_UNIT;
    wire_most_owed = wire_room_at_first / 4;
    wire_peers = calloc((size_t)processes, sizeof *wire_peers);
    if (!wire_peers)
        return mpi_error(MPI_ERR_NO_MEM, "no memory for what it knows of %ld processes", processes, 0);
    for (int i = 0; i < processes; i++)
        wire_peers[i].room = i == mpi_world.group.rank ? 0 : wire_room_at_first; /* what a process sends itself stays */
    return MPI_SUCCESS;
}

void wire_end(void)
{
    free(wire_peers);
    wire_peers = NULL;
}

void wire_number_comm(struct mpi_comm *c, int number)
{
    bool are_nodes = !c->group.process && !mpi_world.group.process;

    c->number = number;
    c->bare_type = WIRE_BARE + number * WIRE_BARE_TAGS;
    c->bare_tags = number < WIRE_BARE_COMMS ? WIRE_BARE_TAGS : 0;
    c->bare_process = N_PROCESS(0, c->group.procid);
    c->bare_peers = are_nodes && wire_eager_bytes >= 0 ? wire_peers : NULL;
}

uint32_t wire_new_number(struct wire_peer *p)
{
    uint32_t number = p->next_number;

    p->next_number = (uint16_t)(number + 1 == WIRE_NUMBERS ? 0 : number + 1);
    return number;
}

static int tell(int process, enum wire_answer answer, uint32_t number, uint64_t bytes, uint32_t may_ask)
{
    struct wire_peer *p = wire_peer(process);
    const struct wire_control control = {
        .answer = answer, .room = wire_give_back(p), .number = number, .may_ask = may_ask, .bytes = bytes};

    return (int)trap_cwrite(&control, sizeof control, process, WIRE_CONTROL, mpi_world.group.context);
}

int wire_tell(int process, enum wire_answer answer, uint32_t number, uint64_t bytes)
{
    return tell(process, answer, number, bytes, 0);
}

static void set_held(struct wire_peer *p, bool held)
{
    wire_held += held - p->is_held;
    p->is_held = held;
}

static void let(struct wire_peer *p, int process, int messages)
{
    p->let = p->last = (uint16_t)(messages < LET_MOST ? messages : LET_MOST);
    set_held(p, false);
    tell(process, WIRE_ROOM, 0, 0, p->let);
}

/* A sender that is full and may not ask is held, unless something waits. */
static void look_at(struct wire_peer *p, int process)
{
    if (p->is_full && p->let == 0 && wire_wanted > 0)
        let(p, process, 2 * p->last);
    else
        set_held(p, p->is_full && p->let == 0);
}

void wire_keep(int process, long bytes)
{
    struct wire_peer *p = wire_peer(process);
    bool was_full = p->is_full;

    p->kept += (int32_t)bytes;
    p->is_full = p->kept >= wire_room_at_first / (was_full ? 4 : 2);
    if (p->is_full == was_full)
        return;
    p->last = LET_FIRST / 2;
    look_at(p, process);
}

void wire_let_came(int process)
{
    struct wire_peer *p = wire_peer(process);

    if (--p->let == 0)
        look_at(p, process);
}

void wire_let(int process)
{
    int first = process < 0 ? 0 : collect_rank_of(&mpi_world.group, process);
    int end = process < 0 ? mpi_world.group.size : first + 1;

    for (int i = first; i < end && wire_held > 0; i++)
        if (wire_peers[i].is_held)
            let(&wire_peers[i], collect_process(&mpi_world.group, i), LET_FIRST);
}
