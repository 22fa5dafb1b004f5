/*
 * A cache manager [P3 section 3.1.3]: a program on a compute node that has blocks of Clusterfile's files in its memory.
 * Block x of a file is that of manager x mod n. To clients a manager is a server of Clusterfile, to the servers a
 * client with a view, the blocks that are its own.
 *
 *   client -> message -> manager.c -> nsdisk/clusterfile/ -> ext2_read, ext2_write -> nsdisk/ext2/data_cache.c
 *                                     attachments, views,    cached_file.c               |
 *                                     rounds, as on a volume                    libpio/clusterfile/: clf_move
 *
 * So the program is made of what nsdisk is made of, down to the data cache. Below that, what ext2.h declares of files
 * is cached_file.c's: a file's blocks lie on no drive, but in its view at the servers.
 *
 * What a manager has is clean: a write is answered when the servers have it, so a manager that ends takes nothing with
 * it [P3 section 7.4.3]. A block that has to go to make room goes to another manager (peers.h). One that writes some
 * bytes of a block of 4 KB reads the rest of it first.
 */
#pragma once

#include <stdint.h>

#include "libpio/clusterfile/clf_client.h"
#include "nsdisk/ext2/ext2.h"

#define MANAGER_IO_BYTES (256u << 10) /* most of a read or a write */

/* What is cached of a file. */
struct cached_file {
    struct ext2_inode inode; /* the first: size_bytes is that of the view */
    struct clf_open *file;
    uint64_t handle;
    uint32_t element; /* of `managers` in blocks of `block` bytes */
    int32_t managers;
    int64_t block;
    uint32_t presence; /* an attachment of the file's first part */
    uint64_t presence_number;
    int error; /* of the servers, of the last command that failed */
};

/* ---- cached_file.c ---- */

/* Makes the cache of so many bytes, and counts there what the manager does from then on. -N_ENOMEM. */
int cached_begin(uint32_t kb, struct manager_counts *to);
struct ext2 *cached_volume(void);
/* Opens a file by its layout's text. -N_EINVAL: it is open in another way, or the numbers are none; -N_ENFILE: there
 * are too many. It is put by ext2_inode_put, and what is cached of it is dropped. */
int cached_open(const struct cached_file *wanted, const char *text, size_t n, struct cached_file **out);
/* Tells which nodes have the managers, of which this is one (peers.h). */
void cached_meet(const int *node, uint32_t n, uint32_t own);
/* Drops what is cached of a file, and asks for its size anew. */
void cached_drop(uint64_t handle);
/* Brings what the cache itself counts up to date. */
const struct manager_counts *cached_count(void);
