/*
 * Writes several metadata blocks so that all of them reach the disk or none does, for changes that no order of writing
 * makes safe.
 *
 * ext2 has no log, but e2fsck knows the journal of later systems: it writes the journal's last transaction to its
 * places before it checks anything. So the volume gets a journal for the duration of such a change:
 *
 *   open       inode 8 gets blocks without contents, on the disk. After a crash e2fsck clears the inode.
 *   (change)   in the cache only
 *   commit     The dirty blocks go into the journal, among them the superblock, which knows of no journal. Then one
 *              write of the superblock says that there is one to recover: after a crash from here on, e2fsck finishes
 *              the change, and clears the inode. Then the blocks go to their places, and the superblock says no more.
 *   close      The blocks are free again.
 *
 * A volume that has a journal already (made by mke2fs -O has_journal, or left by e2fsck) keeps it; an empty one is
 * used: its own superblock says when there is something in it.
 */
#pragma once

#include "nsdisk/ext2/ext2.h"

struct ext2_journal {
    struct ext2_inode *inode;
    bool own;          /* made by open, and taken away by close */
    bool repeats;      /* then: most of its blocks are one */
    uint32_t sequence; /* of the transaction */
    uint32_t blocks;   /* of the journal */
    uint64_t next;     /* file block of the next record */
    uint32_t gathered; /* records in the bounce buffer, for [first, first + gathered) on the disk */
    uint32_t first;
};

/* Syncs the volume and prepares its journal. -N_ENOTSUP: the volume cannot have one (revision 0; inode 8 is something
 * else, or has something to recover). -N_ENOSPC: not enough blocks are free. On an error the volume is unchanged. Until
 * commit the caller makes nothing dirty except by its change. */
int ext2_journal_open(struct ext2 *fs, struct ext2_journal *j);
/* Makes all dirty blocks durable at once. -N_EIO: the change is whole in memory; if the superblock already says that
 * e2fsck has to finish it, the volume becomes read-only. */
int ext2_journal_commit(struct ext2_journal *j);
/* Removes the journal, whether or not the change was committed; one that the volume had before stays. */
int ext2_journal_close(struct ext2_journal *j);
