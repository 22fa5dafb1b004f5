/*
 * What rank 0 and the racks tell each other.
 *
 * A message is a sequence of records, each a struct wire_record and its bytes. Rank 0 collects the commands for each
 * rack, and sends them to all racks together, before it waits for anything. A rack executes them in order, so that what
 * was commanded before a grant is done when the hart begins. All processes run the same ncube on the same kind of
 * processor, so structures travel as they are.
 *
 *   WIRE_COMMANDS  rank 0 -> rack    grants, calls, reads and writes of nodes' memory
 *   WIRE_REPORT    rack -> rank 0    harts that have stopped, or run on; a QEMU that has ended
 *   WIRE_ANSWER    rack -> rank 0    to WIRE_ASK, WIRE_SETUP and WIRE_READ to WIRE_SAME, each at once
 *   WIRE_LOOK      rank 0 -> rack    whether it is there; beside the order of commands
 *   WIRE_ALIVE     rack -> rank 0    to that: uint64_t, ns of processor time that the rack's QEMUs have had
 *   WIRE_BYTES     rack -> rack      of a message between their nodes, in the order of the commands
 *   WIRE_MEET      all -> all        once, at the start, so that all are connected
 *   WIRE_DONE      rack -> rank 0    once, at the end: it has nothing left
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/base/limits.h"
#include "emu/qemu/slots.h"

enum wire_tag { WIRE_COMMANDS = 1, WIRE_REPORT, WIRE_ANSWER, WIRE_LOOK, WIRE_ALIVE, WIRE_BYTES, WIRE_MEET, WIRE_DONE };

enum wire_kind {
    WIRE_ASK = 1,   /* answer: struct wire_host; the same in all versions, but for what follows its version */
    WIRE_SETUP,     /* struct wire_setup; answer: nothing, or a line if it fails */
    WIRE_CONSTANTS, /* the part of struct control that changes between runs of harts */
    WIRE_WANTED,    /* addr: control.wanted */
    WIRE_GRANT,     /* slot; addr: spread; struct wire_grant, mailbox lines */
    WIRE_CALL,      /* slot */
    WIRE_WRITE,     /* slot, addr; the bytes */
    WIRE_MOVE,      /* slot, addr; struct wire_move: from another node of the rack */
    WIRE_GIVE,      /* slot, addr; struct wire_move: to another rack */
    WIRE_TAKE,      /* slot, addr; struct wire_move: from another rack */
    WIRE_READ,      /* slot, addr; uint64_t: how many; answer: the bytes */
    WIRE_TEXT,      /* slot, addr; uint64_t: how many; answer: uint64_t, the QEMU-physical address */
    WIRE_KEEP,      /* slot; addr: whether to keep the state */
    WIRE_SAME,      /* slot; answer: uint64_t, whether it is the same */
    WIRE_END,
    /* reports: */
    WIRE_STOPPED, /* slot; its head and tail, posts, traps, registers, mailbox lines */
    WIRE_RUNS,    /* slot; the tail of a slot, traps */
    WIRE_FAILED,  /* a line */
};

struct wire_record {
    uint32_t kind, slot;
    uint64_t addr;
    uint64_t bytes; /* that follow */
};

#define WIRE_LIB_BYTES 512u

struct wire_host {
    uint64_t version; /* wire_version */
    uint64_t qemu;    /* likewise; 0: there is none */
    struct limits there;
    uint32_t processors; /* that the rack may use */
    char lib[WIRE_LIB_BYTES];
};

struct wire_setup {
    uint32_t slots, nodes, cabinets, nodes_per_cabinet, first_cabinet, end_cabinet;
    uint32_t dim, io_nodes, text_kb, code_mb, processors, harts, statistics, traps;
    uint64_t ram_bytes;
    uint32_t cycles_of_class[SLOT_COST_CLASSES];
};

struct wire_move {
    uint64_t addr; /* the other end's */
    uint64_t bytes;
    uint32_t slot; /* the other end's, */
    uint32_t rank; /* and its rack's */
};

/* The part of struct control from its quantum to before what is fixed when the cabinets start. */
#define WIRE_CONSTANTS_FROM  offsetof(struct control, quantum_cycles)
#define WIRE_CONSTANTS_BYTES (offsetof(struct control, debug_offset) - WIRE_CONSTANTS_FROM)

/* The part of a slot that ncube writes while its hart is stopped, and the one that the plugin writes. */
#define WIRE_HEAD_FROM offsetof(struct slot, base_cycles)
#define WIRE_HEAD_TO   offsetof(struct slot, progress)
#define WIRE_TAIL_FROM offsetof(struct slot, progress)
#define WIRE_TAIL_TO   offsetof(struct slot, post)

struct wire_grant {
    uint8_t head[WIRE_HEAD_TO - WIRE_HEAD_FROM];
    uint64_t progress, quiet, quantum_end;
};

/* A message that grows; begins with zeros. The owner calls wire_free. */
struct wire {
    uint8_t *bytes;
    size_t n, room;
    size_t record; /* where the bytes of the last record begin */
};

void wire_free(struct wire *w);
/* Appends bytes that are no record, or not yet. */
void wire_append(struct wire *w, const void *bytes, size_t n);
/* Begins a record; wire_add adds bytes to it. */
void wire_begin(struct wire *w, uint32_t kind, uint32_t slot, uint64_t addr);
void wire_add(struct wire *w, const void *bytes, size_t n);
/* A record with one structure, or with none. */
void wire_put(struct wire *w, uint32_t kind, uint32_t slot, uint64_t addr, const void *bytes, size_t n);

/* Reads a message from *at on, which begins with 0. Returns false at the end. */
bool wire_next(const struct wire *w, size_t *at, struct wire_record *r, const uint8_t **bytes);

/* The lines of a mailbox that differ from what the other end knows, which is brought up to date; and back. wire_apply
 * changes both. Returns how many bytes it has read. */
#define WIRE_LINE_BYTES 64u
void wire_add_lines(struct wire *w, const uint8_t *mailbox, uint8_t *known);
size_t wire_take_lines(const uint8_t *bytes, uint8_t *mailbox, uint8_t *known);

/* What must be equal on all hosts: this program, and its parts in that folder. 0: one cannot be read. */
uint64_t wire_version(const char *lib);
/* The same of one file. */
uint64_t wire_file_version(const char *path);
