/*
 * The entries of a host folder as records of N_FREADDIR (struct file_dirent). They are sorted by name, so that the
 * order does not depend on the host's file system. A listing is a snapshot; a record's `next` is its index plus one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/hostfs/seen.h"

struct listing_entry {
    char *name;
    uint64_t ino;  /* as the program sees it; 0 if the entry has gone */
    uint32_t type; /* as in struct file_dirent */
};

struct listing {
    struct listing_entry *entry; /* ascending by name, with "." and ".." */
    size_t n, room;
};

/* Reads the folder open as `fd`, whose offset does not change. If is_root, its ".." is the folder itself. The entries
 * are numbered in `seen` in their order. 0, and the caller frees the listing; or a negative n_error: -N_ENOTDIR,
 * -N_ENOMEM, ... */
int32_t listing_read(struct listing *l, int fd, bool is_root, struct seen *seen);
void listing_free(struct listing *l);

/* Copies whole records, as many as fit into `bytes` bytes, from `offset` on. The number of bytes, 0 at the end;
 * -N_EINVAL if there is no such offset, or not even one record fits. */
int32_t listing_copy(const struct listing *l, uint64_t offset, uint8_t *records, size_t bytes);
