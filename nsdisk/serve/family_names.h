/*
 * What families of requests with names of their own have in common: the names are files of a volume's tree, and the
 * family's private folder in its root is not to be seen. On the volume's fiber.
 */
#pragma once

#include "nsdisk/ext2/ext2.h"
#include "vertex/contract/proto.h"

/* Names begin at the root, and no part of one is called like the hidden folder, as one may come to the root again by
 * "." and "..". -N_EPROTO: it is no name; -N_EACCES. */
int family_name_check(struct ext2_path name, const char *hidden);
/* As ext2_lookup, but a name that a crash has left of nothing goes first. */
int family_lookup(struct ext2 *fs, struct ext2_path path, bool follow, struct ext2_inode **out);
/* A name's attributes, but its size. */
struct file_stat family_name_stat(const struct ext2_inode *inode, uint32_t block_bytes);
/* Writes records of a folder's entries (struct file_dirent) from offset `at` on, as many as there is room for, without
 * the hidden folder. Returns their bytes; 0: there are no more. */
int64_t family_name_list(struct ext2 *fs, struct ext2_path folder, uint64_t at, const char *hidden, uint8_t *records,
                         size_t room);
