/*
 * Private to hostfs*.c: the server, one decoded request, and the functions that run it.
 *
 *   hostfs.c: decode ----> hostfs_io.c      open files and standard streams
 *                    ----> hostfs_names.c   names below the served folder
 *                    ----> hostfs_tmp.c     names in "/tmp" in memory
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "emu/hostfs/beneath.h"
#include "emu/hostfs/hostfs.h"
#include "emu/hostfs/openfiles.h"
#include "emu/hostfs/seen.h"
#include "emu/hostfs/tmpfiles.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"

#define HOSTFS_DEV       (NODE_HOST << 8)
#define HOSTFS_TMP_INO   0x7f000000ull /* of "/tmp"; the inode numbers of its files follow */
#define HOSTFS_MODE_BITS 0777u
/* The size of the largest file: what ext4 with blocks of 4 KB takes, on whatever file system the folder is. */
#define HOSTFS_FILE_MAX_BYTES ((1ull << 44) - 4096)

struct hostfs {
    struct beneath folder;
    dev_t root_dev;
    ino_t root_ino;
    struct seen seen; /* has room for one more file whenever a call runs */
    struct streams *streams;
    struct lines *lines; /* output to the streams */
    struct open_files files;
    bool has_tmp; /* "/tmp" is in memory: */
    struct tmp_files tmp;
    struct recording *recording;  /* NULL: none */
    struct recorded_calls *drops; /* of nodes' files */
    bool serves;                  /* a folder, or a replay has the replies of a run that did */
    bool refused;                 /* the line that no folder is served has been printed */
    uint8_t *reply;               /* struct file_reply and room for the longest payload */
};

struct hostfs_call { /* one request, decoded */
    struct file_request request;
    uint32_t node, procid; /* the client */
    char name[FILE_NAME_MAX_BYTES + 1];
    char name2[FILE_NAME_MAX_BYTES + 1];
    const uint8_t *data;    /* request.bytes of them, where the operation has data */
    struct open_file *file; /* NULL for a stream */
    uint8_t *payload;       /* FILE_IO_MAX_BYTES of room */
    size_t payload_bytes;   /* set by the function that runs the call */
};

/* Runs one operation on a call whose request is well-formed. Returns the reply's status, a count or a negative
 * n_error, and leaves the payload in the call. */
typedef int32_t hostfs_call_fn(struct hostfs *s, struct hostfs_call *c);

/* On open files: hostfs_io.c. Operations that a standard stream answers in another way have a second function.
 * Whoever knows that a stream is not ready answers N_FPOLL by itself. */
hostfs_call_fn hostfs_open, hostfs_close, hostfs_exit, hostfs_fork, hostfs_poll, hostfs_read, hostfs_write,
    hostfs_truncate, hostfs_sync, hostfs_stat, hostfs_read_folder, hostfs_set_attributes, hostfs_add,
    hostfs_stream_read, hostfs_stream_write, hostfs_stream_stat;

/* On names: hostfs_names.c. */
hostfs_call_fn hostfs_stat_name, hostfs_access, hostfs_unlink, hostfs_remove_folder, hostfs_make_folder, hostfs_rename,
    hostfs_link, hostfs_symlink, hostfs_readlink, hostfs_sync_all, hostfs_set_attributes_of_name, hostfs_stat_folder;

/* On names for which hostfs_name_in_tmp is not NULL: hostfs_tmp.c. */
hostfs_call_fn hostfs_tmp_open, hostfs_tmp_stat, hostfs_tmp_access, hostfs_tmp_unlink, hostfs_tmp_rename,
    hostfs_tmp_make_folder, hostfs_tmp_readlink, hostfs_tmp_set_attributes;

/* The part of a name that follows "/tmp/", "" for the folder itself; NULL if the name is not in a "/tmp" in memory. */
const char *hostfs_name_in_tmp(const struct hostfs *s, const char *name);

/* The others are shared by these files: hostfs_shared.c. */

/* Returns the index of the entry for an open file, or a negative n_error: of the flags, or because there is none. */
int32_t hostfs_begin_open(struct hostfs *s, const struct hostfs_call *c);
/* Opens the file of a host's descriptor, which is taken: 0 and the reply, or a negative n_error. `made`: by this call;
 * tmp_number: 0 if it is not in "/tmp". */
int32_t hostfs_end_open(struct hostfs *s, struct hostfs_call *c, int32_t index, int fd, bool made, uint64_t tmp_number);

/* The name of the host's device that a program's name means: null, zero and full in "/dev", whatever is served. NULL:
 * it means none of these. */
const char *hostfs_device(const char *name);
/* As beneath_open, also for these devices. */
int hostfs_open_host(const struct hostfs *s, const char *name, int flags, mode_t mode);

/* Copies n bytes, at most FILE_NAME_MAX_BYTES, to a string. False if one of them is a NUL. */
bool hostfs_take_name(char *name, const uint8_t *bytes, size_t n);
/* The host's O_ flags of an open. Not O_APPEND, which would overrule the offset of every write. */
int hostfs_host_flags(uint32_t flags);
/* Sets the reply's payload. */
void hostfs_return_payload(struct hostfs_call *c, const void *bytes, size_t n);
/* Replies with the description of an open file; tmp_number is 0 if it is not in "/tmp". 0, or a negative n_error. */
int32_t hostfs_return_stat(struct hostfs *s, struct hostfs_call *c, int fd, uint64_t tmp_number);

/* Answers N_FACCESS for a file of this mode, as the program sees it: a permission is granted if anyone has it. Returns
 * 0, -N_EACCES, or -N_EINVAL for a permission that does not exist. */
int32_t hostfs_check_access(mode_t mode, uint32_t wanted);
/* Sets the attributes that the call's data asks for. 0; or -N_EPROTO (not a struct file_attr), -N_EINVAL (an unknown
 * attribute), -N_EPERM (owner or group), or the host's error. */
int32_t hostfs_set_attributes_of(struct hostfs *s, const struct hostfs_call *c, int fd);
