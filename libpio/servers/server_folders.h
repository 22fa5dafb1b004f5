/* Folders in the trees of families' names: what their clients and drivers have in common. */
#pragma once

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/proto.h"

/* Opens a folder: *folder is its name, which the caller frees. -N_EISDIR: it cannot be written; -N_ENOMEM. */
int server_folder_open(const char *name, uint32_t flags, char **folder);
/* Takes the first of the records that a server has listed, `bytes` of them, or an error; *at is then behind it. Returns
 * 1; 0: there are no more; -N_EPROTO. */
int server_folder_next(const void *records, long bytes, uint64_t *at, struct file_dirent *entry, char name[256]);
/* The same for a driver's readdir. */
void server_folder_entry(const struct file_dirent *from, struct dirent *to);
/* Writes the path of an open folder; NULL: it is a file. Returns its length; -N_ENOTDIR, -N_ERANGE. */
int server_folder_path(const char *prefix, const char *folder, char *path, size_t bytes);
