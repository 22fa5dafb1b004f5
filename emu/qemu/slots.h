/*
 * The control segment: shared memory through which ncube and the plugins of its cabinets hand harts to each other.
 *
 * One memfd, mapped by ncube and by every QEMU process. A stopped hart belongs to ncube, a granted one to the plugin;
 * only the owner writes the fields of its slot, but for stop_soon.
 *
 *      ncube                                         plugin, in the hart's thread
 *      ----------------------------------------      -----------------------------------------
 *      base_cycles, budget_cycles, pass_cycles;
 *      handling, causes_cycles, shift_cycles
 *      go += 1, wake if asleep             ------>   runs; until its first post, now and then:
 *                                                    progress; rings if that is past `wanted`
 *      stop_soon, when the hart is needed  ------>   stops at its next look
 *                                                    cycles, why, op, posts, passed
 *                                          <------   stops += 1; on the list of stopped harts unless it is the
 *                                                    injector; rings
 *
 * Harts that take turns do not sleep on `go`: a grant puts them on their carrier's list, and ncube wakes the carrier
 * when it has granted all that may run.
 *
 * ncube's signal handlers ring the doorbell too, so that no wait misses a signal. A running hart looks at stop_soon
 * when its clock passes certain marks, not after a time of the host.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/yields.h"
#include "vertex/contract/machine.h"

enum slot_stop {
    SLOT_START = 1, /* the first stop, before the hart has executed anything that counts */
    SLOT_BUDGET,    /* in user mode: the next block would end at or after the budget; `cycles` is its end */
    SLOT_OP,        /* at an NCU instruction that needs an answer; its time is `cycles` */
    SLOT_POSTS,     /* the list of posts is full; nothing else */
};

/* Returns true if the plugin posts this instruction: the hart goes on at once, and there is no answer. */
static inline bool slot_op_is_posted(uint32_t op)
{
    return op == NCU_SEND || op == NCU_ARM || op == NCU_TIMER || op == NCU_DISK || op == NCU_REAP || op == NCU_END ||
           op == NCU_MARK;
}

enum slot_debug {
    SLOT_NO_DEBUG,
    SLOT_DEBUG_KERNEL, /* at debug_area.trap_pc of the kernel and at break_pc, set before the cabinets start */
    SLOT_DEBUG_ASKED,  /* before each instruction while ncube asks for it, and where the kernel begins and waits */
};

#define SLOT_PLACED_CYCLES 20000u /* reading registers costs the host no less than marks do */
#define SLOT_COST_CLASSES  32u

/* What the plugin reads when user code is left. */
enum slot_traps { SLOT_TRAPS_NOT, SLOT_TRAPS_WHY, SLOT_TRAPS_WHERE };

/* Reasons of a trap that is no system call. SLOT_TRAP_UNKNOWN: the plugin has not been told to look. */
enum { SLOT_TRAP_UNKNOWN = 0x10000, SLOT_TRAP_EXCEPTION, SLOT_TRAP_INTERRUPT };

struct slot_post {
    uint64_t cycles; /* time of the NCU instruction */
    uint32_t op;
    uint32_t pad;
    uint64_t arg[6];
};

/* An ENTER, for the account of its hart; or a CAUSES that has found none. */
struct slot_trap {
    uint64_t is_causes;
    uint64_t cycles;       /* its time */
    uint64_t user_since;   /* when the user code before it was resumed */
    uint64_t instructions; /* of user code since the start; 0 unless the plugin counts */
    uint64_t entry_cycles; /* of kernel code since the user code; 0 unless the plugin counts */
};

#define SLOT_PASSED 16u /* ENTERs and CAUSES that pass without a stop, between two stops */

#define SLOT_REGISTERS 76u /* of a hart: integers, floating point, the supervisor's */

