/*
 * The contract between ncube, the QEMU plugin and Vertex's lowest layer.
 *
 * Shared by three programs: the host (emu/), the plugin (emu/plugin/plugin.c) and the node kernel
 * (vertex/, freestanding). Numbers and layouts only; no functions, no host headers.
 *
 * A cabinet is one QEMU process with n node harts and one injector hart (hart n). Its RAM:
 *
 *   0x8000_0000  +--------------------------------+  shared region: read and execute for every hart
 *                | Vertex text and rodata,        |
 *                | initial image of its data      |
 *   0x8200_0000  | built-in program (nsdisk)      |
 *   0x8240_0000  | text of programs: the text pool|
 *   0x83ff_f000  | struct boot_info               |
 *   0x8400_0000  +--------------------------------+  window of hart 0: ram_bytes, node-physical 0
 *                |                                |
 *                +--------------------------------+  window of hart 1
 *                | ...                            |
 *                +--------------------------------+  window of hart n (injector), then slack for QEMU's FDT
 *
 * Every address that Vertex hands to the NCU is node-physical: an offset into its own window.
 *
 * QEMU translates code in the shared region once for all harts of the cabinet. QEMU does not see ncube's stores, so
 * ncube never overwrites code there that a hart may have executed.
 */
#pragma once

#include <stdint.h>

#include "vertex/contract/drive_cache.h"
#include "vertex/contract/stated.h"

/* ---- Clock -------------------------------------------------------------------------------- */

#define CLOCK_HZ      20000000u /* 20 MHz [P0 section 1]; one cycle is 50 ns, the unit of virtual time */
#define CYCLES_PER_US 20u

/* ---- Node addresses ------------------------------------------------------------------------
 * 0 .. 8191        compute nodes, by hypercube address
 * 0x4000 + 16b + i I/O node i of NChannel board b
 * 0x8000           the front end
 */
#define NODE_MAX_DIM       13
#define NODE_IO_BASE       0x4000u
#define NODE_BOARD_NODES   16u /* I/O nodes of a board [P0 section 1] */
#define NODE_IO(board, i)  (NODE_IO_BASE + NODE_BOARD_NODES * (board) + (i))
#define NODE_BOARD_OF(n)   (((n)-NODE_IO_BASE) / NODE_BOARD_NODES) /* of an I/O node, as the next one */
#define NODE_INDEX_OF(n)   (((n)-NODE_IO_BASE) % NODE_BOARD_NODES)
#define NODE_HOST          0x8000u
#define NODE_BOARDS        NODE_BOARD_OF(NODE_HOST)
#define NODE_IS_COMPUTE(n) ((n) < NODE_IO_BASE)
#define NODE_IS_IO(n)      ((n) >= NODE_IO_BASE && (n) < NODE_HOST)

#define NCU_CHANNELS    14u /* per compute node: 0-12 the dimensions, 13 the I/O channel [P0 section 1] */
#define NCU_IO_CHANNEL  13u /* of a compute node */
#define NCU_SI_CHANNELS 8u  /* of an I/O node: its channels 0-7 to SI nodes [P0 section 1] */

/* ---- Cabinet memory ----------------------------------------------------------------------- */

#define CABINET_RAM_BASE             0x80000000ull
#define CABINET_SHARED_BYTES         0x04000000ull
#define CABINET_BUILTIN_BASE         0x82000000ull
#define CABINET_TEXT_BASE            0x82400000ull
#define CABINET_BOOT_INFO            0x83fff000ull
#define CABINET_TEXT_MAX_BYTES       0x01b00000ull
#define CABINET_WINDOW(i, ram_bytes) (CABINET_RAM_BASE + CABINET_SHARED_BYTES + (i) * (ram_bytes))
#define CABINET_MAX_NODES            256u

#define NODE_PAGE_BYTES        4096u
#define NODE_RAM_MIN_BYTES     (1ull << 20)
#define NODE_RAM_MAX_BYTES     (64ull << 20)
#define NODE_RAM_DEFAULT_BYTES (16ull << 20)

_Static_assert(CABINET_TEXT_BASE + CABINET_TEXT_MAX_BYTES <= CABINET_BOOT_INFO, "the text pool");

