/*
 * The servers of the Concurrent File System on an I/O node: the block servers of its disks and, on that of disk 0, the
 * name server [P2 section 3.0]. One family of requests (nsdisk/serve/family.h); vertex/contract/cfs.h has the protocol.
 *
 *   server.c   takes and checks requests, answers them, hears of ends       -> all below
 *   cfs_name.c names in disk 0's tree, and the numbers of files
 *   header.c   sizes, pointer pages, who grows a file
 *   block.c    blocks by their disk block: only a file's own
 *   alloc.c    more and fewer blocks of a file's part on a disk
 *   waiting.c  requests that wait to grow a file, and answers
 *   part.c     what is known of a file on a disk, from its first use until it is written back and forgotten
 *   part_disk.c  the same as the disk has it
 *   runs.c     the blocks of a part
 *   common_pointer.c    common pointers
 *
 * Everything below server.c runs on the fiber of its disk's volume, but block.c for parts that are known: it asks the
 * data cache (data_cache.h), and goes on when it is called.
 *
 * A part in memory:
 *
 *   /.cfs/N     blocks in order of the file    runs:  sorted by disk block, which are checked on every request
 *   /.cfs/N.w   a bit for each block           bits:  written, in memory; those on the disk are never ahead of the data
 *   /.cfs/N.h   on the home disk               head:  size, blocks
 *
 * A block is allocated with what other files have left in it. So until it is written it reads as zeros, by its bit; and
 * N, N.w and N.h are private (EXT2_PRIVATE), so that requests of files reach nothing of it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nsdisk/ext2/ext2.h"
#include "nsdisk/serve/family.h"
#include "nsdisk/serve/serve.h"
#include "vertex/contract/cfs.h"

#define CFS_PARTS_MAX     128u /* in memory, of a disk */
#define CFS_PATH_BYTES    24u  /* "/.cfs/4294967295.w" */
#define CFS_NUMBERS_AHEAD 64u  /* numbers of files that are taken off the disk at once */

/* A run of a part: disk blocks [first, first + count) are its blocks `at` and on. */
struct cfs_part_run {
    uint32_t first, count, at;
};

/* A common pointer of a program in a file (common_pointer.c). */
struct cfs_place {
    LIST_ENTRY(cfs_place) next;
    uint32_t number;
    int owner;
    uint64_t at;
};

struct cfs_part {
    TAILQ_ENTRY(cfs_part) next; /* of its disk */
    uint32_t number, age;
    uint64_t used;           /* cfs.uses, when it was used last */
    bool known;              /* all of it has been read */
    struct ext2_inode *data; /* one reference; NULL: the disk has no block of the file */
    uint32_t blocks;
    struct cfs_part_run *run; /* [runs], sorted by first */
    uint32_t runs;
    uint8_t *written; /* [(blocks + 7) / 8] */
    bool written_changed;
    bool unsettled;                    /* the disk says something of blocks that it does not have */
    uint32_t asks;                     /* of its blocks, that wait for the data cache: it stays as it is */
    LIST_HEAD(, cfs_record) fresh;     /* of them, first writes of a block */
    STAILQ_HEAD(, cfs_record) freeing; /* requests that wait until there are none */
    /* of the home disk */
    bool has_head, head_changed;
    bool in_doubt; /* nobody has compared its pointers with the parts since it was read, or since a holder ended */
    uint64_t size_bytes;
    uint32_t head_blocks, only_disks;
    bool held; /* a client grows the file: */
    int holder;
    STAILQ_HEAD(, cfs_record) waiting; /* to grow it, in order of arrival */
    LIST_HEAD(, cfs_place) places;     /* common pointers of programs */
};

struct cfs_disk {
    TAILQ_HEAD(cfs_parts, cfs_part) parts;
    uint32_t count;
    bool opened;                      /* the list is made */
    struct cfs_record *end;           /* with which all is written back at last; NULL: the disk has not been used */
    uint32_t number_next, number_end; /* of files: those between are free, and the disk says so */
};

struct cfs {
    struct loop *loop;
    struct cfs_disk disk[SERVE_DRIVES];
    LIST_HEAD(, cfs_record) records;  /* all that are not answered */
    STAILQ_HEAD(, cfs_record) loaded; /* of blocks, whose parts are known now */
    uint64_t uses;
    uint32_t last_place; /* number of a common pointer */
};

/* A request from its arrival until it is answered. */
struct cfs_record {
    struct family_work work;
    struct cfs *cfs;
    LIST_ENTRY(cfs_record) all;
    STAILQ_ENTRY(cfs_record) next; /* of those that wait to grow a file, or for another record */
    int from, type;                /* type 0: the server's own, to write a disk back */
    bool gone;                     /* its client has ended: it is not answered */
    /* of a block: */
    struct data_waiter waiter;
    struct cfs_part *part;
    bool fresh;
    LIST_ENTRY(cfs_record) fresh_next;
    STAILQ_HEAD(, cfs_record) followers; /* that wait until it is written */
    struct cfs_request r;
    size_t n; /* bytes behind the request */
    uint8_t data[];
};

