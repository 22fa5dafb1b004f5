/*
 * ncube inside of the machine's only cabinet. QEMU then loads ncube.so, which is the plugin and all of ncube; a thread
 * executes the command line there once more and runs the machine. That thread is the first carrier of the harts
 * (plugin_turns.h): where a hand-over takes two changes of the host's processes otherwise, it is a change of fibers.
 *
 *      ncube as called (emu/machine/guard.h)           QEMU with ncube.so
 *      ----------------------------------------        ------------------------------------------
 *      reads options and the machine file
 *      starts QEMU                        ------>      plugin_inside.c: a thread executes the command line;
 *                                                      cabinet_start waits for no process: this is the cabinet
 *      passes signals on                  ------>      runs the machine
 *                                         <------      ends the process, with the status of the command
 *      ends with that status, or says how
 *      QEMU has ended
 */
#pragma once

#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/qemu/slots.h"

enum inside_stage {
    INSIDE_STARTS, /* QEMU has handlers of its own for signals */
    INSIDE_RUNS,   /* signals are for ncube */
    INSIDE_ENDS,   /* as before, and no hart runs any more */
};

#define INSIDE_COPIES 17u

/* A copy of the process, which waits (emu/machine/checkpoints.h). */
struct inside_copy {
    int32_t pid;            /* 0: there is none; else the guard takes its end */
    uint32_t ended;         /* it has been killed */
    uint32_t calls;         /* futex: each lets it make a copy that goes on */
    uint64_t cycles;        /* of virtual time */
    uint64_t latest_cycles; /* the latest clock of a hart */
    uint64_t way_ns;        /* of the host, that a machine takes to come there */
    uint64_t bytes;         /* of memory that it has for itself */
};

/* What the two processes share: a memfd. */
struct inside_page {
    uint32_t stage;   /* enum inside_stage */
    int32_t asked;    /* a signal for ncube from before that; whoever takes it leaves 0 */
    uint32_t carried; /* times that ncube has handed its thread to harts and got it back: odd while it has not */
    uint32_t up;      /* the machine is up (inside_tell_up) */
    uint32_t ended;   /* 1 + the exit status of the command */
    int32_t process;  /* that runs the machine now: a copy of the first one; 0: the first one */
    struct inside_copy copy[INSIDE_COPIES];
    int32_t passed;      /* the first signal that the guard has passed on; */
    int32_t taken_by;    /* and the process that has found it here, and gets it no other way */
    uint32_t present;    /* the process that has come furthest with the host waits; it is the last of the list */
    int32_t stream[2];   /* descriptors of the command's standard output and error; those of QEMU are its log */
    uint32_t text_bytes; /* of what follows: the path of ncube, then the words of the command line, each with its NUL */
    char text[];
};

/* In QEMU; zeros in any other process. */
struct inside {
    struct inside_page *page;
    int ram_fd, log_fd;
    pid_t thread; /* of ncube */
    /* What cabinet_start gives the plugin, when the harts' settings are in the control segment. */
    int control_fd;
    bool statistics;
    uint32_t traps; /* enum slot_traps */
    sem_t ready;
    /* Executes granted harts until none is left or the doorbell's count is no longer `bell` and a hart computes for
     * long. Set by the plugin if harts take turns. */
    void (*carry)(uint32_t bell);
    int (*carry_again)(void); /* in a copy of the process: begins the other carriers, which are threads */
    bool left;                /* another machine has taken the place of the one around ncube */
};
extern struct inside inside;

/* Returns true if ncube is in a QEMU's process. */
static inline bool inside_has_guard(void)
{
    return inside.page != NULL;
}

/* Returns true if that QEMU is the cabinet of ncube's machine. */
static inline bool inside_is(void)
{
    return inside.page != NULL && !inside.left;
}

/* From now on ncube only stays in the process: its next machine has cabinets of its own, as outside. No hart may run
 * any more, but in debug stops; none ever runs again. */
void inside_leave(void);

/* Makes the page, with the command line of this process. Returns its memfd, or -1 with errno; the caller closes it and
 * unmaps *page, of *bytes. */
int inside_make_page(struct inside_page **page, size_t *bytes);

/* Called by ncube's thread when it begins: it takes the signals that QEMU keeps for itself. A signal that asks for the
 * end waits for inside_begin_signals, since QEMU installs handlers of its own meanwhile. No other thread takes one. */
void inside_take_signals(void);
/* To be called when QEMU has begun to execute the harts, and ncube's handlers of signals are installed. */
void inside_begin_signals(void);

/* In a copy of the process, which has ncube's thread alone: begins the others. Returns 0 or an errno. */
int inside_begin_again(void);

/* This process runs the machine from now on, instead of the one before: a copy, or one that has waited. Returns a
 * signal that asks for the end, which the caller raises when it is ready for that; or 0. */
int inside_go_on(void);

/* To be called when the machine has ended: from now on ncube ends by itself. Does nothing in any other process. */
void inside_end_signals(void);

/* Tells the process that guards this one that the machine is up. */
void inside_tell_up(void);

/* Called by the plugin; only ncube.so has it. Starts ncube's thread, and waits until it needs the harts. `page_fd` and
 * `ram_fd` are descriptors. Returns 0 and fills inside.control_fd and what follows it, or -1 after a line on QEMU's
 * log. */
__attribute__((weak)) int inside_start(int page_fd, int ram_fd);
