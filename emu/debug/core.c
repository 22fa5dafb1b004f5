/*
 * Core files (core.h). The layout of the notes is that of Linux on RISC-V, which gdb reads for programs without an
 * operating system, too.
 */
#include "emu/debug/core.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "vertex/contract/machine.h"

#define USER_END      CABINET_RAM_BASE /* above lies Vertex */
#define WINDOW_END    (VERTEX_WINDOW_VA + NODE_RAM_MAX_BYTES)
#define SEGMENTS_MOST 65534u /* more than an ELF file can have */

/* struct elf_prstatus */
struct prstatus {
    int32_t si_signo, si_code, si_errno;
    int16_t cursig, pad;
    uint64_t sigpend, sighold;
    int32_t pid, ppid, pgrp, sid;
    uint64_t times[8];
    uint64_t x[32]; /* the pc is x[0] */
    int32_t fpvalid, pad_end;
};
_Static_assert(sizeof(struct prstatus) == 376, "elf_prstatus of RISC-V");

struct prpsinfo { /* struct elf_prpsinfo */
    char state, sname, zombie, nice;
    uint32_t pad;
    uint64_t flag;
    uint32_t uid, gid;
    int32_t pid, ppid, pgrp, sid;
    char fname[16], psargs[80];
};
_Static_assert(sizeof(struct prpsinfo) == 136, "elf_prpsinfo of 64 bits");

struct fpregset {
    uint64_t f[32];
    uint32_t fcsr, pad;
};

struct note_head {
    Elf64_Nhdr h;
    char name[8]; /* "CORE", filled up */
};

struct __attribute__((packed)) notes { /* notes begin at multiples of 4 */
    struct note_head status_head;
    struct prstatus status;
    struct note_head float_head;
    struct fpregset floats;
    struct note_head info_head;
    struct prpsinfo info;
};

int core_signal_of(uint64_t scause)
{
    enum { FETCH_MISALIGNED, ILLEGAL_INSTRUCTION = 2, BREAKPOINT, LOAD_MISALIGNED, STORE_MISALIGNED = 6 };

    switch (scause) {
    case ILLEGAL_INSTRUCTION:
        return SIGILL;
    case BREAKPOINT:
        return SIGTRAP;
    case FETCH_MISALIGNED:
    case LOAD_MISALIGNED:
    case STORE_MISALIGNED:
        return SIGBUS;
    default: /* access and page faults */
        return SIGSEGV;
    }
}

/* ---- Notes ---- */

static struct note_head note_head(uint32_t type, size_t bytes)
{
    return (struct note_head){.h = {.n_namesz = sizeof "CORE", .n_descsz = (Elf64_Word)bytes, .n_type = type},
                              .name = "CORE"};
}

static void describe_program(struct prpsinfo *info, const struct core_program *program)
{
    size_t used = 0;

    snprintf(info->fname, sizeof info->fname, "%s", host_last_part(program->name));
    for (int i = 0; i < program->argc && used < sizeof info->psargs; i++)
        used += (size_t)snprintf(info->psargs + used, sizeof info->psargs - used, "%s%s", i > 0 ? " " : "",
                                 program->argv[i]);
}

static void make_notes(struct notes *n, const struct debug_registers *r, uint32_t node, int signal,
                       const struct core_program *program)
{
    struct prstatus status = {.si_signo = signal, .cursig = (int16_t)signal, .pid = (int32_t)node + 1};
    struct fpregset floats = {.fcsr = (uint32_t)r->floats.fcsr};
    struct prpsinfo info = {.sname = 'R', .pid = (int32_t)node + 1};

    memcpy(status.x, r->x, sizeof status.x);
    memcpy(floats.f, r->floats.f, sizeof floats.f);
    describe_program(&info, program);
    *n = (struct notes){.status_head = note_head(NT_PRSTATUS, sizeof status),
                        .status = status,
                        .float_head = note_head(NT_FPREGSET, sizeof floats),
                        .floats = floats,
                        .info_head = note_head(NT_PRPSINFO, sizeof info),
                        .info = info};
}

/* ---- Memory ---- */

struct segments {
    Elf64_Phdr *header;
    size_t n, room;
};

static void add_runs(struct segments *s, const struct target *t, uint32_t node, uint64_t low, uint64_t high)
{
    struct target_run run;

    for (; s->n < SEGMENTS_MOST && target_find_run(t, node, low, high, &run); low = run.low + run.bytes) {
        uint32_t flags = PF_R | (run.writable ? PF_W : 0) | (run.executable ? PF_X : 0);

        s->header = memory_grow(s->header, &s->room, s->n + 1, sizeof *s->header);
        s->header[s->n++] = (Elf64_Phdr){.p_type = PT_LOAD,
                                         .p_flags = flags,
                                         .p_vaddr = run.low,
                                         .p_filesz = run.bytes,
                                         .p_memsz = run.bytes,
                                         .p_align = TARGET_PAGE_BYTES};
    }
}

static int write_segment(const struct target *t, uint32_t node, const Elf64_Phdr *h, int fd)
{
    uint8_t page[TARGET_PAGE_BYTES];

    for (uint64_t at = 0; at < h->p_filesz; at += sizeof page)
        if (target_read_page(t, node, h->p_vaddr + at, page) &&
            host_write(fd, page, sizeof page, (off_t)(h->p_offset + at)) < 0)
            return -1;
    return 0;
}

/* ---- The file ---- */

static uint64_t place_segments(struct segments *s)
{
    uint64_t at = sizeof(Elf64_Ehdr) + s->n * sizeof *s->header;

    s->header[0].p_offset = at;
    at += s->header[0].p_filesz;
    for (size_t i = 1; i < s->n; i++) {
        at = (at + TARGET_PAGE_BYTES - 1) / TARGET_PAGE_BYTES * TARGET_PAGE_BYTES;
        s->header[i].p_offset = at;
        at += s->header[i].p_filesz;
    }
    return at;
}

static int write_head(const struct segments *s, uint32_t flags, const struct notes *notes, int fd)
{
    const Elf64_Ehdr head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
                             .e_type = ET_CORE,
                             .e_machine = EM_RISCV,
                             .e_version = EV_CURRENT,
                             .e_phoff = sizeof head,
                             .e_flags = flags,
                             .e_ehsize = sizeof head,
                             .e_phentsize = sizeof *s->header,
                             .e_phnum = (Elf64_Half)s->n};

    if (host_write(fd, &head, sizeof head, 0) < 0 ||
        host_write(fd, s->header, s->n * sizeof *s->header, sizeof head) < 0)
        return -1;
    return host_write(fd, notes, sizeof *notes, (off_t)s->header[0].p_offset) < 0 ? -1 : 0;
}

int core_write(const struct target *t, uint32_t node, int signal, const struct core_program *program, int fd)
{
    struct segments s = {.header = NULL};
    struct notes notes;
    int result;

    make_notes(&notes, target_program_registers(t, node), node, signal, program);
    s.header = memory_grow(s.header, &s.room, 1, sizeof *s.header);
    s.header[s.n++] = (Elf64_Phdr){.p_type = PT_NOTE, .p_filesz = sizeof notes, .p_align = 4};
    add_runs(&s, t, node, 0, USER_END);
    add_runs(&s, t, node, VERTEX_WINDOW_VA, WINDOW_END);
    uint64_t bytes = place_segments(&s);
    result = write_head(&s, program->elf_flags, &notes, fd);
    for (size_t i = 1; i < s.n && result == 0; i++)
        result = write_segment(t, node, &s.header[i], fd);
    if (result == 0)
        result = ftruncate(fd, (off_t)bytes);
    free(s.header);
    return result;
}
