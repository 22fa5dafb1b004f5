/*
 * The table of host files that the nodes have open. A client is (node, procid); several of one node may have a file,
 * which is closed when the last of them closes it (N_FFORK). An SFID is the index of an entry
 * and, above it, the entry's generation, which is never 0 (so that no SFID is a stream's) and changes when the entry is
 * freed (so that an SFID of a closed file is recognized):
 *
 *    63             32 31              0
 *   +-----------------+-----------------+
 *   | generation      | index           |
 *   +-----------------+-----------------+
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/hostfs/hostfiles.h"
#include "emu/hostfs/listing.h"

#define OPEN_FILES_CLIENT 64u        /* at most open at a time by one client; then -N_EMFILE */
#define OPEN_FILES_MAX    (1u << 19) /* at most by all, 64 for each of 8192 nodes; then -N_ENFILE */

struct open_file {
    bool used;
    uint32_t generation;
    uint32_t node;
    uint8_t procids; /* with the node, the clients that have it: bit p is procid p */
    int fd;          /* of the host file, which other clients may share */
    struct host_file *host;
    uint32_t next;          /* 1 + index of the next entry in the same chain; 0: none */
    uint64_t tmp_number;    /* of a file in tmpfiles.h; 0 for others */
    struct listing listing; /* of a folder, as it was when its reading began */
    bool counts;            /* it has a counter (N_FADD): */
    int64_t counter;
};

struct open_files {         /* all zero is an empty table */
    struct open_file *file; /* moves when it grows */
    uint32_t *chain;        /* [room]: first entry of the nodes with this remainder, as `next` */
    uint32_t room;
    uint32_t vacant; /* first free entry, as `next` */
    uint32_t used;
    struct host_files host;
};

void open_files_free(struct open_files *t);

/* The open file of an SFID, whoever has it, as below; NULL: none. */
struct open_file *open_files_at(const struct open_files *t, uint64_t sfid);
/* Finds the client's open file of an SFID; *file is valid until the table grows. 0, -N_EBADF (no such SFID, or another
 * client's) or -N_ESTALE (the file has been closed). */
int32_t open_files_find(const struct open_files *t, uint64_t sfid, uint32_t node, uint32_t procid,
                        struct open_file **file);

/* Finds a free entry for a client, growing the table if need be. Its index, valid until open_files_take; or -N_EMFILE,
 * -N_ENFILE or -N_ENOMEM. */
int32_t open_files_find_room(struct open_files *t, uint32_t node, uint32_t procid);
/* Takes that entry, and takes the descriptor over. Its SFID; or 0, with the descriptor closed, if there is no
 * memory. */
uint64_t open_files_take(struct open_files *t, uint32_t index, uint32_t node, uint32_t procid, int fd);

/* Closes the file for the client; if no other has it, frees its entry. 0, or the negative n_error of the host's
 * close. */
int32_t open_files_close(struct open_files *t, struct open_file *f, uint32_t procid);
/* Gives every file of the client to another process of its node, too. */
void open_files_share(struct open_files *t, uint32_t node, uint32_t procid, uint32_t other);
void open_files_drop_client(struct open_files *t, uint32_t node, uint32_t procid);
void open_files_drop_node(struct open_files *t, uint32_t node);
