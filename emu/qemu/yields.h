/*
 * Waiting by sched_yield, before a sleep. ncube and the carriers of its cabinets hand each other the same processor
 * many thousand times a second. If nobody else wants it, a yield comes back when the other one waits, and costs a third
 * of a sleep and a wake-up. If somebody does, it comes back after a time slice of the other's: milliseconds. So a slow
 * yield ends the yields for a while; if that was the work of the other one, they would have saved little anyway.
 */
#pragma once

#include <sched.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define YIELDS_SLOW_NS    200000u
#define YIELDS_TRIED      2u    /* in one wait */
#define YIELDS_LEFT_FIRST 4096u /* waits without yields after a slow one; then four times as many, up to */
#define YIELDS_LEFT_MOST  65536u

struct yields {         /* of one waiter; begins with zeros */
    uint32_t left;      /* waits that are still to pass without yields */
    uint32_t last_left; /* after the last slow one */
};

static inline uint64_t yields_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline void yields_were_slow(struct yields *y)
{
    uint32_t more = 4 * y->last_left;

    y->last_left = more == 0 ? YIELDS_LEFT_FIRST : more < YIELDS_LEFT_MOST ? more : YIELDS_LEFT_MOST;
    y->left = y->last_left;
}

/* The processor time of this thread between its patient waits. */
struct useful {
    uint64_t ns;
    uint64_t since_ns; /* its clock at the end of the last one; 0: nobody wants to know */
};

static inline uint64_t useful_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t useful_ns(const struct useful *u)
{
    return u->ns + (u->since_ns > 0 ? useful_now_ns() - u->since_ns : 0);
}

/* How a thread waits; the same for all of a machine. */
struct patience {
    uint64_t ns;     /* by yields, before it sleeps; 0: for a moment */
    uint32_t weighs; /* its useful work is wanted */
};

/* The thread has slept. */
static inline void useful_begin(struct useful *u, const struct patience *p)
{
    if (p->weighs && u->since_ns == 0)
        u->since_ns = useful_now_ns();
}

static inline bool yields_await_for(const struct patience *p, const uint32_t *word, uint32_t value, struct useful *u)
{
    uint64_t end_ns = yields_now_ns() + p->ns;
    bool changed = false;

    u->ns = useful_ns(u);
    while (!changed && yields_now_ns() < end_ns) {
        sched_yield();
        changed = __atomic_load_n(word, __ATOMIC_SEQ_CST) != value;
    }
    u->since_ns = p->weighs ? useful_now_ns() : 0;
    return changed;
}

/* Returns true if *word is no longer `value`. With patience it may take that long; without, it returns soon, but
 * for what others make of a yield. */
static inline bool yields_await(struct yields *y, const uint32_t *word, uint32_t value, const struct patience *p,
                                struct useful *u)
{
    if (p->ns > 0)
        return yields_await_for(p, word, value, u);
    u->since_ns = 0;
    if (y->left > 0) {
        y->left--;
        return false;
    }
    uint64_t begun_ns = yields_now_ns();
    bool changed = false;
    for (uint32_t k = 0; k < YIELDS_TRIED && !changed; k++) {
        sched_yield();
        changed = __atomic_load_n(word, __ATOMIC_SEQ_CST) != value;
    }
    if (yields_now_ns() - begun_ns > YIELDS_SLOW_NS)
        yields_were_slow(y);
    else if (y->last_left > YIELDS_LEFT_FIRST)
        y->last_left -= y->last_left / 4096; /* forgotten in time */
    return changed;
}
