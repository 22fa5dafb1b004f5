/*
 * Copies of a cabinet (plugin_copy.h).
 *
 *     ncube           first carrier of the first cabinet        the copy: a child of ncube
 *     ----------      -------------------------------------     ------------------------------------
 *     an order   -->  waits until QEMU's own threads sleep
 *                     clone                               --->  maps its own RAM where QEMU has it
 *                <--  answers: its process                      takes its own slots; starts carriers
 *                <--------------------------------------------  tells ncube: all harts have stopped
 *
 * A hart that has stopped for the first time is a fiber: memory. So it exists in the copy as it does in the original.
 * QEMU's threads do not: its main loop, which has nothing to do in a cabinet, and the thread that frees memory for RCU,
 * which is not freed then. Neither may be at work when the process is copied, since it may hold a lock, which would
 * never be released in the copy. After a start each waits forever for something to do, and nothing in a cabinet whose
 * harts are stopped gives them anything.
 *
 * The system call is used as such, not fork of the C library: a copy is to be a child of ncube, which waits for its
 * end, and QEMU's preparations for a fork wait for harts, which are stopped.
 */
#include "emu/qemu/plugin_copy.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "emu/qemu/plugin_debug.h"
#include "emu/qemu/plugin_hart.h"
#include "emu/qemu/plugin_turns.h"

#define LOOKS         10000        /* at QEMU's threads, before the order is refused */
#define LOOK_NS       500000       /* of the host, between two: QEMU does not say when it has come up */
#define MAPPINGS_MOST 16           /* of the RAM in a QEMU process: two, QEMU's and the plugin's */
#define MAPS_LINE     (4096 + 128) /* a path, and what stands before it */

static struct {
    uint32_t harts;
    pid_t ncube;
} copy;

void copy_init(uint32_t harts)
{
    copy.harts = harts;
    copy.ncube = getppid();
}

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

static int await_rest(void)
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

/* ---- Memory ---- */

struct mapping {
    uint8_t *start;
    size_t bytes;
    off_t offset;
};

struct mappings { /* of the RAM */
    struct mapping of[MAPPINGS_MOST];
    uint32_t n;
};

static bool is_ram(const struct stat *ram, unsigned major, unsigned minor, uint64_t inode)
{
    return inode == ram->st_ino && makedev(major, minor) == ram->st_dev;
}

/* Finds where the RAM is mapped. QEMU has all its memory left out of a fork: the rest is taken in again. */
static int find_memory(struct mappings *m)
{
    char line[MAPS_LINE];
    struct stat ram;
    FILE *f = fopen("/proc/self/maps", "re");

    m->n = 0;
    if (!f || fstat((int)plugin.ram_fd, &ram) != 0)
        return errno;
    while (m->n < MAPPINGS_MOST && fgets(line, sizeof line, f)) {
        uint64_t start, end, offset, inode;
        unsigned major, minor;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64, &start, &end, &offset, &major,
                   &minor, &inode) != 6)
            continue;
        if (is_ram(&ram, major, minor, inode))
            m->of[m->n++] = (struct mapping){(uint8_t *)start, end - start, (off_t)offset};
        else
            madvise((void *)start, end - start, MADV_DOFORK); /* refused for the kernel's own */
    }
    fclose(f);
    return m->n < MAPPINGS_MOST ? 0 : E2BIG;
}

static bool map_ram(const struct mappings *m, int fd)
{
    for (uint32_t k = 0; k < m->n; k++)
        if (mmap(m->of[k].start, m->of[k].bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd,
                 m->of[k].offset) == MAP_FAILED)
            return false;
    return true;
}

/* ---- The copy ---- */

/* The descriptors of ncube, of which this process opens its own. */
static int open_ncube(uint32_t fd)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/fd/%" PRIu32, (int)copy.ncube, fd);
    return open(path, O_RDWR | O_APPEND | O_CLOEXEC);
}

/* The carriers of the original leave signals to QEMU's threads, which are not here. */
static void take_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_UNBLOCK, &all, NULL);
}

/* Stops the harts in the copy's slots, as they have stopped in the original's. */
static void stop_harts(uint64_t original)
{
    for (uint32_t i = 0; i < copy.harts; i++) {
        const struct slot *from = &plugin.control->slot[original + i];
        struct slot *to = slot_of(i);

        to->cycles = from->cycles;
        to->why = from->why;
        to->op = from->op;
        to->trap = from->trap;
        to->instructions = from->instructions;
        report_stop(i);
    }
}

static void fail(const char *what)
{
    dprintf(STDERR_FILENO, "plugin.so: cannot %s of a copied cabinet: %s\n", what, strerror(errno));
    _exit(EXIT_FAILURE);
}

static void become_copy(const struct slot_copy *order, const struct mappings *m, int ram, int log)
{
    uint64_t original = plugin.first;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != copy.ncube)
        _exit(EXIT_FAILURE);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    if (!map_ram(m, ram))
        fail("map the memory");
    close(ram);
    take_signals();
    plugin.first = order->first;
    plugin_debug_move(order->first);
    if (turns_move(order->first) != 0)
        fail("start the carriers");
    stop_harts(original);
}

/* Returns 0 in the copy, and in the original the process of the copy, or a negative errno. */
static int32_t make(const struct slot_copy *order)
{
    struct mappings m;
    int error = await_rest();

    if (error == 0)
        error = find_memory(&m);
    if (error != 0)
        return -error;
    int ram = open_ncube(order->ram_fd), log = open_ncube(order->log_fd);
    long pid = ram >= 0 && log >= 0 ? syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) : -1;
    if (pid == 0) {
        become_copy(order, &m, ram, log);
        return 0;
    }
    error = errno;
    if (ram >= 0)
        close(ram);
    if (log >= 0)
        close(log);
    return pid > 0 ? (int32_t)pid : -error;
}

void copy_make(void)
{
    struct slot_copy *order = &plugin.control->copy;
    const struct slot_copy taken = *order;
    int32_t answer = make(&taken);

    if (answer == 0)
        return;
    __atomic_store_n(&order->process, answer, __ATOMIC_SEQ_CST);
    doorbell_ring(plugin.control);
}
