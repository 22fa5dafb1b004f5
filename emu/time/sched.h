/*
 * The conservative scheduler: which hart may run how far, and in which order everything else happens.
 *
 * Two things happen in virtual time: model events (eventq.h) and NCU instructions that harts have executed,
 * "requests". All are processed in the order of the key
 *
 *     (time, event before request, hart, sequence)
 *
 * and each only when no running hart can still produce anything with a lower key. So the outcome does not depend on how
 * harts are granted. In between, harts are granted budgets of cycles. With L the network's lookahead, and q(j) the time
 * before which a running hart surely executes no SEND or ARM, or the time of a request not yet processed,
 *
 *     W(i) = min( next model event, min over j != i of q(j) + L )
 *
 * The clock of a running hart, t(j), is such a q(j). More is known from the kernel's code: it takes some time from a
 * trap to a SEND (struct sched_quiet), and from the end of a wait to a request of any kind: t(j) counts from there. A
 * hart that waits at IDLE without a cause has no q(j): an event must come first.
 *
 * Kernel code always runs to its next request: it learns of the outside only by requests, and takes no interrupts.
 *
 * User code sees the outside only through the kernel. So it may run ahead of W(i), to its next trap, whose ENTER is a
 * request. An ENTER before W(i) finds no cause: the plugin lets it pass without a stop, and tells of it at the next.
 * So it does with CAUSES. Any other ENTER waits until W(i) has come so far, or for its turn. A cause that falls due
 * before that ENTER is handled in the kernel, with the clock set back to the time of the cause:
 *
 *        user_since            e = cause due        t = clock of the stopped user code, or of ENTER
 *   ---------|======================|=======================|--------------> virtual time
 *                                   |--handler--|                            starts at max(e, user_since)
 *                                                           |--cost--|       user code goes on at t + cost
 *
 * User code cannot see at which instruction it was stopped:
 *
 *   1. A hart stopped in user code, or at ENTER, stays stopped. The scheduler executes CAUSES on its behalf,
 *      NCU_INTERRUPT_CYCLES after the start: it puts the causes into the hart's mailbox.
 *   2. The next grant hands them over (slots.h: handling, causes_cycles, shift_cycles). If the hart was stopped in user
 *      code, SSWI is raised first; at ENTER the answer says that there are causes.
 *   3. END is posted and needs no stop: the plugin itself sets the clock to t + cost. END takes effect here, in order,
 *      when the hart stops for another reason; then the causes that have fallen due since are handled.
 *
 * Meanwhile harts run: those that run long are spread over the host's processors; the others share ncube's processor,
 * or are spread as well if that is found to be faster (placement.h). Where harts take turns, all are granted at once;
 * of threads, a few. A running hart publishes its clock now and then, and nothing later than that is processed. ncube
 * learns of a post only when the hart stops: so the hart publishes nothing after a post, and its user code stops soon.
 * Harts that run for short times wake ncube only when the last of them has stopped.
 *
 * User code can see where an interrupt falls if another process may get the hart, or if a signal handler of the program
 * may run: if the kernel must attend after the interrupt. Vertex marks such a hart as exact at LEAVE
 * (vertex/contract/machine.h: enum ncu_exact). There are two ways to be exact:
 *
 *   in quanta   Causes are handled as above, but the kernel attends later: in the next trap, or at the end of a
 *               quantum, which comes first. Quanta count the cycles of user code since its last trap. So the block at
 *               which one ends depends on neither causes nor the host; handling moves clock and quantum's end alike:
 *
 *               trap  |--user code--[ quantum 1 )--[ quantum 2 )--..  W must pass the end of each
 *
 *               User code stops there until all causes due before are handled. Then the kernel attends if it must:
 *               the handling of the last cause goes on with it, after QUANTUM has told that there are no more; if all
 *               were handled before, an interrupt without causes is raised, which costs nothing up to its ENTER.
 *   at once     User code stops at W(i): the first block that ends at or after the cause is the one interrupted, in
 *               every run, and there the kernel attends. This is for handlers that take messages.
 *
 * User code that is about to be discarded need not be exact: after DROP, which takes the place of END, the clock
 * continues from the handler, however far the user code had run ahead.
 *
 * A hart in a loop that polls is not executed once each turn is known to be the same: see sched_poll.c.
 *
 * In strict mode (--sync=strict) all user code stops at W(i), with q(j) = t(j), and each ENTER waits for its turn.
 * Everything else is the same, and the outcome must be.
 *
 * Any effect of a request on another hart must lie at least L after the request; the NCU model ensures that.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/harts.h"
#include "emu/time/eventq.h"

struct sched;

enum sched_spell_kind {
    SPELL_USER_TO_TRAP,      /* user code; a trap has ended it */
    SPELL_USER_TO_INTERRUPT, /* user code; an interrupt has ended it, or the run */
    SPELL_HANDLING,          /* the handling of causes; the interrupted code goes on */
    SPELL_HANDLING_DROPPED,  /* likewise; the kernel goes on */
};

