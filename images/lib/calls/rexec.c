/*
 * <rexec.h>: reads a program's file and passes its segments to the kernel.
 */
#include <rexec.h>

#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/inherit.h"
#include "images/lib/traps/result.h"
#include "images/lib/calls/rexec_load.h"
#include "images/lib/traps/self.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

/* ---- The file (ELF, 64 bit, little-endian) ---- */

struct elf_header {
    uint8_t ident[16];
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, program_at, section_at;
    uint32_t flags;
    uint16_t bytes, program_bytes, programs, section_bytes, sections, names;
};
_Static_assert(sizeof(struct elf_header) == 64, "elf_header layout");

struct elf_program {
    uint32_t type, flags;
    uint64_t at, va, pa, file_bytes, mem_bytes, align;
};
_Static_assert(sizeof(struct elf_program) == 56, "elf_program layout");

struct elf_note {
    uint32_t name_bytes, bytes, type;
};

enum { ELF_EXEC = 2, ELF_RISCV = 243, ELF_LOAD = 1, ELF_NOTE = 4, ELF_WRITABLE = 2 };

struct image {
    uint32_t drivers; /* PROGRAM_SEGMENT_: those that the program gets */
    char *bytes;
    size_t size;
    struct abi_segment segment[ABI_SEGMENTS_MAX];
    struct abi_program program;
};

static bool is_inside(const struct image *i, uint64_t at, uint64_t bytes)
{
    return at <= i->size && bytes <= i->size - at;
}

static bool is_executable(const struct image *i, const struct elf_header *h)
{
    static const uint8_t ident[] = {0x7f, 'E', 'L', 'F', 2, 1};

    return memcmp(h->ident, ident, sizeof ident) == 0 && h->type == ELF_EXEC && h->machine == ELF_RISCV &&
           h->program_bytes == sizeof(struct elf_program) &&
           is_inside(i, h->program_at, (uint64_t)h->programs * sizeof(struct elf_program));
}

static int add_segment(struct image *i, const struct elf_program *p)
{
    uint32_t n = i->program.segments;

    if (p->mem_bytes == 0 || ((p->flags & PROGRAM_SEGMENT_DRIVERS) && !(p->flags & i->drivers)))
        return 0;
    if (n == ABI_SEGMENTS_MAX || !is_inside(i, p->at, p->file_bytes))
        return -ENOEXEC;
    i->segment[n] = (struct abi_segment){.va = p->va,
                                         .data = (uint64_t)i->bytes + p->at,
                                         .file_bytes = p->file_bytes,
                                         .mem_bytes = p->mem_bytes,
                                         .writable = (p->flags & ELF_WRITABLE) != 0};
    i->program.segments++;
    return 0;
}

/* Takes the sizes that were given to ncc. The note with them is the only one in its segment. */
static int take_note(struct image *i, const struct elf_program *p)
{
    static const struct elf_note expected = {sizeof PROGRAM_NOTE_NAME, sizeof(struct program_note), PROGRAM_NOTE};
    const size_t name_bytes = (sizeof PROGRAM_NOTE_NAME + 3) & ~3ul;
    struct program_note note;

    if (!is_inside(i, p->at, p->file_bytes) || p->file_bytes < sizeof expected + name_bytes + sizeof note)
        return -ENOEXEC;
    if (memcmp(i->bytes + p->at, &expected, sizeof expected) != 0)
        return 0;
    memcpy(&note, i->bytes + p->at + sizeof expected + name_bytes, sizeof note);
    if (note.stack_bytes)
        i->program.stack_bytes = note.stack_bytes;
    i->program.heap_bytes = note.heap_bytes;
    i->program.comm_bytes = note.comm_bytes;
    i->program.procs = note.procs ? note.procs : 1;
    return 0;
}

