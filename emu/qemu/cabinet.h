/*
 * A cabinet: one QEMU process with some nodes and an injector hart, and its RAM, mapped here too.
 */
#ifndef NCUBE_CABINET_H
#define NCUBE_CABINET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cabinet {
    pid_t pid; /* 0: not running */
    int ram_fd;
    int log_fd;   /* what QEMU printed, for the report when it dies */
    uint8_t *ram; /* QEMU-physical CABINET_RAM_BASE */
    size_t bytes;
    uint32_t nodes; /* node harts; hart `nodes` is the injector */
    uint32_t first_slot;
    uint64_t ram_bytes; /* per node */
    bool statistics;    /* the plugin counts for them */
};

#define CABINET_DESCRIPTORS  2u /* that one takes of this process */
#define CABINET_MORE_THREADS 6u /* that its QEMU has beside its nodes': injector, main loop, RCU, and what may come */

/* Of the RAM of a cabinet of so many nodes: what it takes of this process's addresses, and of one file. */
size_t cabinet_bytes(uint32_t nodes, uint64_t ram_bytes);

/* Makes the RAM and starts QEMU on it. It dies with this process, however this process ends, and keeps no file by
 * name. `plugin` is the path of plugin.so; with `statistics` it counts instructions, and is slower. Returns 0, or -1
 * with one clear line in error. */
int cabinet_start(struct cabinet *c, uint32_t nodes, uint64_t ram_bytes, uint32_t first_slot, int control_fd,
                  const char *plugin, bool statistics, char *error, size_t error_bytes);

/* Forgets everything in RAM, such as what QEMU's own reset wrote. Only while all harts are stopped. */
int cabinet_clear(struct cabinet *c);

/* Memory of a hart's window, node-physical address 0. */
uint8_t *cabinet_window(const struct cabinet *c, uint32_t hart);
/* Memory at a QEMU-physical address of the shared region. */
uint8_t *cabinet_shared(const struct cabinet *c, uint64_t pa);

/* Ends the process, whatever it does, and gives everything back. May be called at any stage. */
void cabinet_stop(struct cabinet *c);

/* Processor time of the process so far, in ticks of the host; 0 if it cannot be known. */
uint64_t cabinet_worked(const struct cabinet *c);

/* "qemu-system-riscv64 (process 12)", and what it printed last. */
void cabinet_describe(const struct cabinet *c, char *text, size_t bytes);

/* If the process has ended by itself: 1 and one line saying how, with QEMU's last words. Else 0. */
int cabinet_died(struct cabinet *c, char *text, size_t bytes);

#endif