/* Virtual addresses of Vertex: text where it lies, the window within the reach of medany code. */
#define VERTEX_TEXT_VA   CABINET_RAM_BASE
#define VERTEX_WINDOW_VA 0xc0000000ull
#define NCU_MAILBOX_PA   0x1000u /* node-physical page of struct ncu_mailbox */
#define VERTEX_DATA_PA   0x2000u /* node-physical start of Vertex's data and bss */

#define BOOT_INFO_MAGIC 0x3242554345626f6full

struct boot_segment {
    uint64_t pa;         /* QEMU-physical address of the bytes in the shared region, page aligned */
    uint64_t va;         /* user virtual address, page aligned */
    uint64_t file_bytes; /* bytes present at pa */
    uint64_t mem_bytes;  /* >= file_bytes; the rest is zero */
    uint32_t writable;   /* 0: map the shared pages, read and execute; 1: copy to private pages */
    uint32_t pad;
};

struct boot_info { /* at CABINET_BOOT_INFO, written by ncube before any hart starts */
    uint64_t magic;
    uint64_t ram_bytes;     /* size of each node's window, a power of two */
    uint32_t nodes;         /* node harts in this cabinet; hart `nodes` is the injector */
    uint32_t segments;      /* of the built-in program, 0 when there is none */
    uint64_t builtin_entry; /* its entry point, a user virtual address */
    struct boot_segment segment[4];
};
_Static_assert(sizeof(struct boot_info) == 32 + 4 * 40, "boot_info layout");

/* ---- NCU instructions ----------------------------------------------------------------------
 * An NCU instruction is `slti x0, x0, op`, a RISC-V HINT, executed in the shared region; elsewhere it does nothing.
 * It reads its arguments from mailbox.arg and has left its answers in mailbox.ans when it completes.
 *
 *  op          arguments                               answers, effect
 *  IDLE        why (ncu_wait), node, type              waits until a cause is due; then as CAUSES
 *  CAUSES                                              ans0 = n, cause[0..n-1]; call again if n = NCU_CAUSES_MAX.
 *                                                      ncube executes the first CAUSES of an interrupt, or after
 *                                                      ENTER's answer, while the hart is stopped: n is already set
 *  SEND        dest, addr, bytes, tag, cookie, via     starts a message; via = I/O node's channel or -1; dest may
 *                                                      be marked NCU_SEND_RESTART or NCU_SEND_SUBCUBE;
 *                                                      SEND_DONE gives the buffer back: see REAP, SENT
 *  ARM         channel, addr, bytes, time              arms, or re-arms, a channel's only receive buffer; at that
 *                                                      time if the channel is marked NCU_ARM_LATER
 *  TIME                                                ans0 = cycles since the machine started
 *  TIMER       cycles                                  cause TIMER at that absolute time; none from
 *                                                      NCU_TIMER_LAST on: ~0, or what is as good as for ever
 *  DISK        drive, write?, sector, sectors, addr, cookie   cause DISK_DONE; sectors of 512 bytes. write? may be
 *                                                      marked NCU_DISK_STARTED
 *  REAP        1 or 0                                  1: every SEND_DONE is a cause. 0, the state after boot: only
 *                                                      a failed send is a cause; the others wait for SENT. A
 *                                                      machine with faults is always in state 1
 *  CHARGE      cycles                                  advances the node's clock
 *  ENTERED                                             ans0 = the time of the trap's ENTER
 *  STATED      row, cycles                             the next SEND or DISK, or the LEAVE of a trap, takes place at
 *                                                      mailbox.stated_cycles, or at once if that is over. If it is
 *                                                      over for longer than the argument says, stated_cycles follows,
 *                                                      and excess[row] counts it
 *  SENT                                                as CAUSES, for the SEND_DONEs that wait
 *  ENTER                                               the first action of a trap from U-mode other than the
 *                                                      interrupt. ans0 = 0: go on with the trap; else handle the
 *                                                      causes due before it (CAUSES ... END), then ENTER again
 *  END                                                 the last action of a handler: the clock becomes that of the
 *                                                      interrupted code, plus the cycles that the handler took
 *  DROP                                                instead of END: the interrupted code never resumes, and what
 *                                                      it did ahead of the cause is undone; keeps the handler's clock
 *  LEAVE                                               just before sret, without a branch between: resumes user
 *                                                      code. After END it sets the clock to END's time again, so the
 *                                                      way back is free. If mailbox.exact is set, user code stops in
 *                                                      time for the next cause, or at the end of its quantum
 *  QUANTUM                                             after END, at the end of a quantum: ans0 = 0: no cause is due
 *                                                      before it; else handle the causes, then QUANTUM again
 *  TEXT        addr, bytes: whole pages                ans0 = QEMU-physical address at which the node may execute
 *                                                      the same bytes: in the text pool, or in place
 *  MARK        ABI_MARK_BYTES bytes of text            the trace notes it; nothing else happens
 *  FAULT       addr, bytes                             Vertex panics with that text; does not return
 *  INJECT                                              injector only: waits; then ans0 = n, and
 *                                                      inject[0..n-1] = harts to interrupt through SSWI
 *
 * SEND, ARM, TIMER, DISK, REAP, MARK and END are posted: the instruction completes at once, and its effect carries the
 * time at which it was executed. The hart runs through up to NCU_POSTED posts between two other operations; the next
 * post stops it.
 */
