/*
 * Copies of a cabinet (plugin_copy.h).
 *
 *     ncube           first carrier of the first cabinet        the copy: a child of ncube
 *     ----------      -------------------------------------     ------------------------------------
 *     an order   -->  waits until QEMU's own threads sleep
 *                     clone                               --->  maps its own RAM where QEMU has it
 *                <--  answers: its process                      takes its own slots; starts carriers
 *                <--------------------------------------------  tells ncube: all harts have stopped
 */
#include "emu/plugin/plugin_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory_file.h"
#include "emu/plugin/plugin_debug.h"
#include "emu/plugin/plugin_hart.h"
#include "emu/plugin/plugin_turns.h"
#include "emu/qemu/process_copy.h"

static struct {
    uint32_t harts;
    pid_t ncube;
} copy;

void copy_init(uint32_t harts)
{
    copy.harts = harts;
    copy.ncube = getppid();
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

static void become_copy(const struct slot_copy *order, const struct memory_file *m, int ram, int log)
{
    uint64_t original = plugin.first;

    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    close(log);
    if (!memory_file_map(m, ram))
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
    struct memory_file m;
    int error = process_await_rest();

    if (error == 0)
        error = memory_file_find(&m, (int)plugin.ram_fd);
    if (error != 0)
        return -error;
    int ram = open_ncube(order->ram_fd), log = open_ncube(order->log_fd);
    pid_t pid = ram >= 0 && log >= 0 ? process_copy() : -errno;
    if (pid == 0) {
        become_copy(order, &m, ram, log);
        return 0;
    }
    if (ram >= 0)
        close(ram);
    if (log >= 0)
        close(log);
    return pid;
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
