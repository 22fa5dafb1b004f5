/*
 * A server's data, for its parts: serve.c decodes requests and carries out those on open files, serve_names.c those on
 * names and attributes.
 */
#pragma once

#include <stdbool.h>
#include <string.h>

#include "nsdisk/serve/merge.h"
#include "nsdisk/serve/open_table.h"
#include "nsdisk/serve/serve.h"
#include "nsdisk/serve/view.h"

#define SERVE_LOCKS 256u

struct lock {
    uint64_t sfid; /* of the file that was opened to have it */
    uint32_t key, drive;
};

struct server {
    uint32_t node;
    struct ext2_env env;
    struct ext2 *volume[SERVE_DRIVES];
    struct ext2 *plain[SERVE_DRIVES]; /* the same, but NULL where files may be private (EXT2_PRIVATE) */
    bool dead[SERVE_DRIVES];          /* the drive did not answer when its volume was to be mounted */
    struct open_table opens;
    struct merge *merge[SERVE_DRIVES];              /* NULL: not needed so far */
    struct drive_cache_counts counts[SERVE_DRIVES]; /* of volumes that were unmounted */
    bool counted[SERVE_DRIVES];
    struct lock lock[SERVE_LOCKS];
    uint32_t locks;
    struct waiting *waiting; /* for a lock, in order of arrival */
    struct replies *replies; /* volume_locks.h; NULL: none can be held back */
    struct counter *counter; /* counters.c */
    uint32_t counters;
};

/* A decoded request. */
struct call {
    struct file_request r;
    uint64_t client;
    struct ext2 *fs;        /* PART_DRIVE, PART_FILE */
    struct open_file *file; /* PART_FILE; not to be used after a wait for the disk */
    struct ext2_path name, name2;
    const uint8_t *data; /* r.bytes of them */
    uint8_t *payload;    /* of the reply */
    size_t payload_max;
    size_t payload_bytes; /* result */
};

/* Runs a request of one type; the reply's status. */
typedef int64_t invoke_fn(struct server *s, struct call *c);

static inline void reply_payload(struct call *c, const void *bytes, size_t n)
{
    memcpy(c->payload, bytes, n);
    c->payload_bytes = n;
}

/* ---- counters.c ---- */

invoke_fn invoke_add;

/* ---- serve_names.c ---- */

/* Returns what clients are told of a file. */
struct file_stat serve_stat_of(const struct server *s, const struct ext2_inode *inode, uint32_t drive);
invoke_fn invoke_stat_name, invoke_read_name, invoke_make, invoke_unlink, invoke_rename, invoke_link, invoke_mkdir,
    invoke_rmdir, invoke_access, invoke_symlink, invoke_readlink, invoke_set_attributes, invoke_set_attributes_of_name,
    invoke_statfs;