struct sched_spell {
    enum sched_spell_kind kind;
    uint64_t since_cycles, until_cycles; /* may be equal */
    uint32_t trap;                       /* slots.h: the reason of the trap */
};

struct sched_ops {
    /* Executes a hart's NCU instruction, which takes effect at now_cycles. For an instruction that needs an answer:
     * returns true if the hart goes on, false if it stays idle until sched_wake. */
    bool (*execute)(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles);
    /* Returns true if a cause waits for the hart. The model reports a new cause with sched_cause. */
    bool (*cause_waits)(void *ctx, uint32_t hart);
    /* Returns true if no message's header waits for an ARM of the hart. */
    bool (*arm_is_clear)(void *ctx, uint32_t hart);
    /* Writes ans0 of the hart's mailbox. */
    void (*answer)(void *ctx, uint32_t hart, uint64_t value);
    /* Called for the trace when the hart takes its causes; it was interrupted at start_cycles. */
    void (*interrupted)(void *ctx, uint32_t hart, uint64_t start_cycles);
    /* Called for the trace at the end of a spell of user code, or of the handling of causes; may be NULL. */
    void (*spell)(void *ctx, uint32_t hart, const struct sched_spell *spell);
    /* Raises the interrupts of n stopped harts. Returns false if the machine has failed. */
    bool (*interrupt)(void *ctx, const uint32_t *harts, uint32_t n);
    /* Keeps the state of a hart that is stopped at ENTER with `watch` (slots.h), all of its registers and memory, or
     * forgets it; same_state compares it with the present one, and forgets it. NULL: loops that poll are executed. */
    void (*keep_state)(void *ctx, uint32_t hart, bool keep);
    bool (*same_state)(void *ctx, uint32_t hart);
    /* Called when the scheduler has broken one of its rules: what follows may depend on the host. The run must end. */
    void (*broken)(void *ctx, uint32_t hart, const char *what);
    /* Return true when the run is over, and when sched_run is to return soon although the machine can go on. Called
     * before each event and request. */
    bool (*finished)(void *ctx);
    bool (*pauses)(void *ctx);
    /* For a debugger, which stops harts that run; NULL: there is none. Called when nothing is left to do but to wait
     * for `running` harts. Returns true if there may be something to do now. */
    bool (*stands)(void *ctx, uint32_t running);
};

enum sched_end {
    SCHED_FINISHED,
    SCHED_DEADLOCK, /* nothing runs, nothing is queued */
    SCHED_STOPPED,  /* a signal came or a QEMU process ended: see signals.h and cabinet_died */
    SCHED_LIMIT,    /* the limit of virtual time is reached */
};

/* Makes a scheduler of `count` harts. `slot_of[i]` is the slot of hart i in `harts`; lookahead_cycles is L. queue,
 * harts, slot_of and ops must outlive the scheduler, which the caller frees with sched_free. */
struct sched *sched_new(struct eventq *queue, struct harts *harts, const uint32_t *slot_of, uint32_t count,
                        uint64_t lookahead_cycles, bool strict, const struct sched_ops *ops, void *ctx);
void sched_free(struct sched *s);