struct slot {
    _Alignas(128) uint32_t go; /* futex: number of the grant */
    uint32_t asleep;           /* the hart's thread is in (or about to enter) its futex wait */
    uint64_t base_cycles;      /* clock of the hart at the grant */
    uint64_t budget_cycles;    /* user code runs only blocks that end before base + budget; a post cuts it short */
    uint64_t pass_cycles;      /* no cause comes before base + pass, unless by a post of the hart itself: an ENTER or
                                * CAUSES before that needs no stop. A post cuts it short */
    uint32_t arm_is_clear;     /* no header waits for an ARM of this hart: an ARM brings no cause before that, either */
    uint32_t batched;          /* rings only when it stops as the last of `control.batch`; the plugin clears it */
    uint32_t watch;            /* the next ENTER stops, and its registers are wanted */
    uint32_t stop_soon;        /* written by ncube while the hart runs */
    uint32_t handling;         /* causes are in the mailbox; the plugin clears it at CAUSES, */
    uint64_t causes_cycles;    /* whose time is this */
    uint32_t attention;        /* enum ncu_attention, for the mailbox; of ONLY the plugin clears it when it is seen */
    uint64_t shift_cycles;     /* from the start of the handling to the clock of the interrupted code; added at END */

    _Alignas(128) uint64_t progress; /* lower bound of the running hart's next request; only grows */
    uint64_t quiet;                  /* likewise, of its next SEND or ARM, unless there is a cause */
    uint32_t stops;                  /* number of times that the hart has stopped */
    uint32_t next_stopped;           /* 1 + slot of the next on the list, 0: none */
    uint32_t next_granted;           /* likewise, 1 + hart, on a carrier's list */
    uint64_t cycles;
    uint32_t thread;      /* gettid() of the hart's thread; from the first stop on; 0 if it takes turns */
    uint64_t user_since;  /* when the user code that runs or is stopped now was resumed */
    uint32_t exact;       /* mailbox.exact at the last LEAVE, */
    uint32_t attend;      /* and mailbox.attend */
    uint64_t quantum_end; /* clock at which the quantum of the user code ends; ncube begins the next one */
    uint32_t why;
    uint32_t op;
    uint64_t instructions; /* as in slot_trap */
    uint32_t trap;         /* at ENTER: why user code was left, a SLOT_TRAP_... or a system call's number */
    uint64_t entry_cycles; /* as in slot_trap */
    uint64_t user_pc;      /* of the block of user code that passed a mark last, also while the hart runs, */
    struct slot_frame {
        uint64_t ra, sp, fp, satp;
    } user_frame;                 /* and its registers, if it has computed for SLOT_PLACED_CYCLES; else sp = 0 */
    struct slot_frame trap_frame; /* at ENTER, with SLOT_TRAPS_WHERE; but sp is the address of the frame in Vertex */
    uint32_t posts, passed;
    struct slot_post post[NCU_POSTED];
    struct slot_trap passed_trap[SLOT_PASSED]; /* that have passed since the grant; CAUSES, too */
    uint64_t registers[SLOT_REGISTERS];        /* at ENTER, with `watch` */
};

/* A thread of a cabinet that executes its harts, where they take turns (plugin_turns.h). */
struct carrier {
    _Alignas(128) uint32_t granted; /* futex: 1 + hart that was granted last, the head of their list; 0: none */
    uint32_t asleep;                /* it is in (or about to enter) its futex wait */
    uint32_t thread;                /* its gettid(); 0: it has not begun */
    uint32_t processor;             /* of the host, on which ncube has put it, + 1; 0: it has not */
    struct useful useful;
    uint32_t code_due; /* the first of a cabinet: its QEMU needs SLOT_FLUSH soon; the plugin clears it */
};

/* An order to the first cabinet: to make a copy of itself (plugin_copy.h). Given by a grant of SLOT_COPY to its first
 * carrier, while all its harts are stopped and none has been granted. */
#define SLOT_COPY UINT32_MAX
struct slot_copy {
    uint64_t first;          /* slot of the copy's hart 0 */
    uint32_t ram_fd, log_fd; /* descriptors of ncube: the copy's RAM and where its output goes */
    int32_t process;         /* the answer: the copy's, or a negative errno; before, 0 */
};

