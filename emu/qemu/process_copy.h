/*
 * Copying this process, of QEMU, by one of its threads. A hart that has stopped as a fiber is memory, so it exists in
 * the copy as it does in the original. QEMU's own threads do not: its main loop, which has nothing to do in a cabinet,
 * and the thread that frees memory for RCU, which is not freed then. None of them may be at work when the process is
 * copied, since it may hold a lock, which would never be released in the copy. After a start each waits forever for
 * something to do, and nothing in a cabinet whose harts are stopped gives them anything.
 *
 * The system call is used as such, not fork of the C library: QEMU's preparations for a fork wait for harts, which are
 * stopped. What the process shares with others, files in memory, is a copy's own by memory_file.h.
 */
#pragma once

#include <sys/types.h>

/* Waits until all other threads wait forever. Returns 0, or an errno: they do not come to rest, or the host does not
 * say what threads wait for. */
int process_await_rest(void);

/* Copies the process. The copy is a child of this one's parent, has only the thread that calls, and is killed when the
 * parent ends. Returns 0 in the copy, and in the original the copy's number, or a negative errno. */
pid_t process_copy(void);
