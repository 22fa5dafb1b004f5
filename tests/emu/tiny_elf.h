/*
 * Builds small ELF files for tests of the loader: a header, up to four program headers, and the segments' bytes.
 */
#pragma once

#include <elf.h>
#include <string.h>

#include "scratch.h"

#define TINY_SEGMENTS 4
#define TINY_BYTES    65536

struct tiny_elf {
    Elf64_Ehdr header;
    Elf64_Phdr segment[TINY_SEGMENTS]; /* p_offset is set here; bytes at i are i % 251 */
    size_t cut_to;                     /* length of the file, 0: whole */
};

/* A program of 20000 bytes of text, and 100 of data with 5000 zeros. */
static inline struct tiny_elf tiny_elf_program(void)
{
    struct tiny_elf e = {
        .header = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                   .e_type = ET_EXEC,
                   .e_machine = EM_RISCV,
                   .e_version = EV_CURRENT,
                   .e_entry = 0x10100,
                   .e_phoff = sizeof(Elf64_Ehdr),
                   .e_ehsize = sizeof(Elf64_Ehdr),
                   .e_phentsize = sizeof(Elf64_Phdr),
                   .e_phnum = 2},
        .segment = {{.p_type = PT_LOAD,
                     .p_flags = PF_R | PF_X,
                     .p_vaddr = 0x10000,
                     .p_paddr = 0x80000000,
                     .p_filesz = 20000,
                     .p_memsz = 20000},
                    {.p_type = PT_LOAD,
                     .p_flags = PF_R | PF_W,
                     .p_vaddr = 0x16004,
                     .p_paddr = 0x80010000,
                     .p_filesz = 100,
                     .p_memsz = 5100}},
    };

    return e;
}

static inline void tiny_elf_write(const struct scratch *s, const char *name, const struct tiny_elf *e)
{
    static unsigned char bytes[TINY_BYTES];
    struct tiny_elf out = *e;
    size_t at = sizeof out.header + sizeof out.segment;

    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = 0;
    for (int k = 0; k < out.header.e_phnum; k++) {
        out.segment[k].p_offset = at;
        for (size_t i = 0; i < out.segment[k].p_filesz && at < sizeof bytes; i++)
            bytes[at++] = i % 251;
    }
    memcpy(bytes, &out.header, sizeof out.header);
    memcpy(bytes + sizeof out.header, out.segment, sizeof out.segment);
    scratch_write(s, name, bytes, e->cut_to ? e->cut_to : at);
}
