/*
 * Several metadata blocks that reach the disk together, or not at all, for changes that no order of
 * writing makes safe.
 *
 * ext2 has no log of its own, but its e2fsck knows that of later systems: a journal, whose last
 * transaction it writes to its places before it checks anything. So for such a change the volume
 * gets one, for as long as the change takes:
 *
 *   open      blocks of inode 8, without contents; on the disk. A crash: e2fsck clears the inode
 *   (change)  in the cache only
 *   commit    the dirty blocks go into the journal, the superblock says that there is one to
 * recover, and one write of the journal's own superblock says what. A crash from here on: e2fsck
 * finishes the change. Then the blocks go to their places, and all says that nothing is to be
 * recovered close     the blocks are free again
 *
 * A volume that has a journal (mke2fs -O has_journal, or e2fsck has left it ours) keeps it: its own
 * is used, if it is empty.
 */
#ifndef NSDISK_EXT2_JOURNAL_H
#define NSDISK_EXT2_JOURNAL_H

#include "nsdisk/ext2/ext2.h"

struct ext2_journal {
    struct ext2_inode *inode;
    bool own;          /* made by open, and taken away by close */
    uint32_t sequence; /* of the transaction */
    uint32_t blocks;   /* of the journal */
    uint64_t next;     /* file block of the next record */
    uint32_t gathered; /* records in the bounce buffer, for [first, first + gathered) on the disk */
    uint32_t first;
};

/* Syncs, and gets ready. -N_ENOTSUP: the volume cannot have a journal (revision 0, or inode 8 is
 * something else, or has something to recover); -N_ENOSPC: not enough blocks are free. Then the
 * volume is as it was. Nothing may be dirty but by the change until commit. */
int ext2_journal_open(struct ext2 *fs, struct ext2_journal *j);
/* Makes all that is dirty durable, at once. -N_EIO: the change is whole in memory; if the
 * superblock says already that e2fsck has to finish it, the volume becomes read-only. */
int ext2_journal_commit(struct ext2_journal *j);
/* Whether or not it was committed. */
int ext2_journal_close(struct ext2_journal *j);

#endif
