/*
 * Files that belong to a family of requests (EXT2_PRIVATE): no request of the family of files reaches them (serve.c).
 * Their folders are private, too, so that no request moves one away. On the volume's fiber.
 */
#pragma once

#include "nsdisk/ext2/ext2.h"
#include "nsdisk/serve/serve.h"

/* Makes a private folder, or marks the one that is there. Its parent is there. */
int private_folder(struct server *s, uint32_t drive, struct ext2_path path);
/* Opens a private file, made if it is missing; *out is to be put. -N_EPROTO: what is there is no private file, and has
 * bytes. */
int private_file(struct ext2 *fs, struct ext2_path path, struct ext2_inode **out);
/* Opens one that is there. 1, and *out is to be put; 0: there is none, or one that was being made when the machine
 * ended. -N_EPROTO: it is no private file. */
int private_file_find(struct ext2 *fs, struct ext2_path path, struct ext2_inode **out);
