/*
 * Shared by the operations on names: a walk resolves a path to the directory that has, or would have, its last name.
 */
#pragma once

#include "nsdisk/ext2/ext2.h"

struct ext2_walk {
    uint32_t parent; /* directory of the last name */
    uint32_t ino;    /* what the name is; 0: nothing */
    bool slash;      /* the path ended in '/': it means a directory */
    uint8_t type;    /* of the entry, if it has one */
    uint32_t name_bytes;
    char name[EXT2_NAME_MAX_BYTES];
};

/* ---- ext2_walk.c ---- */

/* Resolves a path; a last name that is missing is no error. A symbolic link that is the last name is followed only if
 * `follow` is set. */
int ext2_walk(struct ext2 *fs, struct ext2_path path, bool follow, struct ext2_walk *w);
/* An inode that a directory names, to be put; one that is not in use is corruption. */
int ext2_named_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out);
/* The same, or -N_ENOTDIR. */
int ext2_directory_get(struct ext2 *fs, uint32_t ino, struct ext2_inode **out);

/* ---- ext2_name.c ---- */

/* Adds a name that the directory does not have; inode->links already counts it. */
int ext2_name_add(struct ext2_inode *dir, const struct ext2_walk *w, struct ext2_inode *inode);
int ext2_name_remove(struct ext2_inode *dir, const struct ext2_walk *w);
/* Takes one name away from an inode; the caller still holds it. For a directory also its own ".". */
int ext2_links_drop(struct ext2_inode *inode);
