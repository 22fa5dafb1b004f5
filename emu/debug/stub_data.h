/* The debugger in ncube, for its own files: serving.c, below stub_passes.c, below stub.c. */
#pragma once

#include "emu/debug/commands.h"
#include "emu/debug/stub.h"
#include "emu/debug/travel.h"

#define SIGNAL_INT 2

enum stub_state {
    STUB_IDLE,     /* no gdb, or no program */
    STUB_ENTERING, /* the program has not reached its entry */
    STUB_WAITING,  /* it has; gdb has not come */
    STUB_RUNNING,
    STUB_HALTING, /* as soon as nothing moves, gdb is told */
    STUB_STOPPED,
    STUB_LEAVING, /* another machine takes this one's place */
    STUB_FORWARD, /* nobody looks at the nodes yet (travel.h) */
    STUB_SEEKING, /* on it, the nodes are on their way to a place */
};

struct stub {
    int listener, fd; /* fd: -1: no gdb */
    uint16_t port;
    int look_ms;         /* or SIGNALS_FOREVER */
    bool expects, begun; /* a program will begin, or has */
    enum stub_state state;
    struct target target;
    struct session session;
    struct travel travel;
    bool goes_back;
    bool copied; /* other machines go on from where this one has been */
    bool behind; /* another one has come further with the host: this one goes no further than that */
    struct rsp rsp;
    char frame[RSP_FRAME_BYTES];
    size_t frame_bytes;
    bool repeats;                /* COMMAND_LEAVE_VIEW: the packet is still to be executed */
    bool awaits;                 /* gdb waits to be told why the nodes stand */
    bool stuck;                  /* and has been told that nothing moves any more */
    struct target_event entered; /* STUB_WAITING: the stop at the entry */
    uint64_t fault_pc;
    uint64_t let_go_ns, ran_ns; /* by the host's clock: when the nodes last went on, and how long they had run before */
    bool runs_all;              /* then no node was held, nor made a step */
    void (*entered_say)(void *ctx);
    void *ctx;
};
