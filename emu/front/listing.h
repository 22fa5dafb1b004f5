/*
 * A host folder's entries as the records of N_FREADDIR (struct file_dirent), sorted by name, so that the order
 * doesn't depend on the host's file system. A listing is a snapshot; a record's `next` is its index plus one.
 */
#ifndef NCUBE_LISTING_H
#define NCUBE_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/front/seen.h"

struct listing_entry {
    char *name;
    uint64_t ino;  /* as the program sees it; 0 if the entry has gone */
    uint32_t type; /* as in struct file_dirent */
};

struct listing {
    struct listing_entry *entry; /* ascending by name, "." and ".." among them */
    size_t n, room;
};

/* Reads the folder open as `fd` (which stays open and unmoved). is_root: nothing is told of what is above it, and
 * its ".." is itself. The entries are numbered in `seen` in their order. 0, and the caller frees the listing; or a
 * negative n_error: -N_ENOTDIR, -N_ENOMEM, ... */
int32_t listing_read(struct listing *l, int fd, bool is_root, struct seen *seen);
void listing_free(struct listing *l);

/* Copies whole records from `offset` on. Bytes of records, 0 at the end, -N_EINVAL: no such offset, or not even
 * one record fits. */
int32_t listing_copy(const struct listing *l, uint64_t offset, uint8_t *records, size_t bytes);

#endif
