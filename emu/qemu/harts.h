/*
 * Grants harts and waits for them: ncube's end of the control segment (slots.h).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/qemu/processors.h"
#include "emu/qemu/slots.h"
#include "emu/qemu/width.h"
#include "emu/qemu/yields.h"

#define HARTS_PROCESSORS_MAX 64u
#define HARTS_SILENCE_MS     10000
#define HARTS_TICK_NS        10000000u /* of all QEMUs in such a time: less is no work */

/* Calls by which other hosts run the harts (emu/rack). This process then has only a copy of the control segment. */
struct harts_far {
    void (*grant)(void *ctx, uint32_t index, bool spread); /* the slot has the rest */
    void (*call)(void *ctx, uint32_t index);               /* as harts_call */
    /* Passes on what has been granted and called, and control.wanted; waits until the doorbell's count is no longer
     * `bell`, which it rings itself, at most for limit_ms. Returns false if a host is lost. */
    bool (*await)(void *ctx, uint32_t bell, int limit_ms);
};

struct harts {
    struct control *control; /* shared with the plugins */
    int fd;                  /* of the memfd, which the cabinets inherit */
    uint32_t count;          /* slots */
    cpu_set_t allowed;       /* processors of the host that this process may use */
    struct claim claim;      /* on the home processor: see processors.h */
    uint32_t processors;     /* of the host, on which harts may run; the first is home, where ncube runs too */
    int processor[HARTS_PROCESSORS_MAX];
    uint8_t *place;                         /* of each hart: an index into `processor` */
    bool silent;                            /* harts_wait has returned because no hart stopped in time */
    uint32_t taken;                         /* 1 + slot of the next that harts_take_stopped returns */
    uint32_t running[HARTS_PROCESSORS_MAX]; /* number of running harts on each processor */
    struct width width;                     /* over how many of them short runs are spread, */
    uint64_t patience_ns;                   /* and how long ncube and carriers wait by yields if it is more than one; */
    struct claim other[HARTS_PROCESSORS_MAX]; /* claims on `others` of them, without home */
    uint32_t others;
    /* Called when the caller sleeps and no hart has reported for HARTS_SILENCE_MS. Returns true if none will. */
    bool (*is_lost)(void *ctx);
    uint64_t (*work_ns)(void *ctx); /* of harts_may_spread; NULL: short runs are not spread */
    uint64_t begun_work_ns;         /* when useful work has begun to count */
    void *ctx;
    /* For harts that take turns: */
    uint32_t cabinet_slots; /* of each cabinet, but perhaps the last; 0: each hart has a thread of its own */
    uint32_t *to_wake;      /* carriers that may sleep and have been granted harts */
    uint32_t n_to_wake;
    uint32_t code_done; /* of control.code_due: answered */
    uint32_t flushes;   /* of buffers for translated code */
    struct yields yields;
    const struct harts_far *far; /* NULL: the harts are on this host */
    void *far_ctx;
};

/* Makes the control segment. All harts count as granted; each stops by itself when it is created. Keeps this process,
 * and the cabinets that it will start, on one processor that few other runs use, the home processor. Harts may be
 * spread over up to `processors` of those allowed (0: all). Returns 0, or -1 with errno. */
int harts_init(struct harts *h, uint32_t count, uint32_t processors);
/* Lets the harts of a cabinet take turns in a few threads (plugin_turns.h), instead of a thread for each. A cabinet has
 * so many slots, only the last may have fewer. To be called before the cabinets start, if at all. */
void harts_take_turns(struct harts *h, uint32_t cabinet_slots);
/* Lets other hosts run all harts, which are stopped. */
void harts_go_far(struct harts *h, const struct harts_far *far, void *ctx);
/* Notes, in the copy that this process has of a far hart's slot, that the hart has stopped. */
void harts_note_stopped(struct harts *h, uint32_t index);
/* Returns true if a cabinet can make copies of itself when its harts have come. */
bool harts_can_copy(const struct harts *h);
/* Lets the cabinet with slots from `original` on, whose harts have come and have not been granted, make a copy of its
 * process, with slots from `first` on, whose harts then come, too. The copy has the RAM of ram_fd, and writes what
 * it has to say to log_fd; both are descriptors of the caller, whose child it is. Returns its process, a negative errno
 * if there can be none, or 0 if a signal came or a process ended. */
pid_t harts_copy(struct harts *h, uint32_t original, uint32_t first, int ram_fd, int log_fd);
/* Returns true if the QEMU of a cabinet has no room for much more translated code. */
bool harts_code_is_due(const struct harts *h);
/* Returns how many harts run, those in debug stops among them. */
uint32_t harts_running(const struct harts *h);
/* Returns true if no hart runs. */
bool harts_stand(const struct harts *h);
/* Lets the cabinet with slots from `first` on throw its translated code away, if that is due. All its harts must be
 * stopped where they wait in the kernel. Returns false if a signal came or a process ended. */
