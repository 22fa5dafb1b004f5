/*
 * Carriers and the harts that they carry (plugin_turns.h).
 *
 *     ncube         carrier                         fiber of hart i
 *     --------      --------------------------      ------------------------------
 *     grants i -->  takes i from its list
 *                   switches to i            ---->  executes
 *                                            <----  turns_stop: switches to the carrier
 *              <--  tells ncube: i has stopped
 *                   next hart, or sleeps
 *
 * A hart is reported after its registers have been put away, never before: ncube may give it to another carrier.
 *
 * QEMU makes a thread for each hart. At its first stop, in the hart's first block, the fiber leaves that thread, which
 * ends. Only then the carriers execute it. QEMU's own thread-local data stay with the fiber; so nothing of QEMU sees
 * the difference, but for the number of the thread, which it does not use.
 */
#include "emu/plugin/plugin_turns.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "emu/qemu/fiber.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/inside.h"
#include "emu/qemu/yields.h"

#define LEAVE_STACK_BYTES   8192u
#define CARRIER_STACK_BYTES (128u << 10) /* its harts have their own */

/* Harts that wait for their turn, in order: 1 + hart; 0: none. */
struct line {
    uint32_t first, last;
};

/* Those that have been granted and not begun come first: each may hold up the whole machine, until it is known how far
 * it is. */
struct carrier_state {
    struct fiber fiber; /* while a hart's runs */
    struct carrier *shared;
    struct yields yields;
    bool is_ncube; /* its thread is ncube's (inside.h) */
    struct line fresh, later;
};

enum turn_end {
    TURN_STOPPED, /* ncube is to be told */
    TURN_YIELDED, /* it waits for another turn, */
    TURN_LATER,   /* or for one when no hart is fresh */
    TURN_STANDS,  /* it waits for a grant, but counts as running */
};

struct turn {
    _Alignas(64) struct fiber fiber;
    struct carrier_state *carrier; /* of its last turn; NULL before the first */
    uint32_t next;                 /* 1 + hart: the next that waits */
    enum turn_end end;             /* of its last turn */
    void (*part)(unsigned hart);   /* of turns_visit; else NULL */
};

static struct {
    struct control *control;
    uint64_t first;
    uint8_t *leave_stacks;
    struct turn *turn;
    struct carrier_state *carrier;
    uint32_t carriers;
    uint32_t bell; /* inside.h: the doorbell's count for which ncube waits */
    void (*stopped)(unsigned hart);
    void (*obey)(uint32_t order);
} turns;

static void append(struct line *l, uint32_t hart)
{
    turns.turn[hart].next = 0;
    if (l->last != 0)
        turns.turn[l->last - 1].next = hart + 1;
    else
        l->first = hart + 1;
    l->last = hart + 1;
}

static bool any_waits(const struct carrier_state *c)
{
    return c->fresh.first != 0 || c->later.first != 0;
}

static bool any_is_fresh(const struct carrier_state *c)
{
    return c->fresh.first != 0 || __atomic_load_n(&c->shared->granted, __ATOMIC_RELAXED) != 0;
}

/* Takes what has been granted since; the last grant is the first of the list. */
static void take_granted(struct carrier_state *c)
{
    const struct slot *slot = &turns.control->slot[turns.first];
    uint32_t granted = __atomic_exchange_n(&c->shared->granted, 0, __ATOMIC_SEQ_CST), in_order = 0;

    if (granted >= SLOT_ORDERS) {
        turns.obey(granted);
        return;
    }
    while (granted != 0) {
        uint32_t hart = granted - 1, next = slot[hart].next_granted;

        turns.turn[hart].next = in_order;
        in_order = granted;
        granted = next;
    }
    while (in_order != 0) {
        uint32_t hart = in_order - 1;

        in_order = turns.turn[hart].next;
        append(&c->fresh, hart);
    }
}

static uint32_t next_hart(struct carrier_state *c)
{
    struct line *l = c->fresh.first != 0 ? &c->fresh : &c->later;
    uint32_t hart = l->first - 1;

    l->first = turns.turn[hart].next;
    if (l->first == 0)
        l->last = 0;
    return hart;
}

static void sleep_until_granted(struct carrier_state *state)
{
    struct carrier *c = state->shared;

    if (yields_await(&state->yields, &c->granted, 0, &turns.control->patience, &c->useful))
        return;
    futex_await_change(&c->granted, 0, &c->asleep);
    useful_begin(&c->useful, &turns.control->patience);
}

/* Returns true if the hart has run long and has not stopped. */
static bool run_next(struct carrier_state *c)
{
    uint32_t hart = next_hart(c);
    struct turn *t = &turns.turn[hart];

    t->carrier = c;
    fiber_switch(&c->fiber, &t->fiber);
    enum turn_end end = t->end; /* reported, it may be granted at once */
    if (end == TURN_YIELDED || end == TURN_LATER)
        append(&c->later, hart);
    else if (end == TURN_STOPPED)
        turns.stopped(hart);
    return end == TURN_YIELDED;
}

static void *carry(void *arg)
{
    struct carrier_state *c = arg;

    __atomic_store_n(&c->shared->thread, (uint32_t)gettid(), __ATOMIC_SEQ_CST);
    futex_wake(&c->shared->thread);
    for (;;) {
        take_granted(c);
        if (!any_waits(c)) {
            sleep_until_granted(c);
            continue;
        }
        run_next(c);
    }
    return NULL;
}