/* A request that is carried out, on its disk's fiber. */
struct cfs_call {
    struct cfs *cfs;
    struct ext2 *fs;
    struct cfs_disk *disk;
    const struct cfs_request *r;
    struct cfs_record *record;
    const uint8_t *data;
    size_t n;
    uint8_t *reply; /* room for CFS_REPLY_BYTES */
    size_t reply_bytes;
    bool waits; /* it is answered later */
};
#define CFS_REPLY_BYTES (4096u + 1024u)

typedef int64_t cfs_invoke(struct cfs_call *c);
cfs_invoke cfs_invoke_name;                                                         /* cfs_name.c */
cfs_invoke cfs_invoke_header, cfs_invoke_size, cfs_invoke_pointer, cfs_invoke_grow; /* header.c */
cfs_invoke cfs_invoke_block, cfs_invoke_stat;                                       /* block.c */
cfs_invoke cfs_invoke_alloc, cfs_invoke_free;                                       /* alloc.c */
cfs_invoke cfs_invoke_sync, cfs_invoke_drop;                                        /* part.c */
cfs_invoke cfs_invoke_place;                                                        /* common_pointer.c */

/* ---- server.c ---- */

extern const struct family cfs_family;

/* ---- waiting.c ---- */

void cfs_record_free(struct cfs_record *record);
/* Has the request carried out on its disk's fiber. */
void cfs_run(struct cfs_record *record);
/* Answers a request, with a payload where the status is no error, and frees its record. */
void cfs_answer(struct cfs_record *record, int64_t status, const void *payload, size_t bytes);

/* The growth of a file is free: the next one that waits has it. */
void cfs_grow_free(struct cfs_part *p);
/* The growth of a file that this client holds is free, and it waits for none. */
void cfs_grow_forget(struct cfs_part *p, int from);
/* All that wait get this error. */
void cfs_grow_end(struct cfs_part *p, int error);

/* A common pointer goes; those of a client, -1: all. */
void cfs_place_drop(struct cfs_place *place);
void cfs_places_forget(struct cfs_part *p, int owner);

/* ---- block.c ---- */

/* Carries out N_CREAD or N_CWRITE, at once where the part is known. The record is answered, now or later. */
void cfs_block_ask(struct cfs_record *record);
/* The same for those whose parts have been read meanwhile. */
void cfs_block_ask_loaded(struct cfs *cfs);

/* ---- part.c ---- */

/* The part of a handle, if it is in memory, and all of it is; NULL. Also outside the fiber. */
struct cfs_part *cfs_part_known(const struct cfs_disk *disk, uint64_t handle);

/* Finds the part of a handle, and reads what the disk has of it. make: a part that the disk does not have is made in
 * memory. -N_EBADF, -N_ESTALE, -N_EPROTO: it is another file's; -N_EIO, -N_ENOMEM. */
int cfs_part_get(struct cfs_call *c, uint64_t handle, bool make, struct cfs_part **out);
/* Before the part gets a block: the disk says nothing of blocks that it does not have. */
int cfs_part_settle(struct cfs_call *c, struct cfs_part *p);
/* Reads it. Returns how many of its files there are. -N_EPROTO, -N_EIO, -N_ENOMEM. */
int cfs_part_load(struct ext2 *fs, struct cfs_part *p);
/* Makes one of the files of a part: "" the blocks, ".w", ".h"; private. *out is to be put. */
int cfs_part_make_file(struct cfs_call *c, uint32_t number, const char *kind, struct ext2_inode **out);
static inline struct cfs_header cfs_header_of(const struct cfs_part *p)
{
    return (struct cfs_header){p->size_bytes, p->head_blocks, p->only_disks, p->in_doubt, 0};
}

/* The file with the numbers that are free, made if it is missing; to be put. */
int cfs_part_make_numbers(struct cfs_call *c, struct ext2_inode **out);
/* The path of one of a file's private files: "" its blocks, ".w", ".h". */
struct ext2_path cfs_path(char text[CFS_PATH_BYTES], uint32_t number, const char *kind);
/* The run with a disk block, or NULL: it is not the file's. */
const struct cfs_part_run *cfs_part_find(const struct cfs_part *p, uint32_t block);
/* Adds a run behind the part's blocks. -N_ENOMEM: nothing has changed. */
int cfs_part_append(struct cfs_part *p, uint32_t first, uint32_t count);
/* Cuts it down to so many blocks. */
void cfs_part_cut(struct cfs_part *p, uint32_t blocks);
/* Writes its bits to the disk, as they are now. */
int cfs_part_store_written(struct cfs_call *c, const struct cfs_part *p, const uint8_t *bits);
int cfs_part_store_header(struct cfs_call *c, const struct cfs_part *p);
/* Writes the data of a disk back, then bits and headers of all its files. */
int cfs_disk_sync(struct cfs_call *c);
/* Gives the inode of the part back to the volume. Clients that wait for blocks are answered when the cache is freed. */
void cfs_part_leave(struct cfs_part *p);
/* Forgets a part without writing anything. */
void cfs_part_free(struct cfs_disk *disk, struct cfs_part *p);
/* Removes all of a file that the disk has. */
int cfs_part_remove(struct cfs_call *c, struct cfs_part *p);

static inline size_t cfs_bytes_of_bits(uint32_t blocks)
{
    return ((size_t)blocks + 7) / 8;
}

static inline bool cfs_bit(const uint8_t *bits, uint32_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}
