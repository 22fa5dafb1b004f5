/*
 * The plugin's harts: their counters and clocks, and how they stop (plugin.c has the rules).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/plugin/qemu_abi.h"
#include "emu/qemu/slots.h"
#include "vertex/contract/machine.h"

/* Fits into the host's instruction of the comparison. A clock is never set back from its grant by as much: user code
 * runs ahead by far less (RUN_AHEAD_CYCLES in emu/time/sched_grant.c). */
#define COUNTER_LIMIT (1ull << 30)

#define FIRST_MARK_CYCLES 2000u /* after the grant; then twice as far each time, up to */
#define LAST_MARK_CYCLES  100000u

#define LONG_TURN_CYCLES 500000u /* a hart that runs on for longer lets others of its carrier go first, at marks */
#define RACK_TURN_CYCLES 25000u  /* in a rack, those that have not begun: other hosts may wait for them */

/* One per hart, on separate cache lines: on shared ones, harts run three times slower. */
struct counter {
    _Alignas(128) uint64_t cycles;
    uint64_t mark;          /* cycles from the grant to the next mark */
    uint64_t apart;         /* from the mark before */
    uint64_t instructions;  /* of user code */
    uint64_t kernel_cycles; /* since the last user code */
    /* Of plugin_flush.h: the hart must not return to its block; and it comes to what it has executed already. */
    bool left, again;
    bool settle; /* END has set the clock; LEAVE or ENTER sets it again, so that the way there costs nothing: */
    uint64_t settled_cycles;
    /* The reservation that user code holds after this block, since the last trap; cycles from the grant, modulo
     * 2^64. */
    bool reserved;
    uint64_t reserved_at;    /* its lr */
    uint64_t reserved_since; /* the first of the lr before it that followed each other soon, without an sc */
    bool reaps;              /* the end of a send is a cause */
    uint64_t entered_cycles; /* the last ENTER */
    uint32_t stated;         /* 1 + row of a STATED that has not taken effect; 0: none */
    uint64_t stated_late;    /* its other argument */
    uint64_t returns;        /* of debug_area.h */
};

extern struct plugin {
    struct control *control;
    uint8_t *ram;    /* the whole RAM of the cabinet, */
    uint64_t ram_fd; /* and its memfd */
    uint64_t ram_bytes;
    uint64_t first;
    uint64_t statistics; /* not 0: count instructions and kernel cycles */
    uint64_t traps;      /* enum slot_traps */
    uint64_t code_most;  /* bytes of translated code; with more, the buffer is to be emptied */
    struct qemu_plugin_scoreboard *counters;
    qemu_plugin_u64 cycles, instructions, kernel_cycles, returns;
} plugin;

static inline struct slot *slot_of(unsigned hart)
{
    return &plugin.control->slot[plugin.first + hart];
}

static inline struct counter *counter_of(unsigned hart)
{
    return qemu_plugin_scoreboard_find(plugin.counters, hart);
}

static inline struct ncu_mailbox *mailbox_of(unsigned hart)
{
    return (struct ncu_mailbox *)(plugin.ram + CABINET_SHARED_BYTES + hart * plugin.ram_bytes + NCU_MAILBOX_PA);
}

/* Returns the cycles since the grant. */
static inline uint64_t counter_elapsed(const struct counter *c)
{
    return c->cycles - (COUNTER_LIMIT - c->mark);
}

static inline void counter_set(struct counter *c, uint64_t elapsed, uint64_t mark)
{
    c->mark = mark;
    c->cycles = COUNTER_LIMIT - mark + elapsed;
}

static inline uint64_t hart_cycles(unsigned hart)
{
    return slot_of(hart)->base_cycles + counter_elapsed(counter_of(hart));
}

/* The marks stay where they are, at their distance from the grant. */
static inline void hart_set_cycles(unsigned hart, uint64_t cycles)
{
    counter_set(counter_of(hart), cycles - slot_of(hart)->base_cycles, counter_of(hart)->mark);
}

/* Rings ncube's doorbell. */
void doorbell_ring(struct control *c);

/* Publishes that the hart is at `cycles` and executes no SEND or ARM for so long. */
void publish_progress(struct control *c, struct slot *s, uint64_t cycles, uint64_t quiet_cycles);

/* Tells ncube that the hart has stopped. */
void report_stop(unsigned hart);

/* Hands the hart to ncube and returns when it is granted again. */
void hart_stop(unsigned hart, enum slot_stop why, uint32_t op);

/* The hart will ring when it stops, and nobody waits for that any longer to ring for others. */
void hart_leave_batch(unsigned hart);

/* Cuts the budget so that user code stops after at most that many more cycles. */
void hart_limit_budget(unsigned hart, uint64_t cycles);
