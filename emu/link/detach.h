/*
 * `ncube boot --detach`: the command returns when the machine is up, and a process of its own keeps it up. Until then
 * both are in the caller's group, so that Ctrl-C ends both, and the machine ends if the command is killed.
 */
#pragma once

/* Begins the machine's process, to be called before any other is begun. Returns in that process only, with a descriptor
 * for detach_done; the command waits, and exits with 0 after detach_done or with the status of the process. -1: the
 * process cannot be begun, with errno. */
int detach_begin(void);

/* Lets the command return. The process then has a session of its own, and its standard streams are /dev/null. */
void detach_done(int fd);