static bool bell_has_rung(void)
{
    return __atomic_load_n(&turns.control->doorbell, __ATOMIC_SEQ_CST) != turns.bell;
}

/* In ncube's thread, which is the first carrier. */
static void carry_inside(uint32_t bell)
{
    struct carrier_state *c = &turns.carrier[0];
    bool yields = false;

    __atomic_add_fetch(&inside.page->carried, 1, __ATOMIC_RELAXED);
    turns.bell = bell;
    for (take_granted(c); any_waits(c) && !(yields && bell_has_rung()); take_granted(c))
        yields = run_next(c);
    __atomic_add_fetch(&inside.page->carried, 1, __ATOMIC_RELAXED);
}

/* The end of a hart's own thread. The C library is not told: its data of the thread are the fiber's. */
static void thread_leave(uintptr_t hart)
{
    syscall(SYS_set_tid_address, NULL);
    turns.stopped((unsigned)hart);
    for (;;)
        syscall(SYS_exit, 0);
}

static void leave(unsigned hart)
{
    struct turn *t = &turns.turn[hart];

    t->end = TURN_STOPPED;
    if (t->carrier)
        fiber_switch(&t->fiber, &t->carrier->fiber);
    else
        fiber_leave(&t->fiber, turns.leave_stacks + (size_t)(hart + 1) * LEAVE_STACK_BYTES, thread_leave, hart);
}

void turns_stop(unsigned hart)
{
    struct turn *t = &turns.turn[hart];

    for (leave(hart); t->part; leave(hart)) {
        t->part(hart);
        t->part = NULL;
    }
}

void turns_visit(unsigned hart, void (*part)(unsigned hart))
{
    struct turn *t = &turns.turn[hart];

    t->part = part;
    t->carrier = &turns.carrier[0]; /* which takes the orders */
    fiber_switch(&t->carrier->fiber, &t->fiber);
}

void turns_yield(unsigned hart)
{
    struct turn *t = &turns.turn[hart];

    if (!any_waits(t->carrier) && !any_is_fresh(t->carrier) && !(t->carrier->is_ncube && bell_has_rung()))
        return;
    t->end = TURN_YIELDED;
    fiber_switch(&t->fiber, &t->carrier->fiber);
}

void turns_let_fresh(unsigned hart)
{
    struct turn *t = &turns.turn[hart];

    if (!any_is_fresh(t->carrier))
        return;
    t->end = TURN_LATER;
    fiber_switch(&t->fiber, &t->carrier->fiber);
}

/* A grant may come before the switch, but to no other carrier, which takes it after that. */
void turns_stand(unsigned hart)
{
    struct turn *t = &turns.turn[hart];

    t->end = TURN_STANDS;
    fiber_switch(&t->fiber, &t->carrier->fiber);
}

/* A carrier takes no signals: they are for QEMU's own threads. */
static int start_carrier(struct carrier_state *c)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, CARRIER_STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, &attributes, carry, c);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    if (error == 0)
        return 0;
    errno = error;
    return -1;
}

/* ncube places carriers by the number of their thread. */
static void await_carrier(const struct carrier_state *c)
{
    while (__atomic_load_n(&c->shared->thread, __ATOMIC_SEQ_CST) == 0)
        futex_wait(&c->shared->thread, 0, FUTEX_FOREVER);
}

int turns_move(uint64_t first)
{
    uint32_t n = turns.carriers;

    turns.first = first;
    for (uint32_t k = 0; k < n; k++)
        turns.carrier[k] = (struct carrier_state){.shared = &slots_carrier(turns.control, first)[k],
                                                  .is_ncube = k == 0 && inside_is()};
    turns.carrier[0].shared->thread = (uint32_t)gettid();
    for (uint32_t k = 1; k < n; k++) {
        turns.carrier[k].shared->thread = 0;
        if (start_carrier(&turns.carrier[k]) != 0)
            return -1;
        await_carrier(&turns.carrier[k]);
    }
    return 0;
}

/* Without them, nobody executes the harts that are elsewhere. */
static int carry_again(void)
{
    return turns_move(turns.first) == 0 ? 0 : errno;
}

static void be_carried_inside(struct carrier_state *c)
{
    c->is_ncube = true;
    c->shared->thread = (uint32_t)inside.thread;
    inside.carry = carry_inside;
    inside.carry_again = carry_again;
}

int turns_init(struct control *c, uint64_t first, uint32_t harts, void (*stopped)(unsigned hart),
               void (*obey)(uint32_t order))
{
    uint32_t n = slots_carriers(c, harts);

    fiber_init();
    turns.control = c;
    turns.first = first;
    turns.stopped = stopped;
    turns.obey = obey;
    turns.carriers = n;
    turns.turn = aligned_alloc(64, harts * sizeof(struct turn));
    turns.carrier = calloc(n, sizeof *turns.carrier);
    void *stacks = mmap(NULL, (size_t)harts * LEAVE_STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!turns.turn || !turns.carrier || stacks == MAP_FAILED)
        return -1;
    turns.leave_stacks = stacks;
    for (uint32_t i = 0; i < harts; i++)
        turns.turn[i] = (struct turn){.carrier = NULL};
    for (uint32_t k = 0; k < n; k++) {
        turns.carrier[k].shared = &slots_carrier(c, first)[k];
        if (k == 0 && inside_is())
            be_carried_inside(&turns.carrier[0]);
        else if (start_carrier(&turns.carrier[k]) != 0)
            return -1;
    }
    return 0;
}
