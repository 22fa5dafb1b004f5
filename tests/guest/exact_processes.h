/*
 * The processes of random programs of make exact, by number: that of procid 0 on each node, then those of procid 1, and
 * so on. A program with several on each node is built with -DPROCS=n -Nprocs n.
 */
#pragma once

#include "check.h"

#ifndef PROCS
#define PROCS 1
#endif

enum { TYPE_READY = 100, TYPE_GO };

static int self, processes;

static inline int address_of(int process)
{
    return N_PROCESS(process % node_count(), process / node_count());
}

static inline int process_at(int address)
{
    return N_NODE_OF(address) + N_PROCID_OF(address) * node_count();
}

static inline void count_processes(void)
{
    processes = node_count() * PROCS;
    self = process_at(npid());
}

static inline void expect_empty(int address, int type)
{
    check_equal(nread(NULL, 0, &address, &type, NULL), 0);
}

/* All of them meet; nsync is among the processes of one procid. */
static inline void meet(void)
{
    check_equal(nwrite(NULL, 0, 0, TYPE_READY, NULL), 0);
    for (int i = 0; self == 0 && i < processes; i++)
        expect_empty(N_ANY, TYPE_READY);
    for (int i = 0; self == 0 && i < processes; i++)
        check_equal(nwrite(NULL, 0, address_of(i), TYPE_GO, NULL), 0);
    expect_empty(0, TYPE_GO);
}