/* What the scheduler may rely on, beyond the lookahead; 0 is always true. */
struct sched_quiet {
    uint64_t trap_cycles;    /* no SEND or ARM comes sooner after an ENTER, */
    uint64_t user_cycles;    /* nor after user code, unless there is a cause, */
    uint64_t wake_cycles;    /* nor after an IDLE or CAUSES */
    uint64_t idle_cycles;    /* no request of any kind comes sooner after an IDLE, */
    uint64_t causes_cycles;  /* nor after a CAUSES, */
    uint64_t begun_cycles;   /* nor after an ENTER that finds no cause; nor is user code resumed sooner */
    uint64_t arrival_cycles; /* a SEND never fails at once, and brings no cause to another node sooner */
    bool passes;             /* traps may begin out of turn: nobody wants their spells in order */
};
/* Ignored in strict mode. To be called before the first sched_run. */
void sched_rely_on(struct sched *s, const struct sched_quiet *quiet);

/* From the next grants on, user code stops at W and each ENTER waits for its turn, as in strict mode, or no longer. So
 * harts that wait for another one, which a debugger has stopped, stand in the same places in every run. */
void sched_keep_close(struct sched *s, bool close);

/* Returns the latest clock of a hart. User code that has run ahead to a limit may get later than that by the interrupts
 * that were handled before it. */
uint64_t sched_latest_clock(const struct sched *s);

/* Runs the machine until one of the ends above. The first call expects all harts stopped at SLOT_START; a further call
 * continues where the last one ended. Between calls, after SCHED_FINISHED or SCHED_DEADLOCK, the caller may add events
 * that are not earlier than sched_now and give no cause to a hart within the lookahead. Nothing later than the limit
 * takes effect; EVENTQ_NEVER means no limit. */
enum sched_end sched_run(struct sched *s, uint64_t limit_cycles);

/* Resumes an idle hart at now_cycles; its answer is already in its mailbox. */
void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles);

/* Reports that a cause has come at now_cycles for a hart that is not idle. */
void sched_cause(struct sched *s, uint32_t hart, uint64_t now_cycles);

/* Reports the spells that last at the end of the run. */
void sched_end_spells(struct sched *s);

/* Returns the virtual time of the last event or request that has been processed. */
uint64_t sched_now(const struct sched *s);

struct sched_statistics {
    uint64_t requests, events, interrupts;
    /* These depend on the host's timing: */
    uint64_t grants, waits;
    uint64_t windows;       /* rounds in which a hart was granted */
    uint64_t ahead;         /* grants in which user code was allowed beyond W and the hart got there */
    uint64_t ahead_cycles;  /* sum of their cycles beyond W */
    uint64_t polls_skipped; /* turns of loops that poll, known without executing them */
};
const struct sched_statistics *sched_statistics(const struct sched *s);

/* Statistics of one hart, up to sched_now; the same in every run. */
struct sched_hart_statistics {
    uint64_t user_cycles, kernel_cycles, idle_cycles; /* their sum is sched_now */
    uint64_t instructions; /* of user code up to its last trap that has taken effect, if the plugin counts them */
    uint64_t traps, interrupts;
};
struct sched_hart_statistics sched_hart_statistics(const struct sched *s, uint32_t hart);

#define SCHED_RUN_AHEAD_CYCLES 20000000u /* at most so far does user code run ahead of all others */
#define SCHED_COMPUTES_CYCLES  1000000u  /* 50 ms: longer than the turn of a loop that counts as polling */

/* After SCHED_LIMIT: true if the hart is stopped in user code, which has run for SCHED_COMPUTES_CYCLES since its last
 * trap, and since an interrupt after that for SCHED_RUN_AHEAD_CYCLES more. Then its slot's user_pc is the place where
 * it is at the limit, in every run. Other code may have run ahead past the interrupt, and up to the limit: its time
 * has moved on since, but not its place. */
bool sched_is_in_place(const struct sched *s, uint32_t hart);

/* What the scheduler waits for, for the heartbeat. */
struct sched_view {
    uint32_t running, idle; /* harts */
    uint32_t first;         /* if running > 0: the hart with the lowest clock, */
    uint64_t first_cycles;  /* which is this; nothing later can be processed */
    uint64_t next_cycles;   /* first event or request that has not been processed, or EVENTQ_NEVER */
};
struct sched_view sched_view(struct sched *s);
