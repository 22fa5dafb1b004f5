/*
 * The conservative scheduler: which hart may run how far, and in which order everything else happens.
 *
 * Two things happen in virtual time: model events (eventq.h) and NCU instructions that harts have executed,
 * "requests". All are processed in the order of the key
 *
 *     (time, event before request, hart, sequence)
 *
 * and each only when no running hart can still produce anything with a lower key. So the outcome does not depend
 * on how harts are granted. Between these, running harts are granted budgets. With t(j) the clock of a running
 * hart or the time of a request not yet processed, and L the network's lookahead,
 *
 *     W(i) = min( next model event, min over j != i of t(j) + L )
 *
 * Kernel code always runs to its next request: it learns of the outside only by requests, and takes no interrupts.
 *
 * User code sees the outside only through the kernel. So it may run ahead of W(i), to its next trap, whose ENTER is
 * a request and waits for its turn. What falls due for it meanwhile is handled in the kernel with the clock set
 * back:
 *
 *        user_since            e = cause due        t = clock of the stopped user code, or of ENTER
 *   ---------|======================|=======================|--------------> virtual time
 *                                   |--handler--|                            starts at max(e, user_since)
 *                                                           |--cost--|       user code goes on at t + cost
 *
 * Where the code was stopped physically does not matter to anything it can see:
 *
 *   1. A hart stopped in user code, or at ENTER, stays stopped. Its CAUSES takes effect NCU_INTERRUPT_CYCLES after the
 *      start, and is executed for it: the causes are put into its mailbox.
 *   2. The next grant hands them over (slots.h: handling, causes_cycles, shift_cycles). In user code SSWI is raised
 *      before; at ENTER the answer tells.
 *   3. END is posted, and needs no stop: the plugin itself sets the clock to t + cost. It takes effect here, in order,
 *      when the hart stops for another reason; then what has fallen due meanwhile is handled.
 *
 * Harts run at the same time as this goes on: those that run long, spread over the host's processors, all at once; of
 * the others, which share ncube's, a few. A running hart tells now and then how far its clock is, and nothing later is
 * processed. What it posts ncube learns only when it stops: so it tells no more after a post, and its user code stops
 * soon.
 *
 * Where user code can see an interrupt (another process may get the hart, a handler of its own may run), it must be in
 * the block of the cause when that falls due. Vertex says so at LEAVE, and such an exact hart's user code stops at
 * W(i): then the first block that ends at or after the cause is the one interrupted, in every run. What is to be lost
 * anyway need not be exact: after DROP, instead of END, the clock goes on from the handler, whatever user code did
 * ahead.
 *
 * In strict mode (--sync=strict) all user code stops at W(i). Everything else is the same, and so must be the outcome.
 *
 * Any effect of a request on another hart must lie at least L after it (the NCU model keeps to that).
 */
#ifndef NCUBE_SCHED_H
#define NCUBE_SCHED_H

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/harts.h"
#include "emu/time/eventq.h"

struct sched;

struct sched_ops {
    /* A hart's NCU instruction takes effect at now_cycles. For one that needs an answer: true if the hart goes on,
     * false if it stays idle until sched_wake. */
    bool (*execute)(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles);
    /* Does a cause wait for the hart? Its arrival is told by sched_cause. */
    bool (*cause_waits)(void *ctx, uint32_t hart);
    /* Writes ans0 of the hart's mailbox. */
    void (*answer)(void *ctx, uint32_t hart, uint64_t value);
    /* The hart has been interrupted at start_cycles and takes its causes now. For the trace. */
    void (*interrupted)(void *ctx, uint32_t hart, uint64_t start_cycles);
    /* Raises the interrupt of some stopped harts. False: the machine has failed. */
    bool (*interrupt)(void *ctx, const uint32_t *harts, uint32_t n);
    /* True when the run is over. Asked before each event and request. */
    bool (*finished)(void *ctx);
};

enum sched_end {
    SCHED_FINISHED,
    SCHED_DEADLOCK, /* nothing runs, nothing is queued */
    SCHED_STOPPED,  /* a signal came or a process died: see signals.h and cabinet_died */
    SCHED_LIMIT,    /* the limit of virtual time is reached */
};

/* `slot_of[i]` is the slot of hart i (0 .. count-1) in `harts`. queue, harts, slot_of and ops outlive the scheduler.
 * lookahead_cycles is L. */
struct sched *sched_new(struct eventq *queue, struct harts *harts, const uint32_t *slot_of, uint32_t count,
                        uint64_t lookahead_cycles, bool strict, const struct sched_ops *ops, void *ctx);
void sched_free(struct sched *s);

/* Runs from the first grant (all harts are stopped at SLOT_START) to an end; when called again, on from where it ended.
 * After SCHED_FINISHED and SCHED_DEADLOCK events may have been added meanwhile, from sched_now on. Nothing later than
 * the limit takes effect; EVENTQ_NEVER: no limit. */
enum sched_end sched_run(struct sched *s, uint64_t limit_cycles);

/* An idle hart goes on at now_cycles; its answer is in its mailbox. */
void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles);

/* A cause has come for a hart that is not idle, at now_cycles. */
void sched_cause(struct sched *s, uint32_t hart, uint64_t now_cycles);

/* Virtual time: of the last event or request processed. */
uint64_t sched_now(const struct sched *s);

struct sched_statistics {
    uint64_t requests, events, interrupts;
    /* These depend on the host's timing: */
    uint64_t grants, waits;
    uint64_t windows;      /* rounds in which something was granted */
    uint64_t ahead;        /* grants in which a hart got past W */
    uint64_t ahead_cycles; /* by how much, in all */
};
const struct sched_statistics *sched_statistics(const struct sched *s);

/* Of one hart, up to sched_now; the same in every run. */
struct sched_hart_statistics {
    uint64_t user_cycles, kernel_cycles, idle_cycles; /* in all: sched_now */
    uint64_t instructions; /* of user code, if the plugin counts them: up to the last trap that has taken effect */
    uint64_t traps, interrupts;
};
struct sched_hart_statistics sched_hart_statistics(const struct sched *s, uint32_t hart);

/* What is being waited for, for those who watch. */
struct sched_view {
    uint32_t running, idle; /* harts */
    uint32_t first;         /* the hart that nothing later than first_cycles can pass, if running > 0 */
    uint64_t first_cycles;
    uint64_t next_cycles; /* first event or request that has not been processed, or EVENTQ_NEVER */
};
struct sched_view sched_view(struct sched *s);

#endif
