/*
 * The scheduler's data, for its parts: sched_process.c carries out events, requests and causes in order of time;
 * sched_grant.c grants harts their runs, and sched.c collects what they have done.
 */
#pragma once

#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/time/account.h"
#include "emu/time/clocks.h"
#include "emu/time/sched.h"
#include "vertex/contract/machine.h"

enum hart_state {
    HART_RUNNABLE, /* may be granted */
    HART_RUNNING,  /* has been granted and has not been found stopped */
    HART_AT_TRAP,  /* stopped at ENTER, before its trap has begun */
    HART_WAITING,  /* stopped at another NCU instruction, which has not been processed */
    HART_IDLE,     /* waits for sched_wake */
};

struct request {
    uint32_t op;
    struct hart *hart;
    uint64_t arg[6];
};

/* A hart may run on with so many traps that are not in its account yet; then it may pass SLOT_PASSED, and stops at the
 * next. */
#define TRAPS_KEPT (2 * SLOT_PASSED + 1)

enum handling { /* of causes, in an interrupt or before a trap */
                HANDLING_NONE,
                HANDLING_BEGUN,  /* CAUSES is a request, made for the hart; it stays stopped until then */
                HANDLING_CAUSES, /* END is still to come */
};

enum poll { /* sched_poll.c */
            POLL_NO,
            POLL_WATCHED, /* its next ENTER stops, and its state is kept there */
            POLL_KEPT,    /* and compared at the one after that */
            POLL_SAME,    /* it is the same at each ENTER */
};

struct hart {
    struct sched *sched;
    uint32_t index;
    enum hart_state state;
    uint32_t ready_at;      /* position in sched.ready, while runnable */
    uint32_t unprocessed;   /* requests in the queue, but for traps */
    uint64_t clock;         /* at the next grant */
    uint64_t granted_clock; /* at the last grant */
    uint64_t window;        /* W at the last grant */
    bool may_run_ahead;     /* that grant lets user code run beyond it */
    uint32_t long_runs;     /* > 0: one of the last grants was a long one */
    uint64_t pass;          /* the last grant lets traps before that begin */
    bool runs_short;        /* counts in sched.n_short */
    uint32_t taken;         /* traps that have passed since the last grant and are in `trap` */
    uint64_t due;           /* time of the first cause that waits while it is not idle, or EVENTQ_NEVER */
    uint64_t user_since;    /* when the user code that runs or is stopped was resumed */
    bool at_idle;           /* waits at IDLE, whose request is in sched.silent */
    bool takes_causes;      /* its last NCU instruction, an IDLE or CAUSES, gives it causes, */
    uint64_t silent_cycles; /* and no request follows sooner; else 0 */
    uint64_t silent_until;  /* since it was resumed last */
    bool in_user;           /* stopped in front of a block of user code, whose end is `clock`, or: */
    bool at_quantum_op;     /* behind that block, which has been interrupted, at QUANTUM */
    uint32_t attention;     /* for the next grant */
    /* Traps that are not in the account yet, a ring; the last is the one that has not begun, in HART_AT_TRAP. */
    struct slot_trap trap[TRAPS_KEPT];
    uint32_t first_trap, traps;
    uint64_t trap_event; /* of the first, in sched.silent */
    uint64_t begun;      /* ENTER of the last trap that has begun */
    /* Polling: */
    enum poll poll;
    uint32_t polls, polls_wanted; /* traps that were the same time apart; so many are enough to look closer */
    uint64_t period_cycles, period_instructions;
    struct slot_trap last_trap;
    uint64_t more_instructions; /* that the plugin has not counted, as the hart has not executed them */
    /* While causes are handled: */
    enum handling handling;
    bool raise;           /* SSWI is to be written before the next grant */
    bool hand_over;       /* the next grant is to hand the causes to the plugin */
    uint64_t start;       /* of the handling */
    uint64_t held_since;  /* when the interrupted user code had been resumed */
    uint64_t interrupted; /* clock of the interrupted user code or ENTER */
    struct account account;
    struct request request[NCU_POSTED + 1];
};

