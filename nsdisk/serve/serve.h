/*
 * The file server: one request message in, one reply message out (vertex/contract/proto.h). Knows messages and volumes,
 * not how either is moved, so that it runs on a node and in a test alike.
 *
 * A request is decoded first: its length, names, identifier and rights are checked against the table of operations
 * in serve.c, and only then is it carried out. Nothing in it is trusted.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "nsdisk/ext2/blockdev.h"
#include "nsdisk/ext2/ext2.h"
#include "vertex/contract/proto.h"

#define SERVE_DRIVES            7u /* per I/O node's controller [P0 section 3] */
#define SERVE_REQUEST_MAX_BYTES (sizeof(struct file_request) + 2 * FILE_NAME_MAX_BYTES + FILE_IO_MAX_BYTES)
#define SERVE_REPLY_MIN_BYTES   128u /* enough for every reply but data and directory records */

struct server;
struct view;
struct view_room;
struct merge;

/* node: of the I/O node, for struct file_stat. boot_number: differs between boots. env is copied.
 * NULL when memory is short. */
struct server *server_new(uint32_t node, uint64_t boot_number, const struct ext2_env *env);
/* How much memory all views may take: VIEW_TOTAL_BYTES at first. */
void server_limit_views(struct server *s, size_t bytes);
struct view_room *server_views(struct server *s);
/* Mounts a drive's volume. 0, or as ext2_mount, with one line in error. */
int server_mount(struct server *s, uint32_t drive, const struct blockdev *dev, const char *volume, size_t cache_bytes,
                 const struct drive_cache *data, char *error, size_t error_bytes);
/* Counts of a drive's data cache, after server_shutdown; false: it has none. */
bool server_cache_counts(const struct server *s, uint32_t drive, struct drive_cache_counts *counts);
/* Where a mounted volume's data cache counts, without what is in it unused; NULL: it has none. */
const struct drive_cache_counts *server_counts_place(const struct server *s, uint32_t drive);
/* Closes every file, writes all volumes back, marks them clean and unmounts them. The first error, or 0. */
int server_shutdown(struct server *s);
/* After server_shutdown; without it, what was not synced is lost, as in a crash. */
void server_free(struct server *s);

/* Carries out one request of n bytes from a node, with the tag it came with (vertex/contract/system.h), and writes the
 * reply. reply_max >= SERVE_REPLY_MIN_BYTES, and serve_reply_bytes() for a full answer; aligned to 8 bytes, as the
 * request should be. Returns the reply's length, at least 8. */
size_t serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                     size_t reply_max);
/* The most bytes that the reply to a request can have. */
size_t serve_reply_bytes(uint32_t tag, const void *request, size_t n);

/* Which volume a request is for: a drive whose volume is mounted; SERVE_EVERYWHERE: each; SERVE_NOWHERE: none, as it
 * will be refused without a look at any. */
enum { SERVE_EVERYWHERE = -1, SERVE_NOWHERE = -2 };
int serve_target(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n);
/* Carries out one drive's part of a request to every volume. The status for the reply, which is the caller's to
 * send. */
int64_t serve_everywhere(struct server *s, uint32_t drive, uint32_t from, uint32_t tag);
/* A write that could be carried out together with others. Pointers are into the request and the server's tables. */
struct serve_write {
    uint32_t drive;
    struct ext2_inode *inode;
    const struct view *view; /* NULL: plain */
    struct file_request r;
    const uint8_t *data;
};
/* On a volume's fiber: asks for what a plain read lacks in the volume's data cache. Returns whether it has to wait,
 * until w->done is called. */
bool serve_asks(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, struct data_waiter *w);

/* Decodes a request as serve_request does. False: it is no such write; serve_request answers it. */
bool serve_can_merge(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n,
                     struct serve_write *w);
/* Where a drive's writes are merged; NULL: no memory. */
struct merge *serve_merge(struct server *s, uint32_t drive);

/* Of drive `drive`, for tests and reports; NULL if it is not mounted. */
struct ext2 *server_volume(struct server *s, uint32_t drive);
/* From now on the drive's volume may have private files (EXT2_PRIVATE), which no request reaches. On its fiber. */
int server_has_private(struct server *s, uint32_t drive);
/* Why a drive has no volume: -N_ENODEV, or -N_EIO if it did not answer; 0: it has one. */
int server_volume_error(const struct server *s, uint32_t drive);
