/*
 * The process's file table: UFID -> server and its SFID [P0 section 2]. The offset is kept here; every request
 * names its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vertex/process/proc.h"

/* Most data in one request of read() and write(): the transfer size of NFS, on which the vendor's file system
 * is based [P0 section 2]. readstart and writestart send a single request, whatever its length. */
#define FILE_IO_BYTES 8192u

#define FILE_NOT_SHORT (~0ull)

struct file {
    uint32_t node; /* server */
    uint16_t drive;
    bool standard; /* UFID 0, 1 or 2, open at the front end from the start */
    bool directory;
    bool stream;   /* has no position: not a regular file or directory */
    uint16_t view; /* in which offsets are; 0: the file itself (N_FVIEW of vertex/contract/proto.h) */
    uint32_t flags;
    uint32_t sharers; /* further processes that have it, by fork */
    uint32_t pending; /* readstarts and writestarts under way that have moved the offset */
    uint32_t opening; /* sequence of the question that opens it (ask.h); 0: it is open */
    uint64_t sfid;
    char *path; /* of a directory: absolute, simplified; NULL: no memory for it */
    uint64_t offset;
    uint64_t short_at;     /* lowest end of the pending transfers that came short; FILE_NOT_SHORT: none */
    uint64_t appended_end; /* highest end of the pending appends; 0: none */
};

struct file *file_get(struct proc *p, uint64_t ufid); /* NULL: not open */

/* Returns the file offset after the bytes that an O_APPEND write has written, or 0 if the reply does not contain it. */
uint64_t file_appended_end(const struct message *reply);

/* Adds an entry for a file that is about to be opened. Returns its UFID; -N_EMFILE, -N_ENOMEM. */
int file_begin_open(struct proc *p, uint32_t node, uint16_t drive, uint32_t flags);
/* Fills the entry in from the server's answer; if there is none, removes it. Returns `status`, or -N_EPROTO. */
int64_t file_end_open(struct proc *p, uint64_t ufid, int64_t status, const struct message *reply);

int file_open_standard(struct proc *p); /* -N_ENOMEM */
/* Closes all files of the process: sends N_FEXIT to each server at which it has some, and waits for the replies. */
void file_close_all(struct proc *p);
/* Gives the child all files of its parent, whose offsets they then share, and its working directory. -N_ENOMEM. The
 * servers must be told (N_FFORK). */
int file_share_all(struct proc *child, const struct proc *parent);
/* Frees the process's file table without sending anything. */
void file_free_all(struct proc *p);