static int parse(struct image *i)
{
    struct elf_header h;
    struct elf_program p;
    int error = 0;

    if (i->size < sizeof h)
        return -ENOEXEC;
    memcpy(&h, i->bytes, sizeof h);
    if (!is_executable(i, &h))
        return -ENOEXEC;
    char begin[sizeof LOAD_STRIPED_CFS - 1];
    if (trap_striped(begin, sizeof begin) > 0)
        i->drivers |= memcmp(begin, LOAD_STRIPED_CFS, sizeof begin) == 0 ? PROGRAM_SEGMENT_STRIPED | PROGRAM_SEGMENT_CFS
                                                                         : PROGRAM_SEGMENT_STRIPED;
    i->program = (struct abi_program){
        .entry = h.entry, .segment = (uint64_t)i->segment, .procs = 1, .stack_bytes = USER_STACK_DEFAULT_BYTES};
    for (unsigned k = 0; k < h.programs && !error; k++) {
        memcpy(&p, i->bytes + h.program_at + k * sizeof p, sizeof p);
        if (p.type == ELF_LOAD)
            error = add_segment(i, &p);
        else if (p.type == ELF_NOTE)
            error = take_note(i, &p);
    }
    return error;
}

/* ---- Reading it ---- */

static int check_file(int fd, size_t *size)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return -errno;
    if (!S_ISREG(st.st_mode) || !(st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return -EACCES;
    *size = (size_t)st.st_size;
    return 0;
}

#define HEAD_BYTES 8192 /* one request; it has the program headers */

/* How much of a file of `size` bytes the program headers name: symbols and lines of source lie behind. What is no
 * program is refused with its first bytes. */
static size_t bytes_named(const struct image *head, size_t size)
{
    struct elf_header h;
    struct elf_program p;
    size_t named = head->size;

    if (head->size < sizeof h)
        return head->size;
    memcpy(&h, head->bytes, sizeof h);
    for (unsigned k = 0; is_executable(head, &h) && k < h.programs; k++) {
        memcpy(&p, head->bytes + h.program_at + k * sizeof p, sizeof p);
        if ((p.type == ELF_LOAD || p.type == ELF_NOTE) && p.at <= size && p.file_bytes <= size - p.at &&
            p.at + p.file_bytes > named)
            named = p.at + p.file_bytes;
    }
    return named;
}

/* Reads on until so many bytes are there. */
static int read_up_to(int fd, struct image *i, size_t size)
{
    char *bytes = realloc(i->bytes, size + 1);

    if (!bytes)
        return -ENOMEM;
    i->bytes = bytes;
    ssize_t got = size > i->size ? read(fd, bytes + i->size, size - i->size) : 0;
    if (got < 0)
        return -errno;
    bool all = i->size + (size_t)got == size;
    i->size = size;
    return all ? 0 : -EIO;
}

static int read_program(int fd, struct image *i)
{
    size_t size = 0;
    int error = check_file(fd, &size);

    if (!error)
        error = read_up_to(fd, i, size < HEAD_BYTES ? size : HEAD_BYTES);
    return error ? error : read_up_to(fd, i, bytes_named(i, size));
}

static int read_image(struct image *i, const char *path)
{
    int fd = open(path, O_RDONLY);

    if (fd < 0)
        return -errno;
    int error = read_program(fd, i);
    close(fd);
    return error ? error : parse(i);
}

/* ---- Arguments ---- */

/* Makes the arguments consecutive strings. */
static int join(char *const argv[], struct abi_program *p)
{
    size_t bytes = 0;

    for (p->argc = 0; argv[p->argc]; p->argc++)
        bytes += strlen(argv[p->argc]) + 1;
    char *text = malloc(bytes + 1), *at = text;
    for (uint32_t k = 0; text && k < p->argc; k++)
        at = stpcpy(at, argv[k]) + 1;
    p->arguments = (uint64_t)text;
    p->arg_bytes = bytes <= UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
    return text ? 0 : -ENOMEM;
}

/* What is made here is freed by release, even if this fails. */
static int prepare(struct image *i, const char *path, char *const argv[])
{
    int error = argv && argv[0] ? read_image(i, path) : -EINVAL;

    return error ? error : join(argv, &i->program);
}

static void release(struct image *i)
{
    free((void *)i->program.arguments);
    free(i->bytes);
}

/* For the front end's messages, too, which knows no working directory. */
const char *rexec_from_root(const char *path, struct rexec_name *name)
{
    long n = path[0] == '/' ? 0 : trap_fdpath(-1, name->text, sizeof name->text);

    if (n <= 1 || (size_t)n + 1 + strlen(path) >= sizeof name->text)
        return path;
    name->text[n] = '/';
    strcpy(name->text + n + 1, path);
    return name->text;
}

/* With the descriptors of rexecvf; no bytes: there are none. */
static int load(struct image *i, int first, int nodes, const char *path, const void *fds, size_t fds_bytes)
{
    struct rexec_name name;

    i->program.name = (uint64_t)rexec_from_root(path, &name);
    return (int)(fds_bytes ? trap_rexecf(first, nodes, &i->program, fds, (long)fds_bytes)
                           : trap_rexec(first, nodes, &i->program));
}

/* ---- Calls ---- */

int rexec_load(int first, int nodes, const char *path, char *const argv[], const void *fds, size_t fds_bytes)
{
    struct image i = {.drivers = fds_bytes > 0 ? PROGRAM_SEGMENT_PIPES : 0};
    int result = prepare(&i, path, argv);

    if (result == 0)
        result = load(&i, first, nodes, path, fds, fds_bytes);
    release(&i);
    return result;
}

int rexecv(int first, int nodes, const char *path, char *const argv[])
{
    int before = errno, result = rexec_load(first, nodes, path, argv, NULL, 0);

    errno = before;
    return trap_note(result);
}

int rwait(int node)
{
    return (int)trap_rwait(node);
}

/* In the caller's place. A program for several processes needs the node to itself. */
static int load_here(struct image *i)
{
    struct abi_inherited inherited[ABI_INHERITED_MAX];

    i->program.inherit = (uint64_t)inherited;
    i->program.inherited = inherit_list(inherited);
    return (int)trap_exec(&i->program);
}

int execv(const char *path, char *const argv[])
{
    struct image i = {.bytes = NULL};
    int before = errno, result = prepare(&i, path, argv);

    if (result == 0)
        result = i.program.procs > 1 ? load(&i, N_NODE_OF(self_process()), 1, path, NULL, 0) : load_here(&i);
    release(&i);
    errno = before;
    return (int)result_to_errno(trap_note(result));
}

/* There is no PATH and no environment. */
int execvpe(const char *file, char *const argv[], char *const envp[])
{
    (void)envp;
    return execv(file, argv);
}

int execve(const char *path, char *const argv[], char *const envp[])
{
    return execvpe(path, argv, envp);
}

int execvp(const char *file, char *const argv[])
{
    return execv(file, argv);
}

/* Stores a variable argument list as an array `argv`. */
#define LIST(argv, arg0)                                \
    va_list list_args;                                  \
    size_t list_n = (arg0) != NULL;                     \
    va_start(list_args, arg0);                          \
    while (list_n && va_arg(list_args, char *))         \
        list_n++;                                       \
    va_end(list_args);                                  \
    char *argv[list_n + 1];                             \
    argv[0] = (char *)arg0;                             \
    va_start(list_args, arg0);                          \
    for (size_t list_k = 1; list_k <= list_n; list_k++) \
        argv[list_k] = va_arg(list_args, char *);       \
    va_end(list_args)

int rexecl(int first, int nodes, const char *path, const char *arg0, ...)
{
    LIST(argv, arg0);
    return rexecv(first, nodes, path, argv);
}

int execl(const char *path, const char *arg0, ...)
{
    LIST(argv, arg0);
    return execv(path, argv);
}

/* Not aliases, so that the name that a program has called can be told. */
__asm__(".section .text.execlp, \"ax\"\n"
        ".globl execlp, execle\n"
        ".type execlp, @function\n"
        "execlp:\n"
        "    tail execl\n"
        ".size execlp, . - execlp\n"
        ".type execle, @function\n"
        "execle:\n"
        "    tail execl\n"
        ".size execle, . - execle\n"
        ".text\n");
