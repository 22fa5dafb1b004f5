/*
 * The host's files as a program sees them. It sees their content, names, sizes, permissions, links, and times before
 * the run. Everything else varies between two hosts that have the same files; so here it is a constant, or follows from
 * the order of the program's requests.
 *
 *   inode number   16, 17, ... in the order in which the program first sees the files; names of one file share one
 *   times          the last write; 0 if it is not older than the machine, or the program's; all of a folder are 0
 *   owner, group   0
 *   folder         4096 bytes and 2 links, whatever is in it
 *   block          4096 bytes: newlib's buffers, and with them virtual time, depend on it
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <time.h>

#include "vertex/contract/proto.h"

#define SEEN_BLOCK_BYTES 4096u

SLIST_HEAD(seen_chain, seen_file);
#define SEEN_CHAINS 1024u

struct seen { /* all zero and seen_start: no file has been seen */
    /* private */
    struct seen_chain chain[SEEN_CHAINS]; /* by device and inode */
    struct seen_file *spare;              /* the next file's */
    uint64_t last_number;
    struct timespec began;
};

/* Notes that the machine starts now. */
void seen_start(struct seen *s);
void seen_free(struct seen *s);

/* Makes sure that there is memory for one more file; before the functions below, so that none of them fails after the
 * host's file has been made or changed. False if there is none. */
bool seen_reserve(struct seen *s);

/* The inode number of a file. */
uint64_t seen_number(struct seen *s, const struct stat *st);
/* Describes a file to a program. */
void seen_describe(struct seen *s, const struct stat *st, struct file_stat *out);

/* The program has made a file: it gets a new number, because hosts give inodes of removed files to new ones. */
void seen_make(struct seen *s, const struct stat *st);
/* The program has written or cut a file: its time is 0 from now on, on every host. */
void seen_change(struct seen *s, dev_t dev, ino_t ino);
/* The program has set the time of a file, in seconds since 1970. */
void seen_set_time(struct seen *s, const struct stat *st, int64_t mtime_s);
