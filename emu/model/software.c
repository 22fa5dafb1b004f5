/*
 * The constants are differences between published times and those of Vertex, which docs/timing.md gives with the
 * commands that measure them (tests/guest/measure, examples/diskmon).
 *
 *   start-up, send and receive together     published, of the nCUBE 2's system: about 160 us; own, by the way that
 *                                           charged messages take: 118 us. Half of the rest on either side
 *   each byte, in the CPU stage of a PIO    published [P0 section 3]: 0.083 us (from 800 us for 4 KB to 1820 us for
 *   WRITE, at the sender                    16 KB); Vertex: 0.073 us
 */
#include "emu/model/software.h"

#include <stddef.h>

const char *const software_presets[] = {"wang-leiss", NULL};

const struct software_cost software_costs[] = {{.send_cycles = 420, .receive_cycles = 420, .kb_cycles = 205}};

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
    [STATED_ARRIVAL] = {"arrival", {2500, 0, 0, 4500, 0}},
    [STATED_REAP] = {"reap", {14000, 0, 0, 0, 0}},
    [STATED_CALL] = {"call", {6000, 0, 0, 4500, 1100}},
    [STATED_TRANSFER] = {"transfer", {8000, 0, 0, 4500, 1500}},
    [STATED_PIO_CALL] = {"pio_call", {300, 0, 0, 700, 0}},
    [STATED_PIO_READ] = {"pio_read", {4100, 0, 0, 5400, 2800}},
    [STATED_PIO_WRITE] = {"pio_write", {3500, 0, 0, 4400, 1550}},
};
