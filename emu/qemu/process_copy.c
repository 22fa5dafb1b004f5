/* Copies of a QEMU's process (process_copy.h). */
#include "emu/qemu/process_copy.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOKS   10000  /* at QEMU's threads, before the copy is refused */
#define LOOK_NS 500000 /* of the host, between two: QEMU does not say when it has come up */

/* ---- QEMU's own threads ---- */

/* Returns true if the thread waits forever, or has ended: the main loop for a descriptor, another for a futex. */
static bool thread_rests(pid_t thread)
{
    char path[64];
    long call = -1;
    uint64_t arg[4] = {0};

    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", (int)thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return errno == ENOENT;
    int n = fscanf(f, "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &call, &arg[0], &arg[1], &arg[2], &arg[3]);
    fclose(f);
    if (n != 5)
        return false; /* "running" */
    return thread == getpid() ? call == SYS_ppoll && arg[2] == 0 : call == SYS_futex && arg[3] == 0;
}

static bool threads_rest(void)
{
    bool rest = true;
    DIR *d = opendir("/proc/self/task");

    if (!d)
        return false;
    for (struct dirent *e; rest && (e = readdir(d));) {
        pid_t thread = atoi(e->d_name);

        rest = thread == 0 || thread == gettid() || thread_rests(thread);
    }
    closedir(d);
    return rest;
}

int process_await_rest(void)
{
    const struct timespec while_looking = {.tv_nsec = LOOK_NS};

    if (access("/proc/self/syscall", R_OK) != 0)
        return errno; /* a host that does not say what threads wait for */
    for (uint32_t k = 0; k < LOOKS; k++) {
        if (threads_rest())
            return 0;
        nanosleep(&while_looking, NULL);
    }
    return EAGAIN;
}

/* ---- The process ---- */

pid_t process_copy(void)
{
    pid_t parent = getppid();
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);

    if (pid != 0)
        return pid > 0 ? (pid_t)pid : -errno;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(EXIT_FAILURE);
    return 0;
}
