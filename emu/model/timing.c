/*
 * wang-leiss: the charges are differences between published times and those of Vertex, which docs/timing.md gives
 * with the commands that measure them (tests/guest/measure, examples/diskmon).
 *
 *   start-up, send and receive together     published, of the nCUBE 2's system: about 160 us; own, by the way that
 *                                           charged messages take: 118 us. Half of the rest on either side
 *   each byte, in the CPU stage of a PIO    published [P0 section 3]: 0.083 us (from 800 us for 4 KB to 1820 us for
 *   WRITE, at the sender                    16 KB); Vertex: 0.073 us
 *
 * ipsc-860: the machine of [P2]. What tests/guest/measure gives is beside each published value.
 *
 *   each byte            7 cycles, 2.86 million bytes a second; published: 2.8 [P2 Table 1]
 *   each hop             240 cycles. 4 KB take, requested and sent, 1776 us to a neighbour and 1953 us across seven
 *                        dimensions (2.2 and 2.0 MB/s, MB of 2^20 bytes [P2 Table 2]): 12 hops more take 177 us. As
 *                        rounded, they allow 7 to 22 us for a hop
 *   header               8 bytes, ours
 *   instructions         half of the nCUBE 2's cycles: a compute node's clock has 40 MHz [P2 section 2.0], twice the
 *                        nCUBE 2's. Halves are rounded up, but a branch's down: so memset fills 50.8 MB/s; published:
 *                        48.7 [P2 Table 2]. With 2 for a branch it would be 43.6
 *   messages             no charge on compute nodes: 4 KB, requested and sent, take 2.05 and 1.92 MB/s; published: 2.2
 *                        and 2.0
 *   a KB on I/O nodes    1314 cycles: memset fills 11.5 MB/s there [P2 Table 2], so 1024 bytes take 84.9 us instead of
 *                        19.2 us
 *   after a reply of     16200 cycles. The instructions of a block's request, but for its data, take 5000 cycles at a
 *   an I/O node          compute node's speed; by memset, 48.7 MB/s there and 11.5 here, an I/O node's is 4.23 times
 *                        less: 16200 cycles more. They come when the reply has left, for which the server waits: a
 *                        lone client's block takes no longer than such a request of a compute node [P2 Table 2; section
 *                        5: 2 MB/s on one node]
 *   broadcasts           none: circuits between two nodes; NX sends to all along a tree [P2 section 5.1]
 */
#include "emu/model/timing.h"

#include <stddef.h>

static const struct instruction_cost ipsc_860_instructions[] = {
    {"alu", 1},     {"multiply", 3},    {"divide", 20},  {"load", 2},       {"store", 2},
    {"branch", 1},  {"jump", 2},        {"atomic", 4},   {"fp_load", 1},    {"fp_store", 2},
    {"fp_add", 2},  {"fp_multiply", 2}, {"fp_fused", 4}, {"fp_divide", 15}, {"fp_convert", 2},
    {"fp_move", 1}, {"csr", 2},         {"trap", 10},    {"fence", 2},      {NULL, 0},
};

const char *const timing_names[] = {"wang-leiss", "ipsc-860", NULL};

const struct timing timing_presets[] = {
    {.software = {.compute = {.send_cycles = 420, .receive_cycles = 420, .kb_cycles = 205},
                  .io = {.send_cycles = 420, .receive_cycles = 420, .kb_cycles = 205}}},
    {.channels = {.hop_cycles = 240, .byte_cycles = 7, .header_bytes = 8},
     .no_broadcasts = true,
     .software = {.io = {.kb_cycles = 1314, .after_cycles = 16200}},
     .instructions = ipsc_860_instructions},
};

/* PIO_WRITE: the processor's time for a block is published [P0 section 3], 800, 1065 and 1820 us for 4, 8 and 16 KB.
 * They lie on no line. The row gives 860, 1170 and 1789 us; our instructions need as much at -O1.
 *
 * For all else the paper has no times. The rows of what the demonstration and tests/guest/creates do, and of reads,
 * are what our instructions take there, with what the compiler makes of them at -O1, and about a tenth more; the others
 * follow those whose work is alike. A request whose work grows with a file or folder has no row that always suffices:
 * of a long folder or a large file, readdir, truncate and unlink exceed theirs, and take what they take. The longest
 * ways of a row may be late (stated.h): of make, the flush that gathers what it has changed, behind its first write.
 */