/* Order after damage. After a message from one node to another was damaged, every later message between the two also
 * fails with NCU_EPARITY: the receiver refuses those already in the network, and those sent after the sender's NCU has
 * reported the damage do not start. The first SEND with this mark ends this state. A sender therefore keeps the order
 * if it waits until none of its messages to that node is under way, and then sends the failed ones again in order, the
 * first one marked. */
#define NCU_SEND_RESTART (1ull << 32)

/* SEND to a whole subcube: dest is its lowest node. Every node of the subcube except the sender, which must be in it,
 * gets the message. SEND_DONE comes when the sender's own channels have carried it. A machine with faults, where the
 * sender could not learn which nodes missed it, or whose timing has no broadcasts, has mailbox.broadcasts = 0 and fails
 * such a SEND with NCU_EDEST. */
#define NCU_SEND_SUBCUBE(dim) ((uint64_t)((dim) + 1u) << 40)
#define NCU_SUBCUBE_OF(dest)  ((uint32_t)((dest) >> 40)) /* dim + 1; 0: no broadcast */

#define NCU_ARM_LATER (1ull << 32)

/* DISK with this mark ends with CAUSE_STARTED_DONE, so that the kernel handles the end of its only command, for which
 * it waits, without searching the others. */
#define NCU_DISK_STARTED 2u

/* The cost of an interrupt beyond the work between CAUSES and END: entry, exit, saving and restoring registers. Every
 * interrupt is charged this, wherever its hart was stopped. */
#define NCU_INTERRUPT_CYCLES 200u

/* The least time that the kernel takes from an ENTER to a SEND, an ARM or another process; the same from an IDLE or
 * CAUSES; and from user code to ENTER. An instruction's time is that at the end of its block. ncube relies on them.
 * They hold for the default cost of each class of instructions; tests/machine/test_kernel_ways.c finds the shortest
 * ways. */
#define TRAP_QUIET_CYCLES 200u
#define WAKE_QUIET_CYCLES 180u
#define USER_QUIET_CYCLES 60u

/* Likewise, from an IDLE, a CAUSES, and an ENTER that has found no cause, to the next NCU instruction of any kind that
 * others can notice: all but TIME, CHARGE, ENTERED and STATED. */
#define TRAP_SILENT_CYCLES   80u
#define IDLE_SILENT_CYCLES   180u
#define CAUSES_SILENT_CYCLES 110u

/* After an interrupt the kernel may have to leave the interrupted code, for another process or a handler: it must
 * attend. Wherever that can happen, user code can see where it was interrupted (emu/time/sched.h). mailbox.exact says
 * how soon: */
enum ncu_exact {
    NCU_EXACT_NOT = 0,
    NCU_EXACT_IN_QUANTA, /* at the end of a quantum of user code, counted from the last trap */
    NCU_EXACT_AT_ONCE,
};
#define NCU_QUANTUM_CYCLES 10000u /* half a millisecond */