/* An order to any cabinet, whose harts are all stopped: to empty its buffer for translated code (plugin_flush.h). Given
 * as SLOT_COPY is. */
#define SLOT_FLUSH (UINT32_MAX - 1)
enum { SLOT_FLUSH_DONE = 1, SLOT_FLUSH_REFUSED }; /* the answer */

/* An order to any cabinet whose harts are all stopped or in debug stops: to write what registers the stopped ones have
 * (debug_area.h). Given as SLOT_COPY is. */
#define SLOT_NOTE   (UINT32_MAX - 2)
#define SLOT_ORDERS SLOT_NOTE /* the least order */

/* Of control.asleep: a rack is in (or about to enter) poll, and woken by its wake_fd. */
#define SLOT_POLLS 2u

struct control {
    _Alignas(128) uint32_t doorbell; /* futex */
    uint32_t asleep;                 /* ncube is in (or about to enter) its futex wait, or SLOT_POLLS */
    _Alignas(128) uint32_t stopped;  /* 1 + slot of the hart that stopped last, the head of their list; 0: none */
    _Alignas(128) uint64_t wanted;   /* a running hart that passes this time rings the doorbell, unless it is batched */
    _Alignas(128) uint32_t batch;    /* batched harts that run */
    _Alignas(128) uint32_t translated; /* blocks that QEMU has translated; may wrap */
    struct useful useful;              /* of ncube */
    struct patience patience;          /* of ncube and the carriers */
    uint32_t code_due;                 /* number of times that a carrier's code_due was set */
    /* fixed before the first grant: */
    uint64_t quantum_cycles;    /* of user code, from LEAVE on: NCU_QUANTUM_CYCLES, but in tests */
    uint64_t run_on_cycles;     /* how far user code runs on after a post before the hart stops */
    uint64_t trap_quiet_cycles; /* from ENTER, */
    uint64_t user_quiet_cycles; /* and from user code, no SEND or ARM comes sooner, unless there is a cause */
    uint64_t wake_quiet_cycles; /* likewise, from CAUSES */
    uint64_t arrival_cycles;    /* no SEND brings a cause to another node sooner; 0: a SEND may fail, at once */
    uint64_t answer_cycles;     /* and no message or ARM because of that cause is sooner */
    /* fixed before the cabinets start: */
    uint64_t debug_offset;    /* from here to the debug area (debug_area.h) */
    uint32_t debug;           /* enum slot_debug: where harts look at it */
    uint32_t processors;      /* of the host, for harts that take turns; 0: each hart has its own thread */
    uint64_t carriers_offset; /* from here to the carriers */
    uint32_t wake_fd;         /* an eventfd that the cabinets have inherited, of a rack */
    struct slot_copy copy;
    int32_t flushed, noted;                                    /* the answers to SLOT_FLUSH and SLOT_NOTE; before, 0 */
    _Alignas(128) uint32_t cycles_of_class[SLOT_COST_CLASSES]; /* the cost table, by enum cost_class */
    struct slot slot[]; /* by cabinet, then hart; each cabinet's injector follows its nodes */
};

/* Puts a slot at the head of a list that others may take or extend meanwhile: *head becomes `own`, and what it was is
 * *next, and returned. */
static inline uint32_t slots_push(uint32_t *head, uint32_t own, uint32_t *next)
{
    uint32_t before = __atomic_load_n(head, __ATOMIC_SEQ_CST);

    do
        *next = before;
    while (!__atomic_compare_exchange_n(head, &before, own, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return before;
}

/* Returns the carriers of the cabinet whose first slot this is. */
static inline struct carrier *slots_carrier(struct control *c, uint64_t first)
{
    return (struct carrier *)((uint8_t *)c + c->carriers_offset) + first;
}

/* Returns how many carriers a cabinet of so many harts has: one for each processor. */
static inline uint32_t slots_carriers(const struct control *c, uint32_t harts)
{
    return c->processors < harts ? c->processors : harts;
}