struct sched {
    struct eventq *events;
    struct eventq *requests; /* order = hart index */
    struct eventq *silent;   /* likewise: ENTER and IDLE, which have no effect on other harts by themselves */
    struct harts *harts;
    const uint32_t *slot_of;
    uint32_t *hart_of; /* the inverse */
    uint32_t count;
    uint64_t lookahead_cycles;
    uint64_t wake_quiet_cycles, idle_silent_cycles, causes_silent_cycles, trap_silent_cycles;
    bool passes;        /* traps may begin out of turn */
    bool strict, close; /* close: as strict, but the bounds of sched_rely_on hold */
    bool started;
    const struct sched_ops *ops;
    void *ctx;
    uint64_t now_cycles, limit_cycles;
    bool pauses;       /* soon: no trap passes that a message sent in the pause could still come before */
    uint32_t now_hart; /* whose request is the last that was processed; 0 after an event */
    struct hart *hart;
    struct clocks clocks;  /* t(i) of the live harts, which are runnable or running */
    struct clocks entered; /* of the harts at a trap: the time of its ENTER */
    struct clocks quiet;   /* q(i) of both, and of those that wait at IDLE */
    uint32_t *ready;       /* indices of runnable harts */
    uint32_t n_ready;
    uint32_t n_long; /* harts with long_runs > 0, idle ones too */
    uint32_t n_running;
    uint32_t translated; /* blocks, when last looked */
    uint64_t calm_at;    /* grants after which nothing has been translated for a while */
    uint32_t polling;    /* harts in POLL_SAME */
    uint32_t n_short;    /* running harts that were not spread */
    uint32_t *raise;     /* scratch: harts to interrupt */
    struct sched_statistics statistics;
};

/* ---- sched_poll.c ---- */

/* Notes a trap of a hart, in order. */
void sched_poll_note(struct hart *h, const struct slot_trap *trap);
/* Looks at a hart that has just stopped, and is AT_TRAP if it has stopped there. */
void sched_poll_stopped(struct sched *s, struct hart *h);
/* Returns true if the next grant must end at the next ENTER, with the registers. */
bool sched_poll_watches(const struct hart *h);
/* A polling hart's ENTER is in the account: moves it, and the trap, to the next, or to a later one if no cause can come
 * before quiet_until. */
void sched_poll_turn(struct sched *s, struct hart *h, struct slot_trap *trap, uint64_t quiet_until);
/* The hart does something else. */
void sched_poll_end(struct sched *s, struct hart *h);

/* ---- sched_grant.c ---- */

/* Raises the interrupts of harts that are stopped in user code. Returns false if the machine has failed. */
bool sched_interrupts_raise(struct sched *s);
/* Grants all harts that may run, but only a few of those that share a processor. Returns whether it did anything. */
bool sched_grant_all(struct sched *s);

/* ---- sched_process.c ---- */

/* Add a hart to the runnable ones, and remove it when it becomes something else. */
void sched_ready_add(struct sched *s, struct hart *h);
void sched_ready_remove(struct sched *s, struct hart *h, enum hart_state state);
/* Sets t(i) and q(i) of a live hart; both are less if it has a cause. */
void sched_live_set(struct sched *s, struct hart *h, uint64_t cycles, uint64_t quiet);
/* Return the live hart with the lowest t(j), and the hart with the lowest q(j), or CLOCKS_NONE. */
uint32_t sched_live_first(struct sched *s);
uint32_t sched_quiet_first(struct sched *s);
/* Queues request k of a hart. */
void sched_request_add(struct sched *s, struct hart *h, uint32_t k, uint64_t cycles, uint32_t op, const uint64_t *arg);
/* Lets a runnable hart wait for its turn at an instruction, other than ENTER, that it has stopped at. */
void sched_wait_at(struct sched *s, struct hart *h, uint32_t op);
/* Returns true if the hart is stopped at the end of its quantum, which must not end before all causes due before. */
bool sched_ends_quantum(const struct sched *s, const struct hart *h);
/* Lets a hart handle its causes if it has any and is stopped behind the first, in user code or at ENTER. */
void sched_handle_due(struct sched *s, struct hart *h);
/* Adds a trap to those that go into the hart's account in their turn. */
void sched_trap_add(struct sched *s, struct hart *h, const struct slot_trap *trap);
/* Stops a runnable hart at the ENTER that has been added last; lets the trap begin. */
void sched_trap_wait(struct sched *s, struct hart *h);
void sched_trap_begin(struct sched *s, struct hart *h);
/* Adds the traps that have passed since the hart was granted, or since the last call. */
void sched_traps_passed(struct sched *s, struct hart *h);
/* Reports a spell to the ops. */
void sched_report_spell(struct sched *s, const struct hart *h, enum sched_spell_kind kind, uint64_t since,
                        uint64_t until);
/* Returns the time of the first event or request. */
uint64_t sched_next_cycles(const struct sched *s);
/* Processes everything that no running hart can come before. Returns true when nothing more is safe, false when the ops
 * say that all is finished. Sets *busy if anything was processed. */
bool sched_process_all_safe(struct sched *s, bool *busy);
