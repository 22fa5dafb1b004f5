/*
 * The scheduler against harts that are threads playing random scripts: what plugin and kernel do, without QEMU, on a
 * machine whose only device is a message that takes MESSAGE_CYCLES + 3 * sender.
 *
 * The property that matters: the log of everything that took effect does not depend on how far harts were let run. So
 * tests play the same scripts with user code running ahead, and in strict mode, and compare.
 *
 * sched_player.c is a hart, sched_play.c the machine and what a play must be like.
 */
#pragma once

#include <pthread.h>

#include "emu/time/sched.h"

#define HARTS          6
#define STEPS          60
#define MESSAGE_CYCLES 117u /* shortest effect on another hart */

#define ENTRY_CYCLES 15u
#define EXIT_CYCLES  18u

#define TRAP_CYCLES 50u /* at least so long the kernel takes from ENTER to a SEND, */
#define WAKE_CYCLES 20u /* and from CAUSES or IDLE; */

#define SILENT_CYCLES 15u /* and from those to any NCU instruction, */
#define BEGUN_CYCLES  40u /* from ENTER to any, and to user code */

#define TIMER_CYCLES 9u

#define TAKEN_MOST 2u /* causes by one CAUSES or IDLE; then the kernel asks for more */

#define QUANTUM_CYCLES 150u /* blocks take up to 300 */

/* ---- What is played ---- */

/* A block of user code, and the trap that it ends in. */
enum trap { TRAP_NONE, TRAP_SEND, TRAP_ASK, TRAP_WORK, TRAP_TIMER, TRAP_WAIT };

struct step {
    enum trap trap;
    uint32_t user_cycles, kernel_cycles;
    uint32_t to;      /* a SEND's destination; a TIMER goes off TIMER_CYCLES later, and for each again */
    uint32_t times;   /* the step is played, in a row; 0: once */
    uint32_t sends;   /* messages of a SEND; 0: one */
    unsigned host_us; /* that the block takes on the host, at least */
};

enum life {
    LIFE_SCRIPT,      /* plays its script and ends */
    LIFE_POLLS,       /* sends for every cause, and traps for ever, always in the same time */
    LIFE_POLLS_TWICE, /* likewise, by two traps in each turn */
    LIFE_COUNTS,      /* likewise by one, but no turn begins in the state of another */
    LIFE_ENDLESS,     /* never traps */
};

/* A promise that a hart breaks: it sends sooner than struct sched_quiet says. */
enum cheat { CHEAT_NOT, CHEAT_IN_TRAP, CHEAT_AWAKE };

struct part {
    enum life life;
    enum ncu_exact exact; /* after an interrupt, an exact hart must attend: it sends, and all see where its code was */
    bool mortal;          /* is killed by the second cause that interrupts it */
    bool answers;         /* sends whenever it handles causes */
    enum cheat cheat;
};

/* All that the outcome depends on. */
struct cast {
    unsigned seed; /* of the scripts */
    struct part part[HARTS];
    uint64_t limit_cycles;  /* of virtual time; 0: none */
    uint32_t sooner_cycles; /* messages come so much sooner than the lookahead promises */
    bool spells;            /* are wanted, in order: no trap begins out of turn */
    uint64_t ends_at_same;  /* SIGTERM comes when so many states have been found the same; 0: never */
    unsigned disturb_every; /* of the pauses: then a message is sent from outside, as from a front end; 0: none */
    void (*write)(struct step script[HARTS][STEPS], unsigned seed);
};

/* All that it does not depend on. */
struct direction {
    bool strict;
    uint64_t lookahead_cycles; /* 0: MESSAGE_CYCLES */
    unsigned pause_every;      /* of the scheduler's questions; 0: never */
};

/* ---- Plays ---- */

struct entry {
    uint64_t cycles;
    uint32_t hart, what; /* an instruction: 100 * op + its argument, or the causes that wait; or one of these: */
};

