/*
 * The files that clients have open, and their identifiers.
 *
 *   SFID    63      54 53      46 45        32 31              0
 *          +----------+----------+------------+----------------+
 *          | boot     | age      | slot       | inode          |
 *          +----------+----------+------------+----------------+
 *
 * boot: of this boot of the machine; age: of the slot, one more at each use. So an identifier from before a reboot or
 * a close finds another number in its slot and is refused as stale, whatever the client claims.
 * Slots are reused in the order in which they became free, which makes ages last.
 *
 * A client is a process: its node, and its procid in the low CLIENT_PROCID_BITS. A file belongs to the client that
 * opened it and to those to which it was shared (N_FFORK), and is closed when the last of them closes it.
 *
 * The table holds one reference to each open inode; it passes to the caller when an entry is removed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "nsdisk/ext2/ext2.h"
#include "nsdisk/serve/view.h"

#define OPEN_TABLE_SLOTS (1u << 14) /* every node of a full machine, twice */
#define OPEN_TABLE_SPARE 7u /* free ones that an open needs: each drive of an I/O node may be about to use one */
#define OPEN_TABLE_MAX   (OPEN_TABLE_SLOTS - OPEN_TABLE_SPARE + 1) /* open files of one server */
#define OPEN_CLIENT_MAX  256u                                      /* of one client */
#define OPEN_BUCKETS     256u

#define CLIENT_PROCID_BITS 8

struct view_set {
    struct view *view[FILE_VIEWS]; /* NULL: none */
};

struct open_file {
    uint64_t sfid;   /* 0: the slot is free */
    uint64_t client; /* that opened it */
    struct ext2_inode *inode;
    uint32_t next; /* slot in the client's bucket, or in the queue of free ones; OPEN_NONE at the end */
    uint16_t drive;
    uint8_t age;
    uint8_t owners; /* processes of the client's node that have it open: bit p is procid p */
    bool readable, writable;
    struct view_set *views; /* NULL: there were none */
};

struct open_table {
    struct open_file *slot; /* [size] */
    uint32_t size, used;
    struct view_room views;
    uint32_t limit; /* with so many used, it grows: OPEN_TABLE_SPARE */
    uint32_t free_head, free_tail;
    uint32_t bucket[OPEN_BUCKETS];
    uint64_t boot;
};

void open_table_init(struct open_table *t, uint64_t boot_number);
void open_table_free(struct open_table *t); /* every file must have been removed */

/* Whether the client may open one more: 0, -N_EMFILE, -N_ENFILE or -N_ENOMEM. After 0, open_table_add succeeds; so it
 * does for one file of each drive, as an open may wait for its disk between the two. May move the entries. */
int open_table_prepare(struct open_table *t, uint64_t client);
struct open_file *open_table_add(struct open_table *t, uint64_t client, struct ext2_inode *inode);
/* Finds the client's open file. -N_ESTALE: the identifier is of no open file. -N_EBADF: it is of another client's. */
int open_table_find(struct open_table *t, uint64_t client, uint64_t sfid, struct open_file **file);
bool open_table_has(const struct open_table *t, uint64_t sfid); /* it is an open file's */
/* Any file of the client, on any drive or on that one, or of anyone; NULL: none is left. */
struct open_file *open_table_first(struct open_table *t, uint64_t client);
struct open_file *open_table_first_of(struct open_table *t, uint64_t client, uint32_t drive);
struct open_file *open_table_any(struct open_table *t);
/* Gives every file of the client to another process of its node, too. */
void open_table_share(struct open_table *t, uint64_t client, uint32_t procid);
/* Takes the file from the client. Returns true if no process has it any more: the caller then removes it. */
bool open_table_disown(struct open_file *file, uint64_t client);
/* Frees the entry and its views; the caller puts the inode. */
struct ext2_inode *open_table_remove(struct open_table *t, struct open_file *file);
