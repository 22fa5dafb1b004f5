/* Waiting and waking on a 32-bit word in shared memory, for ncube and the plugin. */
#pragma once

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FUTEX_FOREVER (-1)

/* Sleeps while *word == value, for at most limit_ms milliseconds of the host's time, or FUTEX_FOREVER. May return
 * early. */
static inline void futex_wait(uint32_t *word, uint32_t value, int limit_ms)
{
    const struct timespec limit = {limit_ms / 1000, limit_ms % 1000 * 1000000l};

    syscall(SYS_futex, word, FUTEX_WAIT, value, limit_ms == FUTEX_FOREVER ? NULL : &limit, NULL, 0);
}

/* Wakes one thread that sleeps on the word. */
static inline void futex_wake(uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* The two sides of a word for which one thread waits; *asleep saves the system call while it does not sleep. The first
 * returns when *word != value; the second is to be called after *word has changed. */
static inline void futex_await_change(uint32_t *word, uint32_t value, uint32_t *asleep)
{
    __atomic_store_n(asleep, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == value)
        futex_wait(word, value, FUTEX_FOREVER);
    __atomic_store_n(asleep, 0, __ATOMIC_SEQ_CST);
}

static inline void futex_wake_sleeper(uint32_t *word, const uint32_t *asleep)
{
    if (__atomic_load_n(asleep, __ATOMIC_SEQ_CST))
        futex_wake(word);
}