enum { ARRIVAL = 100000, INTERRUPT = 200000 };

struct player {
    struct play *play;
    uint32_t hart;
    struct part part;
    uint64_t clock;
    bool settle; /* END has set the clock, to */
    uint64_t settled;
    uint32_t attention;    /* of the last grant that had one */
    bool must_attend;      /* since an interrupt */
    uint64_t taken;        /* causes, in all */
    uint64_t place;        /* in its script or loop */
    uint64_t instructions; /* of user code: one takes one cycle */
    uint64_t longest;      /* budget */
    pthread_t thread;
};

/* What plays are for: each must have happened now and then. */
struct counts {
    uint64_t attended, withdrawn;   /* at the end of a quantum, and in a trap that came first */
    uint64_t at_once;               /* after an interrupt that could not wait for a quantum */
    uint64_t passed, passed_causes; /* traps that did not stop, and CAUSES */
    uint64_t passed_full;           /* stops because no more of them could pass */
    uint64_t posts_full;            /* stops because the list of posts was full */
    uint64_t called;                /* stops because ncube needed the hart */
    uint64_t batched;               /* grants at whose end ncube need not be woken at once */
    uint64_t same;                  /* turns of a loop that were found the same */
    uint64_t paused;                /* pauses of the scheduler */
};

struct play {
    const struct cast *cast;
    struct direction direction;
    struct harts harts;
    struct eventq *events;
    struct sched *sched;
    struct step script[HARTS][STEPS];
    uint32_t causes[HARTS]; /* arrived and not taken */
    bool idle[HARTS], interrupt[HARTS], ended[HARTS];
    uint64_t answer[HARTS];
    uint64_t kept[HARTS][2]; /* states: the place, and the causes that the hart had taken */
    bool keeps[HARTS];
    struct entry *log;
    uint32_t logged, log_most;
    unsigned asked, pauses;
    uint64_t passed_cycles[HARTS]; /* the last trap that has passed, or CAUSES that has found none */
    bool pause_wanted;
    uint64_t drawn;     /* by what disturbs */
    const char *broken; /* a rule that the scheduler has found broken; NULL: none */
    uint32_t broken_hart;
    enum sched_end end;
    uint64_t spells[HARTS][SPELL_HANDLING_DROPPED + 1];
    struct counts counts;
    struct player player[HARTS];
    bool over; /* threads end at their next stop */
};

/* Starts a hart's thread. */
void player_start(struct player *a);

/* Draws a number. */
uint32_t play_draw(uint64_t *state);

/* Scripts of traps of all kinds. */
void play_write_traps(struct step script[HARTS][STEPS], unsigned seed);

/* Harts of all three kinds of exactness, some of them mortal. */
struct cast cast_usual(unsigned seed);

/* Makes a play, whose scripts may be changed before play_run. `cast` must outlive it. */
struct play *play_begin(const struct cast *cast, struct direction direction);
/* Runs it to its end, and expects that to be the limit, if there is one, or a deadlock; or, where the cast breaks
 * a promise, that the scheduler may have noticed that. */
void play_run(struct play *p);
/* Both. */
struct play *play_new(const struct cast *cast, struct direction direction);
/* Ends its threads. */
void play_free(struct play *p);

/* ---- What they must be like; failures fail the test ---- */

/* Sorts the log by time and hart. */
void play_sort(struct play *p);
/* Effects are in order of time, and those of one time in the order that sched.h gives. Call it before play_sort. */
void play_expect_order(const struct play *p, const char *what);
/* A hart that is interrupted takes its causes so long after the start of the interrupt, and next. Likewise. */
void play_expect_interrupts(const struct play *p, const char *what);
/* The logs are the same. Both must be sorted. */
void play_expect_equal(const struct play *p, const struct play *reference, const char *what);
void play_expect_equal_accounts(const struct play *p, const struct play *reference, const char *what);
