/*
 * Whether processes only wait for the host's processors. Handlers of signals may call these functions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Returns true if a thread of the process could run: it runs, or waits for a processor. One that sleeps or is suspended
 * cannot. */
bool starved_is_runnable(pid_t pid);

/* Returns for how many ns this thread has waited for a processor since it began; 0 if the host does not say. */
uint64_t starved_own_ns(void);
