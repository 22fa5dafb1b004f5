/*
 * Over how many processors of the host short runs of harts are spread, where harts take turns. It depends on the
 * program and on what else the host does, so it is found by trying: what is gained by computing in parallel is lost by
 * hand-overs between processors if only a few harts run at a time, and by waiting if others use those processors.
 *
 *      own, for a pause | own, weighed | other, weighed | the better one, for a pause | ...
 *
 * What counts is useful work: processor time of ncube and its cabinets, without that in which they wait for each other,
 * in each second. On one processor that is a second, or what others leave of it. It says the same whether harts compute
 * or exchange messages, so that a few milliseconds tell. A hart's work takes longer on several processors, whose caches
 * exchange what it uses; WIDTH_GAIN is more than that. In parts of a program where few harts run, several processors
 * are no better and no worse than one. Only speed depends on this.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WIDTH_EPOCH_NS    3000000u /* in which work is weighed, and as much again for each WIDTH_HARTS; */
#define WIDTH_HARTS       256u
#define WIDTH_EPOCH_STOPS 2u   /* longer if harts have not stopped so often, on average, */
#define WIDTH_EPOCHS      8u   /* up to so many */
#define WIDTH_SLICE       4u   /* epochs between two in which what has been chosen is weighed; the first pause, */
#define WIDTH_LONGER      4u   /* and so many times as long each time that nothing changes, */
#define WIDTH_PAUSE_MOST  512u /* up to about this */
#define WIDTH_GAIN        1.3  /* of useful work, for which more processors are taken, */
#define WIDTH_KEPT        1.1  /* for which they are kept, */
#define WIDTH_DROP        0.8  /* and loss, for which fewer are tried at once */
#define WIDTH_DENSER      1.5  /* times as many as before: then more are tried at once */
#define WIDTH_RISES       64u  /* but not for so many epochs after a trial */
#define WIDTH_FREE        0.9  /* useful work on one processor: with less, others use the host, and no more are tried */
#define WIDTH_LOOK_STOPS  16u  /* between two looks at the clock */
#define WIDTH_STOPS_LEAST 1.5  /* harts that stop in a window, on average, for more to be tried */

struct width {
    uint32_t now;                   /* processors over which harts are spread: */
    uint32_t own;                   /* the chosen number, or */
    uint32_t other;                 /* the one that is tried; 0: none is */
    uint32_t most;                  /* there are no more processors */
    bool fixed;                     /* nothing is tried */
    bool goes_down;                 /* fewer are tried next, if there are any */
    bool weighs;                    /* useful work is to be measured, which takes time */
    uint64_t epoch_ns, stops_least; /* of a short epoch */
    uint64_t trial_ns, tried_ns;    /* when the next one is due, and the last one has ended */
    uint32_t pause;                 /* in epochs */
    double rate;                    /* own's useful work in a second, when it was weighed last, */
    double fewer;                   /* and that of fewer processors then; 0: it is not known */
    double density;                 /* stops in a window when another number was tried last */
    /* Of what goes on: */
    uint64_t begun_ns, stops, next_stops, windows;
};

/* Begins with one processor, of at most `most`, for so many harts; `fixed` > 0: so many, always. */
void width_init(struct width *w, uint32_t harts, uint32_t most, uint32_t fixed);

/* Begins with so many. */
void width_begin_with(struct width *w, uint32_t own);

/* A hart has stopped. */
static inline void width_count(struct width *w)
{
    w->stops++;
}

/* To be called in each window, when its harts have been granted. Returns true if width_is_due is to be asked: not
 * before harts have stopped a few times, since it takes a look at the host's clock. */
static inline bool width_counts(struct width *w)
{
    w->windows++;
    if (w->fixed || w->stops < w->next_stops)
        return false;
    w->next_stops = w->stops + WIDTH_LOOK_STOPS;
    return true;
}

/* Returns true if width_look is to be called. */
static inline bool width_is_due(const struct width *w, uint64_t now_ns)
{
    return now_ns - w->begun_ns >= (w->weighs ? 1 : WIDTH_SLICE) * w->epoch_ns;
}

enum width_step {
    WIDTH_GOES_ON, /* what is weighed needs longer */
    WIDTH_BEGINS,  /* work counts from now on */
    WIDTH_CHANGES, /* w->now or w->weighs: work counts from the next call on, since this window has begun as before */
};

/* work_ns: useful work since it counts, if w->weighs. */
enum width_step width_look(struct width *w, uint64_t now_ns, uint64_t work_ns);

/* The processors for what is tried cannot be had. */
void width_refuse(struct width *w, uint64_t now_ns);

/* The machine rests: it begins anew on one processor. */
void width_rest(struct width *w);
