/*
 * Core files: what one node of a program had, as an ELF core that gdb opens with the program.
 *
 *   header, program headers
 *   notes        PRSTATUS and FPREGSET: the registers, as Linux lays them out; PRPSINFO: the command line
 *   PT_LOADs     the pages of the program; and Vertex's memory on the node, for what is queued there
 *
 * A page that has not been touched is a hole in the file.
 */
#pragma once

#include "emu/debug/target.h"

struct core_program {
    const char *name;
    char *const *argv; /* argv[0 .. argc-1] */
    int argc;
    uint32_t elf_flags; /* of the program's file */
};

/* Writes the core of a node, which stands or waits, to an empty file that can be read and written. `signal`: Linux's
 * number of what has ended it; 0: nothing has. Returns 0, or -1 with errno. */
int core_write(const struct target *t, uint32_t node, int signal, const struct core_program *program, int fd);

/* Returns Linux's number of the signal for an exception. */
int core_signal_of(uint64_t scause);
