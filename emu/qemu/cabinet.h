/*
 * A cabinet: one QEMU process, whose harts are some of the nodes and an injector. Its RAM is mapped by this process
 * too.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "emu/qemu/slots.h"

struct cabinet_watch { /* what the plugin does beyond its work; each makes it slower */
    bool statistics;   /* counts instructions and kernel cycles */
    enum slot_traps traps;
};

struct cabinet {
    pid_t pid; /* 0: not running */
    bool here; /* it is this process (inside.h) */
    int ram_fd;
    int log_fd;   /* QEMU's output, for the report when it ends */
    uint8_t *ram; /* QEMU-physical CABINET_RAM_BASE */
    size_t bytes;
    uint32_t nodes; /* node harts; hart `nodes` is the injector */
    uint32_t first_slot;
    uint64_t ram_bytes; /* per node */
    uint32_t code_mb;   /* of QEMU's buffer for translated code, besides 2 for each hart */
    struct cabinet_watch watch;
};

#define CABINET_QEMU "qemu-system-riscv64" /* as the shell would find it */

/* Before its start, and after its end. */
#define CABINET_NONE ((struct cabinet){.ram_fd = -1, .log_fd = -1})

#define CABINET_DESCRIPTORS 2u /* descriptors that a cabinet takes in this process */
#define CABINET_MORE_THREADS \
    6u /* QEMU's threads besides one for each node: injector, main loop, RCU; carriers, and a reserve */

/* Returns the size of the RAM of a cabinet of that many nodes: of the address space that it takes in this process, and
 * of its memfd. */
size_t cabinet_bytes(uint32_t nodes, uint64_t ram_bytes);
/* Returns the size of the address space that the cabinet's QEMU takes, which is more than the memory that it uses. */
uint64_t cabinet_qemu_bytes(uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb);

/* Makes the RAM and starts QEMU on it. QEMU is killed when this process ends, however it ends, and leaves no file.
 * `plugin` is the path of plugin.so. In a process with ncube inside (inside.h), which is the machine's only cabinet, no
 * other is started. The caller ends the cabinet with cabinet_stop. Returns 0, or -1 with one line in error if memory or
 * a process cannot be had. */
int cabinet_start(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb, uint32_t first_slot,
                  int control_fd, const char *plugin, struct cabinet_watch watch, char *error, size_t error_bytes);

/* Starts QEMU with ncube.so, `plugin`, as cabinet_start does: a cabinet in which ncube runs the machine, by the page of
 * page_fd (inside.h), with these signals blocked. */
int cabinet_start_inside(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t code_mb, int page_fd,
                         const char *plugin, const sigset_t *blocked, char *error, size_t error_bytes);

/* Returns the processor time in ns that the cabinet's QEMU has had; 0 if there is none. A signal handler may call
 * it. */
uint64_t cabinet_work_ns(const struct cabinet *c);
/* Makes the RAM of a cabinet that is to be a copy of another, and no process: the caller sets `pid`, and ends the
 * cabinet with cabinet_stop. Returns 0, or -1 with errno. */
int cabinet_prepare_copy(struct cabinet *c, const struct cabinet *of, uint32_t first_slot);

/* Makes a cabinet that another host has: no process, and memory for what this one knows of its nodes' mailboxes. The
 * caller ends it with cabinet_stop. Returns 0, or -1 with errno. */
int cabinet_make_far(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t first_slot);

/* Zeroes the RAM, in which QEMU's reset has written. All harts must be stopped. Returns 0, or -1 with errno. */
int cabinet_clear(struct cabinet *c);

/* Returns the memory of a hart's window, from node-physical address 0 on. */
uint8_t *cabinet_window(const struct cabinet *c, uint32_t hart);
/* Returns the memory at a QEMU-physical address of the shared region. */
uint8_t *cabinet_shared(const struct cabinet *c, uint64_t pa);

/* Kills the process, without waiting for its end. */
void cabinet_kill(const struct cabinet *c);
/* Kills the process and frees everything. May be called at any stage from CABINET_NONE on, and again. */
void cabinet_stop(struct cabinet *c);

/* Returns true if a signal has stopped the process, which may go on later. */
bool cabinet_is_suspended(const struct cabinet *c);

/* Writes "qemu-system-riscv64 (process 12)" and the last line that it printed. */
void cabinet_describe(const struct cabinet *c, char *text, size_t bytes);

/* If the process has ended by itself: returns 1 and writes one line that says how, with the last line that QEMU
 * printed. Else returns 0. */
int cabinet_died(struct cabinet *c, char *text, size_t bytes);