const struct software_stated software_stated[STATED_ROWS] = {
    [STATED_OF(N_FOPEN)] = {"open", {18000, 4000, 9000, 16000, 0}},
    [STATED_OF(N_FCLOSE)] = {"close", {3000, 0, 9000, 5000, 0}},
    [STATED_OF(N_FREAD)] = {"read", {6000, 0, 7000, 5000, 1600}},
    [STATED_OF(N_FWRITE)] = {"write", {12000, 0, 10500, 10000, 1400}},
    [STATED_OF(N_FSTAT)] = {"stat", {4000, 0, 8000, 4000, 0}},
    [STATED_OF(N_FTRUNCATE)] = {"truncate", {8000, 12000, 8000, 6000, 0}},
    [STATED_OF(N_FSYNC)] = {"sync", {8000, 10000, 8000, 5000, 0}},
    [STATED_OF(N_FSTATNAME)] = {"stat_name", {7000, 0, 12000, 9000, 0}},
    [STATED_OF(N_FUNLINK)] = {"unlink", {26000, 13000, 6000, 5000, 0}},
    [STATED_OF(N_FRENAME)] = {"rename", {26000, 13000, 10000, 6000, 0}},
    [STATED_OF(N_FLINK)] = {"link", {20000, 13000, 10000, 6000, 0}},
    [STATED_OF(N_FMKDIR)] = {"mkdir", {14000, 20000, 12500, 4000, 0}},
    [STATED_OF(N_FRMDIR)] = {"rmdir", {26000, 13000, 10000, 5000, 0}},
    [STATED_OF(N_FREADDIR)] = {"readdir", {6000, 0, 12000, 12000, 8000}},
    [STATED_OF(N_FACCESS)] = {"access", {7000, 0, 12000, 9000, 0}},
    [STATED_OF(N_FEXIT)] = {"exit", {8000, 10000, 8000, 5000, 0}},
    [STATED_OF(N_FSTATFS)] = {"statfs", {4000, 0, 12000, 6000, 0}},
    [STATED_OF(N_FSYMLINK)] = {"symlink", {14000, 20000, 12500, 4000, 0}},
    [STATED_OF(N_FREADLINK)] = {"readlink", {7000, 0, 12000, 9000, 1600}},
    [STATED_OF(N_FSETATTR)] = {"set_attributes", {4000, 4000, 12000, 6000, 0}},
    [STATED_OF(N_FSYNCALL)] = {"sync_all", {8000, 10000, 8000, 5000, 0}},
    [STATED_OF(N_FSETATTRNAME)] = {"set_attributes_name", {7000, 4000, 12000, 9000, 0}},
    [STATED_OF(N_FVIEW)] = {"view", {6000, 0, 10000, 30000, 4000}},
    [STATED_OF(N_FREADNAME)] = {"read_name", {7000, 0, 12000, 11000, 1600}},
    [STATED_OF(N_FMAKE)] = {"make", {10000, 16000, 12500, 3000, 1600}},
    [STATED_OF(N_FFORK)] = {"fork", {4000, 0, 10000, 4000, 0}},
    [STATED_OF(N_FPOLL)] = {"poll", {4000, 0, 10000, 4000, 0}},
    [STATED_OF(N_FOPENREAD)] = {"open_read", {18000, 4000, 9000, 16000, 1600}},
    [STATED_OF(N_FADD)] = {"add", {4000, 0, 8000, 4000, 0}},
    [STATED_ARRIVAL] = {"arrival", {2500, 0, 0, 4500, 0}},
    [STATED_REAP] = {"reap", {14000, 0, 0, 0, 0}},
    [STATED_CALL] = {"call", {6000, 0, 0, 4500, 1100}},
    [STATED_TRANSFER] = {"transfer", {8000, 0, 0, 4500, 1500}},
    [STATED_PIO_CALL] = {"pio_call", {300, 0, 0, 700, 0}},
    [STATED_PIO_READ] = {"pio_read", {4100, 0, 0, 5400, 2800}},
    [STATED_PIO_WRITE] = {"pio_write", {3500, 0, 0, 4400, 1550}},
};
