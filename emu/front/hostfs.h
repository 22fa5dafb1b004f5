/*
 * The file protocol of vertex/contract/proto.h over one host folder and the standard streams. Message in, message out;
 * nothing in it trusts a client.
 *
 * A client is (node, procid). It sees its own open files and no other client's; what an SFID is says openfiles.h.
 * The standard streams are open for every client; closing them changes nothing.
 *
 * Where the hosts' answers vary by themselves, clients get steady ones: folders are sorted, streams look like one
 * character device, and seen.h says what a client sees of a file.
 */
#ifndef NCUBE_HOSTFS_H
#define NCUBE_HOSTFS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/front/hostfiles.h"
#include "emu/front/lines.h"

/* True for every message type that hostfs_request answers: the file protocol's, and the rest of its family, which
 * gets -N_ENOSYS. */
#define HOSTFS_IS_REQUEST(type) ((type) > 0x8020u && (type) < 0x8040u)

struct hostfs;

/* Serves a folder (NULL: none, every name is -N_EACCES; the first is told on the error stream), "/tmp" in memory if the
 * folder has none, and the streams of `lines`, which outlive it. 0, and the
 * caller frees it; or -1 with one clear line in error: missing, not a folder, may not be entered, kernel too old. */
int hostfs_new(struct hostfs **hostfs, const char *folder, struct lines *lines, char *error, size_t error_bytes);
void hostfs_free(struct hostfs *s);

/* Answers one request. Returns the reply's bytes (struct file_reply and its payload) at *reply, valid until the next
 * call; 0 if the request is too short to say what it answers. */
size_t hostfs_request(struct hostfs *s, uint32_t node, uint32_t procid, uint32_t type, const void *bytes, size_t n,
                      const void **reply);

/* A served file, for where.h; NULL: there is none, or no descriptor for it. Its fd is one with whatever else has that
 * file open, until hostfs_close_program. */
struct host_file *hostfs_open_program(struct hostfs *s, const char *name);
void hostfs_close_program(struct hostfs *s, struct host_file *program);

/* Closes every file of every process of a node. */
void hostfs_drop_node(struct hostfs *s, uint32_t node);

/* For tests: files open now, as the nodes count them, and descriptors of the host. */
uint32_t hostfs_open_files(const struct hostfs *s);
uint32_t hostfs_descriptors(const struct hostfs *s);

#endif