bool harts_renew_code(struct harts *h, uint32_t first);
/* Lets short runs of harts be spread over processors, if they take turns. work_ns returns the processor time of this
 * process and the cabinets; it is called with h->ctx. */
void harts_may_spread(struct harts *h, uint64_t (*work_ns)(void *ctx));
/* Has the plugin write the registers of stopped harts into the debug area. Does nothing if a hart runs that is in no
 * debug stop; gives up after a signal or the end of a process. */
void harts_note_registers(struct harts *h);
/* Returns when all harts have stopped, or are in debug stops; or a signal wants the end. They are not granted again. */
void harts_calm(struct harts *h);
/* Frees everything; the cabinets must have ended. This thread may run on all processors again. */
void harts_free(struct harts *h);

/* Lets a process that has just been forked start its n harts, from slot `first` on, on the processor whose turn it is;
 * turn 0 is home. A hart that is granted goes home. */
void harts_start_on(struct harts *h, pid_t process, uint32_t first, uint32_t n, uint32_t turn);

struct slot *harts_slot(const struct harts *h, uint32_t index);

/* Returns the slot of a hart that has stopped since its last grant and has not been returned yet, or -1. The hart
 * belongs to the caller until it is granted again. */
int64_t harts_take_stopped(struct harts *h);

/* Return the earliest time at which a running hart can make a request, and at which it can execute SEND or ARM. */
uint64_t harts_progress(const struct harts *h, uint32_t index);
uint64_t harts_quiet(const struct harts *h, uint32_t index);

/* How far a hart may run. */
struct harts_grant {
    uint64_t base_cycles;   /* its clock */
    uint64_t budget_cycles; /* for its user code; this and the next count from base_cycles */
    uint64_t pass_cycles;   /* its ENTERs before that need no stop */
    uint64_t silent_cycles; /* it makes no request in so many, counted likewise */
    uint64_t quiet_cycles;  /* time before which it executes no SEND or ARM */
    uint32_t attention;     /* enum ncu_attention, with causes or an interrupt */
    bool watch;             /* it stops at its next ENTER and tells its registers */
    bool batched;           /* it need not ring when it stops, unless no other such hart runs then */
    bool spread;            /* on the processor that has the fewest running harts, not on the home processor */
};

/* Lets a stopped hart run. One that takes turns may begin only when the caller sleeps. */
void harts_grant(struct harts *h, uint32_t index, const struct harts_grant *grant);

/* Looks for a processor with fewer runs than the home processor. If there is one, makes it home, moves this thread and
 * the harts there, and returns true; the caller then moves the cabinets' other threads with harts_bring. To be called
 * now and then. */
bool harts_follow(struct harts *h);
/* Gives up the claim on the home processor while the machine has nothing to do; harts_follow makes a new one. */
void harts_rest(struct harts *h);
/* Moves a thread of a cabinet to the home processor, unless it is a hart's. */
void harts_bring(const struct harts *h, pid_t thread);

/* Lets a hart that is in a debug stop (debug_area.h) go on, as harts_grant does. */
void harts_release(struct harts *h, uint32_t index);

/* Shortens harts_grant.pass_cycles of a hart that a debugger has stopped. Returns false if the hart runs. */
bool harts_shorten_pass(struct harts *h, uint32_t index, uint64_t pass_cycles);

/* Asks a running hart to stop soon: in user code, if it does not trap before. */
void harts_call(struct harts *h, uint32_t index);

/* Asks running harts to ring the doorbell when their clock passes wanted_cycles, and returns the doorbell's count. The
 * caller then looks at the harts and passes the count to harts_sleep, so that no change is missed in between. */
uint32_t harts_watch(struct harts *h, uint64_t wanted_cycles);

/* Lets granted harts begin, as harts_sleep does, without sleeping. */
void harts_begin(struct harts *h);

/* Sleeps until the doorbell has been rung since the count was `bell`. Returns false if a signal came or a process ended
 * (signals.h), or h->is_lost says so. */
bool harts_sleep(struct harts *h, uint32_t bell);

/* Returns false as harts_sleep does, without sleeping. */
bool harts_undisturbed(void);

/* Waits until an injector hart has stopped `stops` times. Other harts may run and stop meanwhile. Returns false as
 * harts_sleep does. */
bool harts_wait_injector(struct harts *h, uint32_t index, uint32_t stops);

/* Waits until `n` granted harts have stopped, and takes them; no other hart may run. Returns how many have not stopped:
 * more than 0 after a signal or the end of a process, or, with h->silent set, when none has stopped for silence_ms. */
uint32_t harts_wait(struct harts *h, uint32_t n, uint32_t silence_ms);

/* Returns true if each of the n harts from slot `first` on has stopped at least once. */
bool harts_have_come(const struct harts *h, uint32_t first, uint32_t n);
