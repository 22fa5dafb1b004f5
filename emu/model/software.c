/*
 * The constants are differences between published times and those of Vertex, which docs/timing.md gives with the
 * commands that measure them (tests/guest/measure, examples/diskmon).
 *
 *   start-up, send and receive together     published, of the nCUBE 2's system: about 160 us; own, by the way that
 *                                           charged messages take: 112 us. Half of the rest on either side
 *   each byte, in the CPU stage of a PIO    published [P0 section 3]: 0.083 us (from 800 us for 4 KB to 1820 us for
 *   WRITE, at the sender                    16 KB); Vertex: 0.073 us
 */
#include "emu/model/software.h"

#include <stddef.h>
#include <string.h>

const struct software_preset software_presets[] = {
    {"wang-leiss", {.send_cycles = 484, .receive_cycles = 484, .kb_cycles = 205}},
    {NULL, {0}},
};

const struct software_preset *software_preset_find(const char *name)
{
    const struct software_preset *p = software_presets;

    while (p->name && strcmp(p->name, name) != 0)
        p++;
    return p->name ? p : NULL;
}