/* mailbox.attention: what an interrupt is for. */
enum ncu_attention {
    NCU_ATTEND_NOT = 0, /* handle the causes; if the kernel must attend, set mailbox.attend */
    NCU_ATTEND,         /* handle the causes, then attend */
    NCU_ATTEND_QUANTUM, /* handle the causes, then those that QUANTUM tells of, then attend */
    NCU_ATTEND_ONLY,    /* there are no causes, but the end of a quantum and mailbox.attend */
};

enum ncu_op {
    NCU_IDLE = 1,
    NCU_CAUSES,
    NCU_SEND,
    NCU_ARM,
    NCU_TIME,
    NCU_TIMER,
    NCU_DISK,
    NCU_ENTER,
    NCU_END,
    NCU_FAULT,
    NCU_INJECT,
    NCU_LEAVE,
    NCU_DROP,
    NCU_REAP,
    NCU_SENT,
    NCU_CHARGE,
    NCU_TEXT,
    NCU_MARK,
    NCU_QUANTUM,
    NCU_ENTERED,
    NCU_STATED,
    NCU_OPS
};

/* IDLE's first argument: the reason for waiting, which a deadlock report prints. */
enum ncu_wait {
    NCU_WAIT_PROCESS = 0, /* a program to run */
    NCU_WAIT_MESSAGE = 1, /* nread: source address or NCU_WAIT_ANY, type with its context, */
                          /* NCU_WAIT_ANY_TYPE and a context, or NCU_WAIT_ANY */
    NCU_WAIT_REPLY = 2,   /* a file server's reply: the server's address, the reply's type */
    NCU_WAIT_MEMORY = 3,  /* the end of a send, which frees its buffer */
    NCU_WAIT_DISK = 4,    /* a drive: its number */
    NCU_WAIT_TIME = 5,    /* the timer; without a timer, a signal */
    NCU_WAIT_CHILD = 6,   /* the end of a child process */
    NCU_WAIT_PIPE = 7,    /* a local pipe: 1 for room in it, 0 for bytes */
    NCU_WAIT_POLL = 8,    /* one of several descriptors */
};
#define NCU_WAIT_ANY      (~0ull)
#define NCU_WAIT_ANY_TYPE (1ull << 32) /* of the context in the other bits */

#define NCU_TIMER_NONE    (~0ull)
#define NCU_TIMER_LAST    (1ull << 60) /* 1,800 years; later times never come, and no sum of times overflows */
#define NCU_VIA_NEAREST   0xffffffffull
#define SECTOR_BYTES      512u
#define DRIVE_MAX         7u  /* per I/O node's controller [P0 section 3] */
#define VOLUME_NAME_BYTES 16u /* with the final NUL */

/* The reasons for which the NCU interrupts a node or ends IDLE. */
enum ncu_cause_kind {
    CAUSE_RECV_HEADER = 1, /* a message waits at `channel`, which has no armed buffer, or none that holds `bytes` */
    CAUSE_RECV_DONE,       /* the armed buffer at `addr` holds `bytes` bytes; the channel is unarmed */
    CAUSE_SEND_DONE,       /* the send with `cookie` has left the buffer; status 0 (a cause only by REAP) or NCU_E... */
    CAUSE_TIMER,
    CAUSE_DISK_DONE,    /* the command with `cookie`; status 0 or NCU_E... */
    CAUSE_STARTED_DONE, /* the same, for a command marked NCU_DISK_STARTED */
};

/* `status` of a cause. */
enum {
    NCU_OK = 0,
    NCU_EADDR = -1,   /* buffer outside the node's memory, or misaligned */
    NCU_EDEST = -2,   /* no such node, or no path to it */
    NCU_EPARITY = -3, /* the message was damaged, or followed a damaged one without a RESTART between */
    NCU_EDRIVE = -4,  /* no such drive or sector */
    NCU_EMEDIA = -5,  /* the drive reports a failure */
    NCU_ELINK = -6,   /* a channel on the path is dead; nothing has arrived */
};

