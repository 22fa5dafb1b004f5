/*
 * Granting harts and waiting for them: ncube's end of the control segment (slots.h).
 */
#ifndef NCUBE_HARTS_H
#define NCUBE_HARTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/qemu/processors.h"
#include "emu/qemu/slots.h"

#define HARTS_PROCESSORS_MAX 64u

struct harts {
    struct control *control; /* shared with the plugins */
    int fd;                  /* of the memfd, for them to inherit */
    uint32_t count;          /* slots */
    cpu_set_t allowed;       /* processors of the host that this process may use */
    struct claim claim;      /* ours: see processors.h */
    uint32_t processors;     /* of the host, that harts may be placed on; the first is ours too */
    int processor[HARTS_PROCESSORS_MAX];
    uint8_t *place; /* of each hart: an index into `processor` */
    bool silent;    /* harts_wait */
    uint32_t taken; /* 1 + slot of the first of those that harts_take_stopped has still to give */
    uint32_t running[HARTS_PROCESSORS_MAX]; /* harts that run there */
};

/* Makes the control segment; all harts count as granted, and stop by themselves when they are created.
 * Keeps this process, and the cabinets that it will start, on one processor, where few other runs are; up to
 * `processors` of those allowed (0: all) are for harts that are spread. Returns 0 or -1 with errno. */
int harts_init(struct harts *h, uint32_t count, uint32_t processors);
void harts_free(struct harts *h);

struct slot *harts_slot(const struct harts *h, uint32_t index);

/* The slot of a hart that has stopped since its last grant and has not been taken yet, or -1. The hart is the
 * caller's. */
int64_t harts_take_stopped(struct harts *h);

/* No request of a running hart comes before this time. */
uint64_t harts_progress(const struct harts *h, uint32_t index);

/* Lets one stopped hart run from `base_cycles`; user code only as far as the budget. Where: with us, or if `spread`
 * on the processor with the fewest harts. */
void harts_grant(struct harts *h, uint32_t index, uint64_t base_cycles, uint64_t budget_cycles, bool spread);

/* To be called now and then. True: there is a processor with fewer runs than ours has, it is processor[0] now, and this
 * thread and our harts have moved there. The cabinets' other threads are the caller's to move, by harts_bring. */
bool harts_follow(struct harts *h);
/* Nothing will run for a while: others need not leave room for us. harts_follow claims a processor again. */
void harts_rest(struct harts *h);
/* Brings a thread of a cabinet that is no hart to where we are. */
void harts_bring(const struct harts *h, pid_t thread);

/* A running hart is needed: it stops soon, in user code, if it does not trap before. */
void harts_call(struct harts *h, uint32_t index);

/* Says that ncube wants to know when a running hart's clock has passed that time; to be followed by a look at the
 * harts, then harts_sleep with the doorbell's count from before that look: so no change is missed. */
uint32_t harts_watch(struct harts *h, uint64_t wanted_cycles);

/* Sleeps until the doorbell has been rung since. False: a signal came, or a process ended (signals.h). */
bool harts_sleep(struct harts *h, uint32_t bell);

/* Waits until an injector hart has stopped as often as that. Others may run, and stop, meanwhile. False as above. */
bool harts_wait_injector(struct harts *h, uint32_t index, uint32_t stops);

/* Waits until `n` granted harts have stopped, and takes them. For times when nothing else runs. Returns how many are
 * missing: not 0 after a signal or the end of a process, or, with h->silent, when none has stopped for so long. */
uint32_t harts_wait(struct harts *h, uint32_t n, uint32_t silence_ms);

/* Each of these slots' harts has stopped once. */
bool harts_have_come(const struct harts *h, uint32_t first, uint32_t n);

#endif
