/*
 * Executables: reading ELF files, checking that one is a program for a node, and turning it into the messages of a
 * load (vertex/contract/system.h). ncube also reads Vertex (placed by pa) and nsdisk (placed by va) with it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/system.h"

enum { ELF_SEGMENT_X = 1, ELF_SEGMENT_W = 2, ELF_SEGMENT_R = 4 }; /* flags, as in the file */

struct elf_segment {     /* one PT_LOAD with mem_bytes > 0 */
    uint64_t pa, va;     /* any alignment */
    uint64_t file_bytes; /* at data */
    uint64_t mem_bytes;  /* >= file_bytes; the rest is zero */
    uint32_t flags;
    uint8_t *data; /* NULL when file_bytes is 0 */
};

struct elf_image {
    struct program_note note; /* zeros when the file has none */
    uint64_t entry;
    uint32_t segments;           /* at least 1 */
    struct elf_segment *segment; /* ascending by va, disjoint */
};

/* Reads a static RISC-V 64-bit little-endian executable into memory. 0, and the caller frees the image; or -1 with
 * one clear line in error (error_bytes long) that names the file: missing, not a regular file, not ELF, another
 * machine, not a static executable, cut off, segments that overlap, nothing to load. */
int elf_image_read(struct elf_image *image, const char *path, char *error, size_t error_bytes);
/* Returns the dimension of the subcube for which a program asks in its note; 0 if it asks for none. */
uint32_t elf_default_dim(const struct elf_image *image);
/* The size of a program's stack: stack_bytes if that is not 0, else the size in its note, else the default. */
uint64_t elf_stack_bytes(const struct elf_image *image, uint64_t stack_bytes);
void elf_image_free(struct elf_image *image);

/* Checks that an image runs as a program with that much stack on a node of ram_bytes: inside user space
 * (vertex/contract/abi.h), entry in executable bytes, code and data in pages of their own, small enough. 0, or -1 with
 * one line. */
int load_check_program(const struct elf_image *image, const char *path, uint64_t ram_bytes, uint64_t stack_bytes,
                       char *error, size_t error_bytes);

struct load_part { /* the nodes of a job that get one program */
    const struct elf_image *image;
    char *const *argv;
    int argc;
    uint32_t first, nodes;   /* numbered in the job's subcube */
    uint32_t base, dim;      /* the subcube that is the program's own, in the job's: all of it unless there are pipes */
    uint32_t idle;           /* its last nodes, which no program has */
    bool piped;              /* it gets struct load_pipes, and the driver of pipes */
    struct load_pipes pipes; /* if `piped`, with fds: */
    struct load_fd fd[2];
};

struct load_program {
    uint32_t job, base;   /* base: address of the job's first node */
    uint64_t stack_bytes; /* 0: the size in each program's note, or USER_STACK_DEFAULT_BYTES */
    const struct load_part *part;
    uint32_t parts;
    const struct load_volume *volume;
    uint32_t volumes;
    const char *striped; /* text of striped volumes (vertex/contract/system.h), without a NUL */
    uint32_t striped_bytes;
    uint32_t life; /* 0: the job begins with it (vertex/contract/system.h) */
};

/* True if the program may open a pipe by its name: an argument, or its code or data, has the text "//pipe/". */
bool load_names_pipes(const struct elf_image *image, char *const *argv, int argc);

/* The length in bytes of all arguments with their NULs. */
size_t load_arg_bytes(char *const *argv, int argc);

/* Passes the messages of a load to `send`, in order: N_LOAD_BEGIN of every part, then N_LOAD_DATA..., then
 * N_LOAD_START. `to` is the first node of the part. 0, or -N_ENOMEM before anything was sent. */
typedef void (*load_send_fn)(void *ctx, uint32_t to, uint32_t type, const void *bytes, size_t n);
int load_send_program(const struct load_program *p, load_send_fn send, void *ctx);
