/*
 * What fibers cost on this host (fiber.h), for ncube, which chooses between them and threads.
 */
#include <pthread.h>
#include <signal.h>

#include "emu/base/host.h"
#include "emu/qemu/fiber.h"
#include "emu/qemu/futex.h"

/* Fibers and threads are equally fast where five changes of fibers take as long as two threads need to wake each other
 * twice: as measured, with changes that were made slower (docs/performance.md). */
#define CHANGES     5u
#define ROUNDS      2u
#define TRIED       16u
#define MEASURED_NS 5000000u /* long enough: other work keeps the host busy */
#define NO_MORE     UINT32_MAX

static uint64_t now_ns(void)
{
    return host_ns(CLOCK_MONOTONIC);
}

/* Returns the least time of a change of fibers by a system call: other work on the host only adds to it. */
static uint64_t change_ns(void)
{
    uint64_t least = UINT64_MAX;

    for (uint32_t k = 0; k < TRIED; k++) {
        uint64_t begun = now_ns();
        fiber_call();
        uint64_t taken = now_ns() - begun;

        least = taken < least ? taken : least;
    }
    return least;
}

/* ---- A change of threads, there and back ---- */

struct rounds {
    uint32_t there, there_asleep, back, back_asleep;
};

static void *answer(void *arg)
{
    struct rounds *r = arg;

    for (uint32_t k = 0; __atomic_load_n(&r->there, __ATOMIC_SEQ_CST) != NO_MORE;) {
        futex_await_change(&r->there, k, &r->there_asleep);
        k = __atomic_load_n(&r->there, __ATOMIC_SEQ_CST);
        __atomic_store_n(&r->back, k, __ATOMIC_SEQ_CST);
        futex_wake_sleeper(&r->back, &r->back_asleep);
    }
    return NULL;
}

/* Begins with k = 1. */
static uint64_t round_ns(struct rounds *r, uint32_t k)
{
    uint64_t begun = now_ns();

    __atomic_store_n(&r->there, k, __ATOMIC_SEQ_CST);
    futex_wake_sleeper(&r->there, &r->there_asleep);
    futex_await_change(&r->back, k - 1, &r->back_asleep);
    return now_ns() - begun;
}

/* Returns the least time, on the processor where the caller is kept; 0 if there is no second thread. */
static uint64_t least_round_ns(void)
{
    struct rounds r = {0};
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, answer, &r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return 0;
    uint64_t least = UINT64_MAX, end = now_ns() + MEASURED_NS;
    for (uint32_t k = 1; k <= TRIED && now_ns() < end; k++) {
        uint64_t taken = round_ns(&r, k);

        least = taken < least ? taken : least;
    }
    __atomic_store_n(&r.there, NO_MORE, __ATOMIC_SEQ_CST);
    futex_wake_sleeper(&r.there, &r.there_asleep);
    pthread_join(thread, NULL);
    return least;
}

bool fiber_pays(void)
{
    return fiber_has_instruction() || (fiber_call() && CHANGES * change_ns() <= ROUNDS * least_round_ns());
}
