/* Room and answers (wire.h). */
#include "libpio/mpi/messages/wire.h"

#include <stdlib.h>
#include <sysn.h>

#include "libpio/mpi/base/inside.h"
#include "vertex/contract/traps.h"

struct wire_peer *wire_peers;
int32_t wire_room_at_first, wire_eager_bytes, wire_most_owed;

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

int wire_tell(int process, enum wire_answer answer, uint32_t number, uint64_t bytes)
{
    struct wire_peer *p = wire_peer(process);
    const struct wire_control control = {
        .answer = answer, .room = wire_give_back(p), .number = number, .hurry = p->hurries, .bytes = bytes};

    return (int)trap_cwrite(&control, sizeof control, process, WIRE_CONTROL, mpi_world.group.context);
}

void wire_keep(int process, long bytes)
{
    struct wire_peer *p = wire_peer(process);
    bool hurried = p->hurries;

    p->kept += (int32_t)bytes;
    p->hurries = p->kept >= wire_room_at_first / 2 || (hurried && p->kept >= wire_room_at_first / 4);
    if (p->hurries && !hurried)
        wire_tell(process, WIRE_ROOM, 0, 0);
}
