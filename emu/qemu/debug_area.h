/*
 * The debug area: shared memory behind the slots (slots.h), through which ncube's debugger stops harts anywhere in
 * their code and looks at their registers. It is used only if control.debug is set before the cabinets start; that says
 * at which instructions the plugin looks at it.
 *
 * For the scheduler a hart in a debug stop is a running one that takes long. So virtual time stands still by itself,
 * and a run with stops has the same trace as one without.
 *
 *      ncube                                         plugin, in the hart's thread
 *      ----------------------------------------      -----------------------------------------
 *      breakpoints, watches, hold, step    ------>   looks at them before each instruction
 *                                                    registers, why; `stopped` = 1, rings the doorbell
 *                                          <------   waits
 *      `stopped` = 0, go += 1, wake        ------>   executes the instruction, without another look
 *
 * ncube changes breakpoints and watches while all running harts are in debug stops, or clears them.
 *
 * A place is a clock at which an instruction of user code begins; each takes a cycle or more, so a hart is there once.
 * A hart that seeks (`seek` > 0) runs up to that place: until then it stops for nothing but `hold`, and notes what it
 * would have stopped for in `hit`.
 */
#pragma once

#include <stdint.h>

#include "emu/qemu/slots.h"

#define DEBUG_BREAKS  1024u
#define DEBUG_WATCHES 32u
#define DEBUG_BLOOM   4096u /* bits, one for each pc / 2 modulo this */
#define DEBUG_ALWAYS  1u    /* set in a breakpoint's address: whatever a0 is; SLOT_DEBUG_KERNEL only */
#define DEBUG_RETURNS 8u
#define DEBUG_HITS    64u    /* that each hart keeps of a seek; a power of two */
#define DEBUG_LISTS   65536u /* bytes of conditions */

enum debug_why {
    DEBUG_NOT,
    DEBUG_HELD,   /* ncube has asked for it */
    DEBUG_BREAK,  /* at a breakpoint */
    DEBUG_STEP,   /* after a step */
    DEBUG_WATCH,  /* after an access to what is watched */
    DEBUG_RETURN, /* at one of return_pc */
    DEBUG_FAULT,  /* the kernel ends the process because of a fault; its registers are in `program` */
    DEBUG_SOUGHT, /* at the end of a seek */
};

/* What a seeking hart would have stopped for. */
struct debug_hit {
    uint64_t cycles; /* the instruction's place: in front of it, or of the one that has accessed what is watched */
    uint64_t watch;  /* DEBUG_WATCH: the address of the access */
    uint64_t pc;
    uint32_t why; /* enum debug_why: DEBUG_BREAK or DEBUG_WATCH */
};

enum debug_step {
    DEBUG_GO,
    DEBUG_STEP_USER, /* to the next instruction of user code */
    DEBUG_STEP_ANY,  /* to the next one, in the kernel too */
};

enum debug_seek {              /* when it is there */
                  SEEK_PASSES, /* it goes on as if it had not sought */
                  SEEK_STOPS,  /* it stops at each instruction */
                  SEEK_FAULTS, /* likewise, and at a fault before */
};

struct debug_registers {
    uint64_t x[32]; /* x[0]: pc */
    uint64_t satp, scause;
    struct debug_floats {
        uint64_t f[32], fflags, frm, fcsr;
    } floats;
};

struct debug_hart {
    /* written by ncube while the hart is stopped, or to hold it: */
    _Alignas(128) uint32_t watched; /* breakpoints and watches hold on it */
    uint32_t hold;                  /* it stops at its next instruction */
    uint32_t step;                  /* enum debug_step */
    uint32_t skip;                  /* the next instruction of user code does not end a step: it is the first one */
    uint64_t step_low, step_high;   /* a step goes on within these addresses */
    uint32_t go;                    /* futex: number of the release */
    uint32_t returns;               /* SLOT_DEBUG_KERNEL: it stops where user code returns to one of these addresses, */
    uint64_t return_pc[DEBUG_RETURNS]; /* each behind a call; they hold from the release on */
    uint64_t seek;                     /* it seeks the first instruction at or after this clock; 0: it does not */
    uint32_t seek_stops;               /* enum debug_seek */
    uint64_t awaited;                  /* the first hit at or after this is `first_hit` */
    uint32_t recall;                   /* released, it stops in its slot before its next block of user code */
    /* written by the plugin: */
    uint32_t asleep;
    uint32_t stopped;            /* in a debug stop */
    uint32_t why;                /* enum debug_why */
    uint32_t in_user;            /* the last instruction that it looked at, or stopped before, was user code */
    uint32_t has_program;        /* `program` has been written */
    uint32_t in_kernel_for_user; /* written by ncube: it has stopped in the kernel because its user wants that */
    uint64_t cycles;             /* its place at the debug stop; in the kernel, its clock */
    uint64_t watch;              /* address of the access, when a watch was hit; ~0: none */
    uint64_t at, before;         /* places of the last instruction of user code that it has looked at, and of the */
    uint64_t at_pc;              /* one before it; 0: none. And the address of the last one */
    uint32_t in_front;           /* it is in front of another one, at the begin of a block */
    uint32_t traps;              /* how often the kernel has taken the place of user code; may wrap */
    uint64_t hit_breaks;         /* of hits, those of breakpoints */
    uint64_t first_hit;          /* its clock; 0: there was none */
    uint64_t hits;               /* since the seek began, */
    struct debug_hit hit[DEBUG_HITS]; /* the last of them, each at its number modulo DEBUG_HITS */
    struct debug_registers now;       /* at its debug stop; in its slot, where harts take turns, after SLOT_NOTE */
    struct debug_registers program;   /* of the program, when it was last left for the kernel; `floats`: as of `now` */
};

struct debug_watch {
    uint64_t low, high; /* virtual addresses: low <= address < high */
    uint32_t reads, writes;
};

struct debug_condition { /* of a breakpoint: its list of agent expressions, each behind its length in two bytes */
    uint32_t at, bytes;  /* in debug_area.lists; no bytes: it holds always */
    uint32_t old;        /* for ncube: it was there when gdb let the nodes go on before */
};

struct debug_area {
    uint32_t closely;   /* each hart looks before each instruction: all places are known; changed while none runs */
    uint32_t placed;    /* a hart that seeks looks only where a breakpoint or an access may be */
    uint32_t attention; /* 0: there are no breakpoints or watches, and no hart is to stop */
    uint32_t stopped;   /* harts in debug stops */
    uint32_t breaks, watches;
    uint32_t changes;  /* of breaks, so far */
    uint64_t trap_pc;  /* the kernel's first instruction after user code, */
    uint64_t end_pc;   /* and where it ends a process because of a fault; set before the cabinets start */
    uint64_t fault_pc; /* end_pc; 0: do not stop there */
    uint64_t bloom[DEBUG_BLOOM / 64];
    uint64_t break_pc[DEBUG_BREAKS];                /* breaks.h */
    struct debug_condition condition[DEBUG_BREAKS]; /* of each */
    uint32_t list_bytes;                            /* of all conditions */
    uint8_t lists[DEBUG_LISTS];
    struct debug_watch watch[DEBUG_WATCHES];
    struct debug_hart hart[]; /* as slots */
};

static inline struct debug_area *debug_area_of(const struct control *c)
{
    return (struct debug_area *)((char *)c + c->debug_offset);
}

static inline uint64_t debug_bloom_bit(uint64_t pc)
{
    return pc / 2 % DEBUG_BLOOM;
}
