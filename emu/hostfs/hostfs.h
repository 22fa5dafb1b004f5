/*
 * The file protocol of vertex/contract/proto.h over one host folder and the standard streams. Message in, message out;
 * it trusts no client.
 *
 * A client is (node, procid). It sees its own open files and no other client's; openfiles.h shows the layout of an
 * SFID. The standard streams are open for every client; closing them changes nothing.
 *
 * Where the hosts' answers vary from run to run, clients get constant ones: folders are sorted, streams look like one
 * character device, and seen.h says what a client sees of a file.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hostfs/hostfiles.h"
#include "emu/hostfs/lines.h"

struct hostfs;

/* Makes a server for a folder, for "/tmp" in memory if the folder has none, and for the streams of `lines`, which must
 * outlive it. If the folder is NULL, every name fails with -N_EACCES, and the first is reported by a line on the error
 * stream. Returns 0, and the caller frees the server; or -1 with one clear line in error: the folder is missing, is no
 * folder or may not be entered, or the kernel is too old. */
int hostfs_new(struct hostfs **hostfs, const char *folder, struct lines *lines, char *error, size_t error_bytes);
void hostfs_free(struct hostfs *s);

/* Lets a recording note each reply that depends on the host's files, or, in a replay, give it. `serves`: a folder is
 * served; in a replay the server has been made without one. Before the first request. A recording that is kept holds
 * the server from then on, with its open files, and hostfs_free leaves it. */
void hostfs_record(struct hostfs *s, struct recording *r, bool serves);
/* Returns the server that a kept recording holds, for another machine's `lines`; NULL: there is none, or r is NULL. */
struct hostfs *hostfs_held(struct recording *r, struct lines *lines);

/* Answers one request. Returns the length in bytes of the reply at *reply (struct file_reply and its payload), which is
 * valid until the next call; 0 if the request is shorter than its header. */
size_t hostfs_request(struct hostfs *s, uint32_t node, uint32_t procid, uint32_t type, const void *bytes, size_t n,
                      const void **reply);

/* Opens a served file for where.h, until hostfs_close_program; its descriptor is shared with other users of the file.
 * NULL if it does not exist or cannot be opened. */
struct host_file *hostfs_open_program(struct hostfs *s, const char *name);
void hostfs_close_program(struct hostfs *s, struct host_file *program);

/* Closes every file of every process of a node. */
void hostfs_drop_node(struct hostfs *s, uint32_t node);