struct ncu_cause {
    uint32_t kind;
    uint32_t channel; /* RECV: the receiving node's channel number; SEND_DONE: the number of other messages under way
                       * from this node to that one */
    uint32_t node;    /* RECV: sender's address, given by the hardware; SEND_DONE: the destination's */
    int32_t status;
    uint64_t tag;   /* RECV: the sender's 32-bit tag (in the 8-byte header on the wire) */
    uint64_t bytes; /* RECV: payload length, without the 8-byte header */
    uint64_t addr;  /* RECV_DONE: node-physical buffer */
    uint64_t cookie;
    uint64_t start_cycles; /* RECV, SEND: when the sender's SEND was executed; DISK: command issued */
    uint64_t done_cycles;  /* RECV_DONE, SEND_DONE: last byte delivered; DISK: done */
};
_Static_assert(sizeof(struct ncu_cause) == 64, "ncu_cause layout");

#define NCU_ARGS       8u
#define NCU_CAUSES_MAX 32u
#define NCU_INJECT_MAX 32u
#define NCU_POSTED     16u
#define NCU_MAGIC      0x32554e434555424eull

/* Cycles that Vertex charges for a message beyond its own instructions: once at the sender, once at the receiver, and
 * on both sides for the payload. All 0: no extra charge. */
struct software_cost {
    uint32_t send_cycles, receive_cycles;
    uint32_t kb_cycles;    /* for each 1024 bytes */
    uint32_t after_cycles; /* I/O node: nsdisk's, when its reply to a family's request has left; 0: it does not wait */
};

struct ncu_mailbox { /* one page at node-physical NCU_MAILBOX_PA */
    /* 0x000 arguments and answers of NCU instructions */
    uint64_t arg[NCU_ARGS];
    uint64_t ans[NCU_ARGS];
    /* 0x080 identity; written before the hart starts, read-only */
    uint64_t magic;
    uint64_t ram_bytes;
    uint32_t node;     /* own address */
    uint32_t dim;      /* of the whole cube */
    uint32_t channels; /* bit c: channel c is connected (compute: 0-13, I/O node: 0-7) */
    uint32_t drives;   /* I/O node: drives on its controller, else 0 */
    uint64_t drive_sectors[DRIVE_MAX];
    char drive_volume[DRIVE_MAX][VOLUME_NAME_BYTES]; /* volume names, NUL-terminated */
    uint64_t boot_number; /* differs between two boots of the same machine image; part of every SFID */
    uint32_t broadcasts;  /* 1: SEND to a subcube is possible */
    struct software_cost software;
    uint32_t concurrent; /* I/O node: 1: its drives work at the same time, and nsdisk serves several requests at once;
                          * 2: the same, and software.after_cycles is set */
    uint32_t server_limit_s; /* virtual time; a file server that makes no progress for so long counts as dead */
    char pad[0x170 - 0x080 - 0x20 - 36 - 8 * DRIVE_MAX - VOLUME_NAME_BYTES * DRIVE_MAX];
    /* 0x170 */
    uint32_t attention; /* enum ncu_attention, written by the NCU for each interrupt and for causes at ENTER */
    /* 0x174 written by Vertex */
    uint32_t attend; /* not 0: the kernel must attend at the end of the quantum; read at LEAVE, cleared at ENTER */
    uint32_t exact;  /* enum ncu_exact; read at LEAVE */
    uint32_t copies; /* payloads copied since boot; may wrap; ncube reads it at IDLE */
    /* 0x180 */
    uint32_t inject[NCU_INJECT_MAX]; /* injector only */
    /* 0x200 */
    struct ncu_cause cause[NCU_CAUSES_MAX];
    /* 0xa00 identity, continued */
    struct drive_cache drive_cache[DRIVE_MAX]; /* of each volume: settings of its nsdisk's data cache */
    struct stated_cost stated[STATED_ROWS];
    /* written by Vertex and by STATED */
    uint64_t stated_cycles; /* when the work for files up to here is done (vertex/message/stated.h) */
    struct stated_excess excess[STATED_ROWS];
    uint32_t excesses; /* all together; ncube reads them at IDLE */
};
_Static_assert(__builtin_offsetof(struct ncu_mailbox, inject) == 0x180, "mailbox layout");
_Static_assert(__builtin_offsetof(struct ncu_mailbox, cause) == 0x200, "mailbox layout");
_Static_assert(sizeof(struct ncu_mailbox) <= 4096, "the mailbox is one page");
